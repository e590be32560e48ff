// Package fifo puts events into Amazon SQS FIFO queues and takes them out. It
// is the only place that knows SQS's calls, limits and errors (protocol.md
// 1.5); it decides nothing about an event.
package fifo

import (
	"context"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

const (
	// maxEntries is the most that SQS takes in one batch request.
	maxEntries = 10
	// maxBatchBytes bounds the bodies of one batch. SQS takes 1 MiB since 2025;
	// 256 KiB is what every region and emulator takes, and ten real events have
	// under 20 KiB.
	maxBatchBytes = 256 << 10
)

// Client is what this package calls of *sqs.Client.
type Client interface {
	Sender
	Receiver
	Administrator
}

// Sender is what sending needs.
type Sender interface {
	SendMessageBatch(context.Context, *sqs.SendMessageBatchInput, ...func(*sqs.Options)) (*sqs.SendMessageBatchOutput, error)
	SendMessage(context.Context, *sqs.SendMessageInput, ...func(*sqs.Options)) (*sqs.SendMessageOutput, error)
}

// Receiver is what consuming needs.
type Receiver interface {
	ReceiveMessage(context.Context, *sqs.ReceiveMessageInput, ...func(*sqs.Options)) (*sqs.ReceiveMessageOutput, error)
	DeleteMessageBatch(context.Context, *sqs.DeleteMessageBatchInput, ...func(*sqs.Options)) (*sqs.DeleteMessageBatchOutput, error)
	ChangeMessageVisibilityBatch(context.Context, *sqs.ChangeMessageVisibilityBatchInput, ...func(*sqs.Options)) (*sqs.ChangeMessageVisibilityBatchOutput, error)
}

// Administrator is what creating and looking at queues needs.
type Administrator interface {
	CreateQueue(context.Context, *sqs.CreateQueueInput, ...func(*sqs.Options)) (*sqs.CreateQueueOutput, error)
	GetQueueUrl(context.Context, *sqs.GetQueueUrlInput, ...func(*sqs.Options)) (*sqs.GetQueueUrlOutput, error)
	GetQueueAttributes(context.Context, *sqs.GetQueueAttributesInput, ...func(*sqs.Options)) (*sqs.GetQueueAttributesOutput, error)
	SetQueueAttributes(context.Context, *sqs.SetQueueAttributesInput, ...func(*sqs.Options)) (*sqs.SetQueueAttributesOutput, error)
	StartMessageMoveTask(context.Context, *sqs.StartMessageMoveTaskInput, ...func(*sqs.Options)) (*sqs.StartMessageMoveTaskOutput, error)
}

var _ Client = (*sqs.Client)(nil)

// Queues are the URLs of a deployment's queues.
type Queues struct {
	URL     string // of the queue of events
	DeadURL string // of its dead letter queue
}

// once switches the SDK's own retries off for a call. Where we must know
// whether any attempt may have had an effect, or repeat it under our own
// deadline, a hidden second attempt would hide the answer.
func once(o *sqs.Options) { o.Retryer = aws.NopRetryer{} }

// entryID is the id of the i-th entry of a batch; index is its inverse, -1 for
// an id that we never gave.
func entryID(i int) *string { return aws.String(strconv.Itoa(i)) }

func index(id *string, n int) int {
	i, err := strconv.Atoi(aws.ToString(id))
	if err != nil || i < 0 || i >= n {
		return -1
	}
	return i
}

// EntryError is why SQS refused one entry of a batch that it took otherwise.
type EntryError struct {
	Code, Message string
	SenderFault   bool // it will be refused again
}

// Error gives SQS's code and words.
func (e *EntryError) Error() string { return "sqs: " + e.Code + ": " + e.Message }

func entryError(f types.BatchResultErrorEntry) *EntryError {
	return &EntryError{Code: aws.ToString(f.Code), Message: aws.ToString(f.Message), SenderFault: f.SenderFault}
}
