package awscontract

import (
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

func sqsAttributes(k *sqsKit) {
	want := attrs{"DeduplicationScope": "messageGroup", "FifoThroughputLimit": "perMessageGroupId", "ContentBasedDeduplication": "true", "VisibilityTimeout": "7"}
	got := k.attributes(k.queue(want))
	want["FifoQueue"] = "true"
	for name, v := range want {
		if got[name] != v {
			k.Errorf("%s is %q, want %q", name, got[name], v)
		}
	}
	_, err := k.client.CreateQueue(k.ctx, &sqs.CreateQueueInput{QueueName: aws.String(unique("x")), Attributes: attrs{"FifoQueue": "true"}})
	k.refused(err, "a FIFO queue without .fifo", "InvalidParameterValue")
}

func sqsCounts(k *sqsKit) {
	check := func(url, want, when string) {
		k.Helper()
		if got := k.counts(url); got != want {
			k.Errorf("%s: %s, want %s", when, got, want)
		}
	}
	url := k.queue(attrs{"VisibilityTimeout": "1"})
	for i := range 5 {
		k.send(url, fmt.Sprint(i), "m")
	}
	check(url, "5/0/0", "after the sends")
	k.receive(url, 2)
	check(url, "3/2/0", "after a receive of two")
	k.wait(1300 * time.Millisecond)
	check(url, "5/0/0", "after the time-out, without a receive")

	url = k.queue(attrs{"DelaySeconds": "2"})
	k.send(url, "A", "m")
	check(url, "0/0/1", "delayed")
	k.expect(url, 1, "", "still delayed")
	k.wait(2200 * time.Millisecond)
	check(url, "1/0/0", "after the delay")
	k.expect(url, 1, "m", "after the delay")
}

func sqsMessageAttributes(k *sqsKit) {
	url := k.queue(nil)
	_, err := k.client.SendMessage(k.ctx, &sqs.SendMessageInput{
		QueueUrl: &url, MessageBody: aws.String("héllo ✓"), MessageGroupId: aws.String("G1"), MessageDeduplicationId: aws.String("D1"),
		MessageAttributes: map[string]types.MessageAttributeValue{
			"n": {DataType: aws.String("Number"), StringValue: aws.String("42")},
			"b": {DataType: aws.String("Binary"), BinaryValue: []byte{0, 1, 2}},
			"s": {DataType: aws.String("String"), StringValue: aws.String("v")},
		},
	})
	k.must(err, "SendMessage, whose checksum the SDK compares")
	m := k.expect(url, 1, "héllo ✓", "the message")
	for _, name := range []string{"MessageGroupId", "MessageDeduplicationId", "SequenceNumber", "ApproximateReceiveCount", "SentTimestamp", "ApproximateFirstReceiveTimestamp", "SenderId"} {
		if m[0].Attributes[name] == "" {
			k.Errorf("no %s", name)
		}
	}
	got := m[0].MessageAttributes
	if len(got) != 3 || string(got["b"].BinaryValue) != "\x00\x01\x02" || aws.ToString(got["n"].StringValue) != "42" {
		k.Errorf("message attributes: %v", got)
	}
	k.selectedAttributes()
}

// selectedAttributes checks that a receive gets the attributes that it names, and no others.
func (k *sqsKit) selectedAttributes() {
	url := k.queue(nil)
	k.send(url, "G2", "x")
	out, err := k.client.ReceiveMessage(k.ctx, &sqs.ReceiveMessageInput{QueueUrl: &url, MessageSystemAttributeNames: []types.MessageSystemAttributeName{"MessageGroupId", "ApproximateReceiveCount"}})
	k.must(err, "ReceiveMessage")
	if len(out.Messages) != 1 || len(out.Messages[0].Attributes) != 2 || out.Messages[0].Attributes["MessageGroupId"] != "G2" {
		k.Errorf("asked for two attributes: %+v", out.Messages)
	}
	k.send(url, "G3", "x")
	out, err = k.client.ReceiveMessage(k.ctx, &sqs.ReceiveMessageInput{QueueUrl: &url})
	k.must(err, "ReceiveMessage")
	if len(out.Messages) != 1 || len(out.Messages[0].Attributes) != 0 {
		k.Errorf("asked for no attribute: %+v", out.Messages)
	}
}

func sqsErrors(k *sqsKit) {
	_, err := k.client.GetQueueUrl(k.ctx, &sqs.GetQueueUrlInput{QueueName: aws.String("nope.fifo")})
	k.refused(err, "URL of no queue", "QueueDoesNotExist", "NonExistentQueue")
	var typed *types.QueueDoesNotExist
	if !errors.As(err, &typed) {
		k.Errorf("URL of no queue: %T is not the SDK's type", err)
	}
	url := k.queue(nil)
	name := queueName(url)
	_, err = k.sendAs(url[:len(url)-len(name)]+"nope.fifo", "A", "x", "b")
	k.refused(err, "send to no queue", "QueueDoesNotExist", "NonExistentQueue")
	_, err = k.client.ReceiveMessage(k.ctx, &sqs.ReceiveMessageInput{QueueUrl: &url, MaxNumberOfMessages: 11})
	k.refused(err, "11 messages", "InvalidParameterValue")
	_, err = k.client.CreateQueue(k.ctx, &sqs.CreateQueueInput{QueueName: &name, Attributes: attrs{"FifoQueue": "true", "VisibilityTimeout": "99"}})
	k.refused(err, "create again with other attributes", "QueueNameExists", "QueueAlreadyExists")
	out, err := k.client.CreateQueue(k.ctx, &sqs.CreateQueueInput{QueueName: &name, Attributes: attrs{"FifoQueue": "true"}})
	k.must(err, "create again with the same attributes")
	if *out.QueueUrl != url {
		k.Errorf("create again returned %s, want %s", *out.QueueUrl, url)
	}
	_, err = k.client.PurgeQueue(k.ctx, &sqs.PurgeQueueInput{QueueUrl: &url})
	k.must(err, "PurgeQueue")
	if k.visibility(url, aws.String("garbage"), 1) == nil {
		k.Errorf("visibility of a garbage receipt was changed")
	}
}

func sqsPurge(k *sqsKit) {
	url := k.queue(nil)
	k.mustSend(url, "A", "x", "1")
	_, err := k.client.PurgeQueue(k.ctx, &sqs.PurgeQueueInput{QueueUrl: &url})
	k.must(err, "PurgeQueue")
	k.mustSend(url, "A", "x", "2")
	if got := bodiesOf(k.receiveWait(url, 10, 1)); got != "2" {
		k.Errorf("received %q, want 2", got)
	}
}
