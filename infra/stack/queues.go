package stack

import (
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2/awssqs"
	"github.com/aws/jsii-runtime-go"

	"github.com/holdfast/holdfast/events"
)

// The worker function has half of a delivery's own bound; six times that is
// the visibility that AWS asks for, so that a throttled batch is not handed out
// twice.
const (
	workerFunctionTimeout = 15 * time.Second
	lambdaVisibility      = 6 * workerFunctionTimeout
)

type queues struct {
	queue, dead awssqs.CfnQueue
}

func (s *Stack) addQueues() {
	s.dead = awssqs.NewCfnQueue(s.Stack, str("DeadLetterQueue"), &awssqs.CfnQueueProps{
		QueueName: str(events.DeadQueueName), FifoQueue: jsii.Bool(true), DeduplicationScope: str("messageGroup"), FifoThroughputLimit: str("perMessageGroupId"),
		MessageRetentionPeriod: seconds(events.Retention), VisibilityTimeout: seconds(events.Visibility), SqsManagedSseEnabled: jsii.Bool(true),
	})
	s.queue = awssqs.NewCfnQueue(s.Stack, str("Queue"), &awssqs.CfnQueueProps{
		QueueName: str(events.QueueName), FifoQueue: jsii.Bool(true), DeduplicationScope: str("messageGroup"), FifoThroughputLimit: str("perMessageGroupId"),
		MessageRetentionPeriod: seconds(events.Retention), SqsManagedSseEnabled: jsii.Bool(true),
		VisibilityTimeout: whenNumber(s.workersLambda, int(lambdaVisibility/time.Second), int(events.Visibility/time.Second)),
		RedrivePolicy:     map[string]any{"deadLetterTargetArn": s.dead.AttrArn(), "maxReceiveCount": events.MaxReceives},
	})
	for _, q := range []struct {
		id    string
		queue awssqs.CfnQueue
	}{{"DeadLetterQueuePolicy", s.dead}, {"QueuePolicy", s.queue}} {
		awssqs.NewCfnQueuePolicy(s.Stack, str(q.id), &awssqs.CfnQueuePolicyProps{
			Queues: &[]*string{q.queue.Ref()},
			PolicyDocument: document(statement{"Sid": "OnlyTls", "Effect": "Deny", "Principal": "*", "Action": "sqs:*", "Resource": q.queue.AttrArn(),
				"Condition": map[string]any{"Bool": map[string]any{"aws:SecureTransport": "false"}}}),
		})
	}
}

func seconds(d time.Duration) *float64 { return num(int(d / time.Second)) }
