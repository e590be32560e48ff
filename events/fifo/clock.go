package fifo

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

// ServerTime is what the queue's server says that the time is, in whole seconds.
func (a *Admin) ServerTime(ctx context.Context) (time.Time, error) {
	out, err := a.client.GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{
		QueueUrl: &a.queues.URL, AttributeNames: []types.QueueAttributeName{types.QueueAttributeNameQueueArn},
	})
	if err != nil {
		return time.Time{}, fmt.Errorf("ask queue %s for its time: %w", a.queues.URL, err)
	}
	at, ok := middleware.GetServerTime(out.ResultMetadata)
	if !ok {
		return time.Time{}, errors.New("the queue's answer has no date")
	}
	return at, nil
}
