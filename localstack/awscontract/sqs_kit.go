package awscontract

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/aws/smithy-go"
)

var uniqueSeq atomic.Int64

// unique returns a name that no earlier run on the same endpoint used either.
func unique(prefix string) string {
	return fmt.Sprintf("%s-%d-%d", prefix, time.Now().UnixNano(), uniqueSeq.Add(1))
}

func (k *sqsKit) must(err error, what string) {
	k.Helper()
	if err != nil {
		k.Fatalf("%s: %v", what, err)
	}
}

// refused checks that err is the service's, with one of these codes in its own.
func (k *sqsKit) refused(err error, what string, codes ...string) {
	k.Helper()
	var api smithy.APIError
	if !errors.As(err, &api) {
		k.Errorf("%s: %v, want the error %s", what, err, strings.Join(codes, " or "))
		return
	}
	for _, code := range codes {
		if strings.Contains(api.ErrorCode(), code) {
			return
		}
	}
	k.Errorf("%s: %v, want the error %s", what, err, strings.Join(codes, " or "))
}

// attrs is a queue's attributes.
type attrs map[string]string

// queue creates a FIFO queue and returns its URL.
func (k *sqsKit) queue(a attrs) string {
	k.Helper()
	all := map[string]string{"FifoQueue": "true"}
	for name, v := range a {
		all[name] = v
	}
	out, err := k.client.CreateQueue(k.ctx, &sqs.CreateQueueInput{QueueName: aws.String(unique("contract") + ".fifo"), Attributes: all})
	k.must(err, "CreateQueue")
	return *out.QueueUrl
}

func queueName(url string) string { return url[strings.LastIndexByte(url, '/')+1:] }

// sendAs sends with a group and a deduplication id, either of which may be absent.
func (k *sqsKit) sendAs(url, group, dedup, body string) (*sqs.SendMessageOutput, error) {
	in := &sqs.SendMessageInput{QueueUrl: &url, MessageBody: &body}
	if group != "" {
		in.MessageGroupId = &group
	}
	if dedup != "" {
		in.MessageDeduplicationId = &dedup
	}
	return k.client.SendMessage(k.ctx, in)
}

func (k *sqsKit) mustSend(url, group, dedup, body string) *sqs.SendMessageOutput {
	k.Helper()
	out, err := k.sendAs(url, group, dedup, body)
	k.must(err, "SendMessage")
	return out
}

// send sends bodies to a group, each under an id of its own.
func (k *sqsKit) send(url, group string, bodies ...string) {
	k.Helper()
	for _, body := range bodies {
		k.mustSend(url, group, unique("d"), body)
	}
}

func (k *sqsKit) receiveWait(url string, max, seconds int32) []types.Message {
	k.Helper()
	out, err := k.client.ReceiveMessage(k.ctx, &sqs.ReceiveMessageInput{
		QueueUrl: &url, MaxNumberOfMessages: max, WaitTimeSeconds: seconds,
		MessageSystemAttributeNames: []types.MessageSystemAttributeName{"All"}, MessageAttributeNames: []string{"All"},
	})
	k.must(err, "ReceiveMessage")
	return out.Messages
}

func (k *sqsKit) receive(url string, max int32) []types.Message {
	k.Helper()
	return k.receiveWait(url, max, 0)
}

// expect receives and compares the bodies, written as "1 2 3".
func (k *sqsKit) expect(url string, max int32, want, why string) []types.Message {
	k.Helper()
	m := k.receive(url, max)
	if got := bodiesOf(m); got != want {
		k.Fatalf("received %q, want %q: %s", got, want, why)
	}
	return m
}

func bodiesOf(m []types.Message) string {
	s := make([]string, len(m))
	for i := range m {
		s[i] = *m[i].Body
	}
	return strings.Join(s, " ")
}

func (k *sqsKit) delete(url string, receipt *string) error {
	_, err := k.client.DeleteMessage(k.ctx, &sqs.DeleteMessageInput{QueueUrl: &url, ReceiptHandle: receipt})
	return err
}

func (k *sqsKit) visibility(url string, receipt *string, seconds int32) error {
	_, err := k.client.ChangeMessageVisibility(k.ctx, &sqs.ChangeMessageVisibilityInput{QueueUrl: &url, ReceiptHandle: receipt, VisibilityTimeout: seconds})
	return err
}

func (k *sqsKit) attributes(url string) map[string]string {
	k.Helper()
	out, err := k.client.GetQueueAttributes(k.ctx, &sqs.GetQueueAttributesInput{QueueUrl: &url, AttributeNames: []types.QueueAttributeName{"All"}})
	k.must(err, "GetQueueAttributes")
	return out.Attributes
}

// counts returns the messages that are visible, in flight and delayed, written as "1/2/3".
func (k *sqsKit) counts(url string) string {
	k.Helper()
	a := k.attributes(url)
	return a["ApproximateNumberOfMessages"] + "/" + a["ApproximateNumberOfMessagesNotVisible"] + "/" + a["ApproximateNumberOfMessagesDelayed"]
}

func (k *sqsKit) wait(d time.Duration) { k.caps.wait(d) }

// deadLetterPair creates a queue with a dead-letter queue behind it and a visibility time-out of one second.
func (k *sqsKit) deadLetterPair(receives int) (source, dead, deadARN string) {
	k.Helper()
	dead = k.queue(nil)
	deadARN = k.attributes(dead)["QueueArn"]
	source = k.queue(attrs{"VisibilityTimeout": "1", "RedrivePolicy": fmt.Sprintf(`{"deadLetterTargetArn":%q,"maxReceiveCount":%d}`, deadARN, receives)})
	return source, dead, deadARN
}
