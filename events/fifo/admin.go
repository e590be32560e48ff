package fifo

import (
	"context"
	"fmt"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/holdfast/holdfast/events"
)

// Admin is the operators' view of the queues: how much lies in them, what the
// dead letters are, and the way back for them.
type Admin struct {
	client Client
	queues Queues
}

// NewAdmin returns the view of these queues. It keeps nothing and is safe for
// concurrent use.
func NewAdmin(client Client, queues Queues) *Admin {
	return &Admin{client: client, queues: queues}
}

// Depth counts what lies in both queues.
func (a *Admin) Depth(ctx context.Context) (events.Depth, error) {
	visible, inFlight, err := a.count(ctx, a.queues.URL)
	if err != nil {
		return events.Depth{}, err
	}
	dead, deadInFlight, err := a.count(ctx, a.queues.DeadURL)
	if err != nil {
		return events.Depth{}, err
	}
	return events.Depth{Visible: visible, InFlight: inFlight, Dead: dead, DeadInFlight: deadInFlight}, nil
}

func (a *Admin) count(ctx context.Context, url string) (visible, inFlight int, err error) {
	const ready, hidden = types.QueueAttributeNameApproximateNumberOfMessages, types.QueueAttributeNameApproximateNumberOfMessagesNotVisible
	out, err := a.client.GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{
		QueueUrl: &url, AttributeNames: []types.QueueAttributeName{ready, hidden},
	})
	if err != nil {
		return 0, 0, fmt.Errorf("count the messages of queue %s: %w", url, err)
	}
	if visible, err = strconv.Atoi(out.Attributes[string(ready)]); err == nil {
		inFlight, err = strconv.Atoi(out.Attributes[string(hidden)])
	}
	if err != nil {
		return 0, 0, fmt.Errorf("count the messages of queue %s: the answer has no number: %w", url, err)
	}
	return visible, inFlight, nil
}
