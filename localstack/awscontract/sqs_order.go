package awscontract

import (
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

func sqsGroupBlocking(k *sqsKit) {
	url := k.queue(nil)
	k.send(url, "A", "A1", "A2", "A3")
	k.send(url, "B", "B1")
	k.expect(url, 1, "A1", "the oldest message")
	k.expect(url, 10, "B1", "A waits for A1")
	k.expect(url, 10, "", "both groups wait")
}

func sqsGroupBatch(k *sqsKit) {
	url := k.queue(nil)
	k.send(url, "A", "1", "2", "3", "4", "5", "6", "7", "8")
	k.expect(url, 10, "1 2 3 4 5 6 7 8", "AWS returns as many of a group as it can")
}

// sqsOrderAfterTimeout repeats what it does: emulators that keep messages in a map are right by chance.
func sqsOrderAfterTimeout(k *sqsKit) {
	const all = "1 2 3 4 5 6 7 8"
	for round := range 6 {
		url := k.queue(attrs{"VisibilityTimeout": "1"})
		k.send(url, "A", strings.Fields(all)...)
		for taken := 0; taken < 8; { // an endpoint may give fewer at once
			m := k.receive(url, 10)
			if len(m) == 0 {
				break
			}
			taken += len(m)
		}
		k.wait(1300 * time.Millisecond)
		if got := bodiesOf(k.receive(url, 10)); got == "" || !strings.HasPrefix(all, got) {
			k.Errorf("round %d: redelivered as %q", round, got)
		}
	}
}

func sqsOrderAfterPartialDelete(k *sqsKit) {
	url := k.queue(attrs{"VisibilityTimeout": "1"})
	k.send(url, "A", "1", "2", "3", "4", "5")
	m := k.expect(url, 3, "1 2 3", "three of the group")
	k.must(k.delete(url, m[1].ReceiptHandle), "delete the second")
	k.wait(1300 * time.Millisecond)
	k.expect(url, 10, "1 3 4 5", "order without the deleted one")
}

func sqsGiveBack(k *sqsKit) {
	url := k.queue(nil)
	k.send(url, "A", "1", "2")
	m := k.expect(url, 1, "1", "the first")
	k.must(k.visibility(url, m[0].ReceiptHandle, 0), "visibility 0")
	m = k.expect(url, 10, "1 2", "both, at once")
	if n := m[0].Attributes["ApproximateReceiveCount"]; n != "2" {
		k.Errorf("receive count %s, want 2", n)
	}
}

func sqsGiveBackBatch(k *sqsKit) {
	for round := range 5 {
		url := k.queue(nil)
		k.send(url, "A", "1", "2", "3", "4", "5", "6")
		m := k.receive(url, 10)
		var entries []types.ChangeMessageVisibilityBatchRequestEntry
		for i := len(m) - 1; i >= 0; i-- {
			entries = append(entries, types.ChangeMessageVisibilityBatchRequestEntry{Id: aws.String(fmt.Sprint(i)), ReceiptHandle: m[i].ReceiptHandle, VisibilityTimeout: 0})
		}
		out, err := k.client.ChangeMessageVisibilityBatch(k.ctx, &sqs.ChangeMessageVisibilityBatchInput{QueueUrl: &url, Entries: entries})
		k.must(err, "ChangeMessageVisibilityBatch")
		if len(out.Failed) > 0 {
			k.Errorf("failed: %s", *out.Failed[0].Code)
		}
		k.wait(10 * time.Millisecond)
		if got := bodiesOf(k.receive(url, 10)); got == "" || !strings.HasPrefix("1 2 3 4 5 6", got) {
			k.Errorf("round %d: back as %q", round, got)
		}
	}
}

func sqsExtend(k *sqsKit) {
	url := k.queue(attrs{"VisibilityTimeout": "1"})
	k.send(url, "A", "1")
	m := k.expect(url, 1, "1", "the message")
	k.wait(500 * time.Millisecond)
	k.must(k.visibility(url, m[0].ReceiptHandle, 3), "visibility 3")
	k.wait(1500 * time.Millisecond)
	k.expect(url, 1, "", "not before the extension ends")
	k.must(k.delete(url, m[0].ReceiptHandle), "delete within the extension")
}

func sqsReceiveVisibility(k *sqsKit) {
	url := k.queue(nil)
	k.send(url, "A", "1")
	out, err := k.client.ReceiveMessage(k.ctx, &sqs.ReceiveMessageInput{QueueUrl: &url, VisibilityTimeout: 1})
	k.must(err, "ReceiveMessage")
	if len(out.Messages) != 1 {
		k.Fatalf("received %d messages, want 1", len(out.Messages))
	}
	k.wait(1200 * time.Millisecond)
	k.expect(url, 1, "1", "after this receive's own visibility time-out")
}

func sqsHeldGroup(k *sqsKit) {
	url := k.queue(attrs{"VisibilityTimeout": "1"})
	k.send(url, "A", "a")
	m := k.expect(url, 1, "a", "the message of A")
	k.must(k.visibility(url, m[0].ReceiptHandle, 30), "extend A")
	k.send(url, "B", "b")
	k.expect(url, 1, "b", "the message of B")
	k.backWithin(url, "b", 8*time.Second)
}

// backWithin polls until the message is visible again and fails if that takes more than limit of the endpoint's time.
func (k *sqsKit) backWithin(url, want string, limit time.Duration) {
	k.Helper()
	const step = 20 * time.Millisecond
	start, waited := time.Now(), time.Duration(0)
	for waited < limit {
		if got := bodiesOf(k.receive(url, 1)); got == want {
			return
		} else if got != "" {
			k.Fatalf("received %q, want %q", got, want)
		}
		k.wait(step)
		waited += step
		if !k.caps.TimeTravel { // then the calls take of the same time
			waited = time.Since(start)
		}
	}
	k.Errorf("%q was not delivered again within %v", want, limit)
}

func sqsTimely(k *sqsKit) {
	for range 5 {
		url := k.queue(attrs{"VisibilityTimeout": "1"})
		k.send(url, "A", "a")
		k.expect(url, 1, "a", "the message")
		k.wait(900 * time.Millisecond)
		k.expect(url, 1, "", "not early")
		k.backWithin(url, "a", 400*time.Millisecond)
	}
}

func sqsPartExtended(k *sqsKit) {
	for i, want := range []string{"", "foo", "foo bar"} {
		url := k.queue(attrs{"VisibilityTimeout": "1"})
		k.send(url, "1", "foo", "bar", "baz")
		m := k.expect(url, 5, "foo bar baz", "all three")
		k.must(k.visibility(url, m[i].ReceiptHandle, 5), "extend one")
		k.wait(2500 * time.Millisecond)
		k.expect(url, 5, want, fmt.Sprintf("those before number %d, which is held", i))
	}
}

func sqsFirstGivenBack(k *sqsKit) {
	url := k.queue(nil)
	k.send(url, "1", "m1", "m2")
	m := k.expect(url, 2, "m1 m2", "both")
	k.must(k.visibility(url, m[0].ReceiptHandle, 0), "visibility 0")
	if got := bodiesOf(k.receiveWait(url, 3, 2)); got != "m1" {
		k.Errorf("received %q, want m1 although m2 is in flight", got)
	}
}

func sqsZeroVisibility(k *sqsKit) {
	url := k.queue(attrs{"VisibilityTimeout": "0"})
	k.send(url, "A", "1", "2")
	k.expect(url, 10, "1 2", "the first time")
	k.expect(url, 10, "1 2", "the second time")
}
