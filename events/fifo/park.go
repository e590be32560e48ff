package fifo

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/holdfast/holdfast/events"
)

// reasonAttribute is the message attribute that tells a parked message, and
// why, from one that ran out of retries.
const reasonAttribute = "ParkReason"

// Parker puts messages that no retry can help into the dead letter queue, with
// the reason, where operators list and redrive them.
type Parker struct {
	client Sender
	url    string
}

// NewParker returns a parker for the dead letter queue at deadURL.
func NewParker(client Sender, deadURL string) *Parker {
	return &Parker{client: client, url: deadURL}
}

// Park sends body, unchanged, to the dead letter queue; nil means that it is
// there. Safe to call again for the same delivery: within five minutes the
// queue keeps one copy.
func (p *Parker) Park(ctx context.Context, body string, meta events.Meta, reason string) error {
	group := meta.Group
	if group == "" { // a delivery that names none, as some emulators' do
		group = "parked"
	}
	_, err := p.client.SendMessage(ctx, &sqs.SendMessageInput{
		QueueUrl: &p.url, MessageBody: &body, MessageGroupId: &group,
		// Of the message, not of its content: the same event may be parked
		// again after a redrive.
		MessageDeduplicationId: aws.String("K:" + meta.MessageID),
		MessageAttributes: map[string]types.MessageAttributeValue{
			reasonAttribute: {DataType: aws.String("String"), StringValue: aws.String(reason)},
		},
	})
	if err != nil {
		return fmt.Errorf("park message %s (%s): %w", meta.MessageID, reason, err)
	}
	return nil
}
