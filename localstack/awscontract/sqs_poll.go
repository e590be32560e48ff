package awscontract

import (
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

// polled is the end of a long poll.
type polled struct {
	messages []types.Message
	err      error
	at       time.Time
}

// poll starts a long poll and returns when it waits at the endpoint.
func (k *sqsKit) poll(url string, seconds int32) <-chan polled {
	out := make(chan polled, 1)
	go func() {
		o, err := k.client.ReceiveMessage(k.ctx, &sqs.ReceiveMessageInput{QueueUrl: &url, MaxNumberOfMessages: 1, WaitTimeSeconds: seconds})
		p := polled{err: err, at: time.Now()}
		if err == nil {
			p.messages = o.Messages
		}
		out <- p
	}()
	k.caps.parked(queueName(url))
	return out
}

// patience is how long in real time an answer may take: where the endpoint's time stands still, slowness is the machine's.
func (k *sqsKit) patience(d time.Duration) time.Duration {
	if k.caps.TimeTravel {
		return rowTimeout / 2
	}
	return d
}

// wakes checks n times that a poll which waits gets a message soon after the trigger. The median counts: one slow poll may be the machine's fault.
func (k *sqsKit) wakes(n int, prepare func(url string) (trigger func())) {
	soon := k.patience(1500 * time.Millisecond)
	var took []time.Duration
	for range n {
		url := k.queue(attrs{"VisibilityTimeout": "30"})
		trigger := prepare(url)
		result := k.poll(url, 5)
		start := time.Now()
		trigger()
		p := <-result
		k.must(p.err, "ReceiveMessage")
		if len(p.messages) == 0 {
			k.Fatalf("the poll ended empty after %v", p.at.Sub(start))
		}
		took = append(took, p.at.Sub(start))
	}
	slices.Sort(took)
	k.Logf("median %v, longest %v", took[n/2], took[n-1])
	if took[n/2] > soon {
		k.Errorf("the poll was answered after %v, want at most %v", took[n/2], soon)
	}
}

func sqsPollSend(k *sqsKit) {
	k.wakes(9, func(url string) func() {
		return func() { k.send(url, "A", "1") }
	})
}

func sqsPollDelete(k *sqsKit) {
	k.wakes(4, func(url string) func() {
		k.send(url, "A", "1", "2")
		m := k.expect(url, 1, "1", "the first")
		return func() { k.must(k.delete(url, m[0].ReceiptHandle), "delete") }
	})
}

func sqsPollExpiry(k *sqsKit) {
	k.wakes(3, func(url string) func() {
		k.send(url, "A", "1")
		m := k.expect(url, 1, "1", "the message")
		return func() {
			k.must(k.visibility(url, m[0].ReceiptHandle, 1), "visibility 1")
			k.wait(time.Second)
		}
	})
}

func sqsPollGiveBack(k *sqsKit) {
	k.wakes(3, func(url string) func() {
		k.send(url, "A", "1")
		m := k.expect(url, 1, "1", "the message")
		return func() { k.must(k.visibility(url, m[0].ReceiptHandle, 0), "visibility 0") }
	})
}

func sqsPollEmpty(k *sqsKit) {
	url := k.queue(nil)
	start := time.Now()
	result := k.poll(url, 2)
	spent := time.Since(start)
	if k.caps.TimeTravel {
		spent = 0
	}
	k.wait(1900*time.Millisecond - spent)
	select {
	case p := <-result:
		k.Fatalf("a poll of 2 s ended after less than 1.9 s with %d messages, %v", len(p.messages), p.err)
	default:
	}
	k.wait(100 * time.Millisecond)
	select {
	case p := <-result:
		k.must(p.err, "ReceiveMessage")
		if len(p.messages) != 0 {
			k.Errorf("an empty queue gave %q", bodiesOf(p.messages))
		}
	case <-time.After(k.patience(600 * time.Millisecond)):
		k.Errorf("a poll of 2 s did not end within 2.6 s")
	}
}
