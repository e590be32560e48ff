package awscontract

import (
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

func sqsRepeat(k *sqsKit) {
	url := k.queue(nil)
	first, again := k.mustSend(url, "A", "x", "body"), k.mustSend(url, "A", "x", "body")
	if *first.MessageId != *again.MessageId {
		k.Errorf("the repeat has another message id")
	}
	if aws.ToString(first.SequenceNumber) != aws.ToString(again.SequenceNumber) {
		k.Errorf("the repeat has another sequence number")
	}
	k.expect(url, 10, "body", "one message")
}

func sqsRepeatOtherBody(k *sqsKit) {
	url := k.queue(nil)
	first, again := k.mustSend(url, "A", "x", "body1"), k.mustSend(url, "A", "x", "body2")
	if *first.MessageId != *again.MessageId {
		k.Errorf("the repeat has another message id")
	}
	k.expect(url, 10, "body1", "the first body")
}

func sqsContentDedup(k *sqsKit) {
	url := k.queue(attrs{"ContentBasedDeduplication": "true"})
	for _, body := range []string{"p", "p", "q"} {
		k.mustSend(url, "A", "", body)
	}
	k.expect(url, 10, "p q", "each body once")
}

func sqsRepeatLater(k *sqsKit) {
	url := k.queue(nil)
	k.mustSend(url, "A", "x", "b")
	m := k.expect(url, 1, "b", "the message")
	k.mustSend(url, "A", "x", "b")
	k.must(k.delete(url, m[0].ReceiptHandle), "delete")
	k.expect(url, 10, "", "a repeat that was sent while the first was in flight")

	url = k.queue(nil)
	k.mustSend(url, "A", "x", "b")
	m = k.expect(url, 1, "b", "the message")
	k.must(k.delete(url, m[0].ReceiptHandle), "delete")
	k.mustSend(url, "A", "x", "b")
	k.expect(url, 10, "", "a repeat that was sent after the delete")
}

func sqsGroupScope(k *sqsKit) {
	url := k.queue(attrs{"DeduplicationScope": "messageGroup", "FifoThroughputLimit": "perMessageGroupId"})
	k.mustSend(url, "A", "x", "a")
	k.mustSend(url, "B", "x", "b")
	k.expect(url, 10, "a b", "the same id in two groups")
}

func sqsRefusedMessages(k *sqsKit) {
	url := k.queue(nil)
	_, err := k.sendAs(url, "A", "", "b")
	k.refused(err, "no deduplication id", "InvalidParameterValue")
	_, err = k.sendAs(url, "", "x", "b")
	k.refused(err, "no group", "MissingParameter", "MissingRequiredParameter")
	_, err = k.client.SendMessage(k.ctx, &sqs.SendMessageInput{QueueUrl: &url, MessageBody: aws.String("b"), MessageGroupId: aws.String("A"), MessageDeduplicationId: aws.String("z"), DelaySeconds: 5})
	k.refused(err, "a delay of one message", "InvalidParameterValue")
	_, err = k.sendAs(url, "has space", "y", "b")
	k.refused(err, "a group with a space", "InvalidParameterValue")
}

func sqsBatchBadEntries(k *sqsKit) {
	entries := func() []types.SendMessageBatchRequestEntry {
		var out []types.SendMessageBatchRequestEntry
		for _, id := range []string{"1", "2", "3"} {
			out = append(out, types.SendMessageBatchRequestEntry{Id: aws.String(id), MessageBody: aws.String(id), MessageGroupId: aws.String("A"), MessageDeduplicationId: aws.String(id)})
		}
		return out
	}
	url, bad := k.queue(nil), entries()
	bad[1].MessageGroupId = nil
	_, err := k.client.SendMessageBatch(k.ctx, &sqs.SendMessageBatchInput{QueueUrl: &url, Entries: bad})
	k.refused(err, "no group in one entry refuses the call (recorded on AWS)", "InvalidParameterValue")
	k.expect(url, 10, "", "nothing of a refused call")

	url, bad = k.queue(nil), entries()
	bad[1].MessageBody = aws.String("bad\x01char")
	out, err := k.client.SendMessageBatch(k.ctx, &sqs.SendMessageBatchInput{QueueUrl: &url, Entries: bad})
	k.must(err, "SendMessageBatch with a bad character in one entry")
	if len(out.Successful) != 2 || len(out.Failed) != 1 || *out.Failed[0].Id != "2" {
		k.Errorf("%d entries succeeded and %d failed, want 2 and number 2", len(out.Successful), len(out.Failed))
	}
	k.expect(url, 10, "1 3", "the good entries")
}

func sqsBatchLimits(k *sqsKit) {
	url := k.queue(nil)
	batch := func(n, size int, sameID bool) error {
		var entries []types.SendMessageBatchRequestEntry
		for i := range n {
			id := fmt.Sprint(i)
			if sameID {
				id = "same"
			}
			entries = append(entries, types.SendMessageBatchRequestEntry{Id: &id, MessageBody: aws.String(strings.Repeat("x", size)), MessageGroupId: aws.String("A"), MessageDeduplicationId: aws.String(unique("d"))})
		}
		_, err := k.client.SendMessageBatch(k.ctx, &sqs.SendMessageBatchInput{QueueUrl: &url, Entries: entries})
		return err
	}
	k.refused(batch(11, 1, false), "11 entries", "TooManyEntriesInBatchRequest")
	k.refused(batch(2, 1, true), "two entries with one id", "BatchEntryIdsNotDistinct")
	k.refused(batch(10, 200<<10, false), "2 MB", "BatchRequestTooLong")
	k.must(batch(1, 300<<10, false), "one message of 300 KiB, below the 1 MiB of today")
	k.refused(batch(1, 1100<<10, false), "one message of 1.1 MiB", "InvalidParameterValue", "BatchRequestTooLong")
}

func sqsSequence(k *sqsKit) {
	url := k.queue(nil)
	last := ""
	for range 5 {
		s := aws.ToString(k.mustSend(url, "A", unique("d"), "b").SequenceNumber)
		if s == "" || len(s) < len(last) || len(s) == len(last) && s <= last {
			k.Errorf("sequence number %q after %q", s, last)
		}
		last = s
	}
}

func sqsWindowEnds(k *sqsKit) {
	url := k.queue(nil)
	k.mustSend(url, "A", "x", "1")
	m := k.expect(url, 1, "1", "the message")
	k.must(k.delete(url, m[0].ReceiptHandle), "delete")
	k.wait(4*time.Minute + 50*time.Second)
	k.mustSend(url, "A", "x", "2")
	k.expect(url, 1, "", "a repeat within five minutes")
	k.wait(20 * time.Second)
	k.mustSend(url, "A", "x", "3")
	k.expect(url, 1, "3", "a resend after five minutes is a second message")
}

func sqsRetention(k *sqsKit) {
	url := k.queue(attrs{"MessageRetentionPeriod": "1209600"})
	k.send(url, "A", "1")
	k.wait(14*24*time.Hour - time.Minute)
	if c := k.counts(url); c != "1/0/0" {
		k.Errorf("a minute before the end: %s, want 1/0/0", c)
	}
	k.wait(2 * time.Minute)
	k.expect(url, 1, "", "the message is older than 14 days")
	if c := k.counts(url); c != "0/0/0" {
		k.Errorf("after the end: %s, want 0/0/0", c)
	}
}
