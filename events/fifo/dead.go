package fifo

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/holdfast/holdfast/events"
)

// ReasonExhausted is the reason of a dead letter that nobody parked: the queue
// gave it up after events.MaxReceives deliveries.
const ReasonExhausted = "retries_exhausted"

// DeadLetter is a message of the dead letter queue.
type DeadLetter struct {
	Body   string
	Meta   events.Meta // SentAt is when it was first sent, or when it was parked
	Reason string      // as parked, or ReasonExhausted
	Event  events.Event
	// Undecodable is why Event is zero; nil if it is not.
	Undecodable error
	handle      string
}

// deadHide is for how long looking at dead letters hides them; it bounds a
// process that dies meanwhile.
const deadHide = 30 * time.Second

// DeadLetters looks at up to limit dead letters and gives them all back; it
// loses none and changes nothing but their receive counts. Behind a letter that
// is being looked at the queue hands out no more of its group, so of a group
// with more than ten letters it may show only the first ones: Depth counts all.
func (a *Admin) DeadLetters(ctx context.Context, limit int) (letters []DeadLetter, err error) {
	defer func() { // even if ctx ended: the others must not wait for the time-out
		err = errors.Join(err, a.giveBack(context.WithoutCancel(ctx), letters))
	}()
	for len(letters) < limit {
		more, err := a.receiveDead(ctx, min(limit-len(letters), maxEntries))
		if err != nil {
			return letters, err
		}
		if len(more) == 0 {
			break
		}
		letters = append(letters, more...)
	}
	return letters, nil
}

func (a *Admin) receiveDead(ctx context.Context, most int) ([]DeadLetter, error) {
	out, err := a.client.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{
		QueueUrl: &a.queues.DeadURL, MaxNumberOfMessages: int32(most), VisibilityTimeout: seconds(deadHide),
		MessageSystemAttributeNames: []types.MessageSystemAttributeName{types.MessageSystemAttributeNameAll},
		MessageAttributeNames:       []string{reasonAttribute},
	})
	if err != nil {
		return nil, fmt.Errorf("read the dead letter queue: %w", err)
	}
	letters := make([]DeadLetter, len(out.Messages))
	for i, m := range out.Messages {
		letters[i] = newDeadLetter(m)
	}
	return letters, nil
}

func newDeadLetter(m types.Message) DeadLetter {
	d := DeadLetter{
		Body: aws.ToString(m.Body), handle: aws.ToString(m.ReceiptHandle), Reason: ReasonExhausted,
		Meta: events.ParseMeta(aws.ToString(m.MessageId), m.Attributes),
	}
	if reason, ok := m.MessageAttributes[reasonAttribute]; ok {
		d.Reason = aws.ToString(reason.StringValue)
	}
	d.Event, d.Undecodable = events.Decode([]byte(d.Body))
	return d
}

// giveBack makes letters visible again, in their order. A failure leaves them
// hidden for the rest of deadHide.
func (a *Admin) giveBack(ctx context.Context, letters []DeadLetter) error {
	if len(letters) == 0 {
		return nil
	}
	handles := make([]string, len(letters))
	for i, d := range letters {
		handles[i] = d.handle
	}
	errs := NewConsumer(a.client, a.queues.DeadURL, deadHide).SetVisibility(ctx, handles, 0)
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("some dead letters stay hidden for up to %s: %w", deadHide, err)
	}
	return nil
}
