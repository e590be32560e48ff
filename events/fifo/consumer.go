package fifo

import (
	"context"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/holdfast/holdfast/events"
)

// answerSlack is how much longer than its long poll a receive may take before
// its answer counts as lost.
const answerSlack = 5 * time.Second

// Consumer takes messages from one queue. It is safe for concurrent use; what
// to do with a message is its caller's business.
type Consumer struct {
	client     Receiver
	url        string
	visibility time.Duration
}

// NewConsumer returns a consumer of the queue at url. Visibility is how long a
// received message stays hidden, in whole seconds; 0 means events.Visibility.
func NewConsumer(client Receiver, url string, visibility time.Duration) *Consumer {
	if visibility <= 0 {
		visibility = events.Visibility
	}
	return &Consumer{client: client, url: url, visibility: visibility}
}

// Visibility is for how long Receive hides messages.
func (c *Consumer) Visibility() time.Duration { return c.visibility }

// Receive waits up to wait (at most 20 s) for messages and returns at most ten,
// those of one group in their order; none is no error. A repeat with the same
// attempt id within five minutes returns the messages of an answer that was
// lost, while they are still hidden (protocol.md 1.5); use a new id for each
// poll that was answered. It makes one attempt.
func (c *Consumer) Receive(ctx context.Context, attempt string, wait time.Duration) ([]events.Message, error) {
	ctx, cancel := context.WithTimeout(ctx, wait+answerSlack)
	defer cancel()
	out, err := c.client.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{
		QueueUrl:                &c.url,
		MaxNumberOfMessages:     maxEntries,
		WaitTimeSeconds:         seconds(wait),
		VisibilityTimeout:       seconds(c.visibility),
		ReceiveRequestAttemptId: &attempt,
		MessageSystemAttributeNames: []types.MessageSystemAttributeName{
			types.MessageSystemAttributeNameApproximateReceiveCount, types.MessageSystemAttributeNameSentTimestamp,
			types.MessageSystemAttributeNameMessageGroupId, types.MessageSystemAttributeNameMessageDeduplicationId,
		},
	}, once)
	if err != nil {
		return nil, err
	}
	messages := make([]events.Message, len(out.Messages))
	for i, m := range out.Messages {
		messages[i] = events.Message{
			Body: aws.ToString(m.Body), Handle: aws.ToString(m.ReceiptHandle),
			Meta: events.ParseMeta(aws.ToString(m.MessageId), m.Attributes),
		}
	}
	return messages, nil
}

// Delete deletes deliveries, any number; the result has one error or nil for
// each handle. A failed delete loses nothing: the message comes again. Deleting
// twice is no error, deleting after the visibility ran out may be one.
func (c *Consumer) Delete(ctx context.Context, handles []string) []error {
	return inBatches(handles, func(part []string) ([]types.BatchResultErrorEntry, error) {
		in := &sqs.DeleteMessageBatchInput{QueueUrl: &c.url}
		for i, h := range part {
			in.Entries = append(in.Entries, types.DeleteMessageBatchRequestEntry{Id: entryID(i), ReceiptHandle: aws.String(h)})
		}
		out, err := c.client.DeleteMessageBatch(ctx, in)
		if err != nil {
			return nil, err
		}
		return out.Failed, nil
	})
}

// SetVisibility hides deliveries for d from now on, in whole seconds rounded
// up; 0 gives them back at once, for which the order of the handles is kept.
// One error or nil for each handle: one whose visibility ran out is an error.
func (c *Consumer) SetVisibility(ctx context.Context, handles []string, d time.Duration) []error {
	return inBatches(handles, func(part []string) ([]types.BatchResultErrorEntry, error) {
		in := &sqs.ChangeMessageVisibilityBatchInput{QueueUrl: &c.url}
		for i, h := range part {
			in.Entries = append(in.Entries, types.ChangeMessageVisibilityBatchRequestEntry{Id: entryID(i), ReceiptHandle: aws.String(h), VisibilityTimeout: seconds(d)})
		}
		out, err := c.client.ChangeMessageVisibilityBatch(ctx, in)
		if err != nil {
			return nil, err
		}
		return out.Failed, nil
	})
}

// inBatches makes one call for every ten handles. A call that fails as a whole
// fails its handles and doesn't stop the others.
func inBatches(handles []string, call func(part []string) ([]types.BatchResultErrorEntry, error)) []error {
	errs := make([]error, 0, len(handles))
	for part := range slices.Chunk(handles, maxEntries) {
		results := make([]error, len(part))
		failed, err := call(part)
		for i := range results {
			results[i] = err
		}
		for _, f := range failed {
			if i := index(f.Id, len(part)); i >= 0 {
				results[i] = entryError(f)
			}
		}
		errs = append(errs, results...)
	}
	return errs
}

// seconds rounds up: hiding a message for less than asked would deliver it
// while it is still in work.
func seconds(d time.Duration) int32 {
	return int32((max(0, d) + time.Second - 1) / time.Second)
}
