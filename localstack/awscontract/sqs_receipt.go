package awscontract

import (
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

// deleteInBatch deletes one message by a batch and reports whether its entry succeeded; the call itself must.
func (k *sqsKit) deleteInBatch(url string, receipt *string) bool {
	k.Helper()
	out, err := k.client.DeleteMessageBatch(k.ctx, &sqs.DeleteMessageBatchInput{QueueUrl: &url, Entries: []types.DeleteMessageBatchRequestEntry{{Id: aws.String("a"), ReceiptHandle: receipt}}})
	k.must(err, "DeleteMessageBatch")
	return len(out.Failed) == 0
}

func sqsExpiredReceipt(k *sqsKit) {
	url := k.queue(attrs{"VisibilityTimeout": "1"})
	k.send(url, "A", "1")
	m := k.expect(url, 1, "1", "the message")
	k.wait(1300 * time.Millisecond)
	if k.deleteInBatch(url, m[0].ReceiptHandle) {
		k.Errorf("a delete after the time-out succeeded; AWS fails the entry")
	}
	again := k.expect(url, 1, "1", "the message is still there")
	k.wait(100 * time.Millisecond)
	if k.deleteInBatch(url, m[0].ReceiptHandle) {
		k.Errorf("the first receiver deleted what the second one holds")
	}
	k.must(k.delete(url, again[0].ReceiptHandle), "delete with the new receipt")
	k.refused(k.delete(url, aws.String("garbage")), "delete with garbage", "ReceiptHandleIsInvalid")
}

func sqsDeleteTwice(k *sqsKit) {
	url := k.queue(nil)
	k.send(url, "A", "1")
	m := k.expect(url, 1, "1", "the message")
	k.must(k.delete(url, m[0].ReceiptHandle), "delete")
	k.must(k.delete(url, m[0].ReceiptHandle), "delete again")
}

func sqsAttempt(k *sqsKit) {
	url := k.queue(nil)
	k.send(url, "A", "1")
	var receipts []string
	for range 2 {
		out, err := k.client.ReceiveMessage(k.ctx, &sqs.ReceiveMessageInput{QueueUrl: &url, ReceiveRequestAttemptId: aws.String("att1"), MaxNumberOfMessages: 1})
		k.must(err, "ReceiveMessage")
		if got := bodiesOf(out.Messages); got != "1" {
			k.Fatalf("an attempt returned %q, want the same message each time", got)
		}
		receipts = append(receipts, *out.Messages[0].ReceiptHandle)
	}
	k.must(k.delete(url, &receipts[1]), "delete with the repeat's receipt")
}
