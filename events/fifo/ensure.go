package fifo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/holdfast/holdfast/events"
)

// Names says which queues to create; the zero Names are those of a deployment.
type Names struct {
	Queue, Dead string        // events.QueueName, events.DeadQueueName if empty; must end in ".fifo"
	MaxReceives int           // events.MaxReceives if 0
	Visibility  time.Duration // events.Visibility if 0; whole seconds
}

func (n Names) withDefaults() Names {
	if n.Queue == "" {
		n.Queue = events.QueueName
	}
	if n.Dead == "" {
		n.Dead = events.DeadQueueName
	}
	if n.MaxReceives == 0 {
		n.MaxReceives = events.MaxReceives
	}
	if n.Visibility == 0 {
		n.Visibility = events.Visibility
	}
	return n
}

// EnsureQueues creates both queues, or brings existing ones to the same
// attributes, and returns their URLs. It is for the local cloud and for tests;
// in AWS the stack owns the queues. Safe to call again.
func EnsureQueues(ctx context.Context, client Administrator, names Names) (Queues, error) {
	names = names.withDefaults()
	shared := map[string]string{
		"DeduplicationScope":            "messageGroup",
		"FifoThroughputLimit":           "perMessageGroupId",
		"MessageRetentionPeriod":        wholeSeconds(events.Retention),
		"VisibilityTimeout":             wholeSeconds(names.Visibility),
		"ReceiveMessageWaitTimeSeconds": "0", // a receive that asks for no wait must not get one
	}
	dead, err := ensure(ctx, client, names.Dead, shared)
	if err != nil {
		return Queues{}, err
	}
	arn, err := attribute(ctx, client, dead, types.QueueAttributeNameQueueArn)
	if err != nil {
		return Queues{}, err
	}
	policy, err := json.Marshal(map[string]string{"deadLetterTargetArn": arn, "maxReceiveCount": strconv.Itoa(names.MaxReceives)})
	if err != nil {
		return Queues{}, err
	}
	shared["RedrivePolicy"] = string(policy)
	url, err := ensure(ctx, client, names.Queue, shared)
	if err != nil {
		return Queues{}, err
	}
	return Queues{URL: url, DeadURL: dead}, nil
}

// FindQueues looks the URLs of existing queues up; only the names count.
func FindQueues(ctx context.Context, client Administrator, names Names) (Queues, error) {
	names = names.withDefaults()
	url, err := find(ctx, client, names.Queue)
	if err != nil {
		return Queues{}, err
	}
	dead, err := find(ctx, client, names.Dead)
	if err != nil {
		return Queues{}, err
	}
	return Queues{URL: url, DeadURL: dead}, nil
}

func ensure(ctx context.Context, client Administrator, name string, attributes map[string]string) (string, error) {
	all := map[string]string{"FifoQueue": "true"}
	for k, v := range attributes {
		all[k] = v
	}
	out, err := client.CreateQueue(ctx, &sqs.CreateQueueInput{QueueName: &name, Attributes: all})
	if err == nil {
		return aws.ToString(out.QueueUrl), nil
	}
	var exists *types.QueueNameExists
	if !errors.As(err, &exists) {
		return "", fmt.Errorf("create queue %s: %w", name, err)
	}
	url, err := find(ctx, client, name)
	if err != nil {
		return "", err
	}
	if _, err := client.SetQueueAttributes(ctx, &sqs.SetQueueAttributesInput{QueueUrl: &url, Attributes: attributes}); err != nil {
		return "", fmt.Errorf("queue %s exists with other attributes and they can't be changed: %w", name, err)
	}
	return url, nil
}

func find(ctx context.Context, client Administrator, name string) (string, error) {
	out, err := client.GetQueueUrl(ctx, &sqs.GetQueueUrlInput{QueueName: &name})
	if err != nil {
		return "", fmt.Errorf("find queue %s: %w; create it with the stack or the local cloud, and check the region and the endpoint", name, err)
	}
	return aws.ToString(out.QueueUrl), nil
}

func attribute(ctx context.Context, client Administrator, url string, name types.QueueAttributeName) (string, error) {
	out, err := client.GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{QueueUrl: &url, AttributeNames: []types.QueueAttributeName{name}})
	if err != nil {
		return "", fmt.Errorf("read %s of queue %s: %w", name, url, err)
	}
	return out.Attributes[string(name)], nil
}

func wholeSeconds(d time.Duration) string { return strconv.Itoa(int(seconds(d))) }
