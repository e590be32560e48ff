package awscontract

import (
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs"
)

func sqsDeadLetter(k *sqsKit) {
	source, dead, _ := k.deadLetterPair(2)
	id := *k.mustSend(source, "A", "dd1", "1").MessageId
	k.mustSend(source, "A", "dd2", "2")
	k.mustSend(source, "A", "dd3", "3")
	for range 2 {
		k.expect(source, 1, "1", "received as often as the policy allows")
		k.wait(1300 * time.Millisecond)
	}
	m := k.receive(source, 1)
	if len(m) == 0 { // the move may take a receive of its own
		m = k.receiveWait(source, 1, 2)
	}
	if got := bodiesOf(m); got != "2" {
		k.Errorf("the source goes on with %q, want 2", got)
	}
	d := k.receiveWait(dead, 10, 1)
	if got := bodiesOf(d); got != "1" {
		k.Fatalf("the dead-letter queue has %q, want 1", got)
	}
	if *d[0].MessageId != id {
		k.Errorf("the dead letter has another message id")
	}
	for name, want := range map[string]string{"MessageGroupId": "A", "MessageDeduplicationId": "dd1"} {
		if got := d[0].Attributes[name]; got != want {
			k.Errorf("the dead letter's %s is %q, want %q", name, got, want)
		}
	}
	if d[0].Attributes["DeadLetterQueueSourceArn"] == "" {
		k.Errorf("the dead letter has no DeadLetterQueueSourceArn")
	}
	out, err := k.client.ListDeadLetterSourceQueues(k.ctx, &sqs.ListDeadLetterSourceQueuesInput{QueueUrl: &dead})
	k.must(err, "ListDeadLetterSourceQueues")
	if len(out.QueueUrls) != 1 || out.QueueUrls[0] != source {
		k.Errorf("sources %v, want %s", out.QueueUrls, source)
	}
}

func sqsDeadLetterOrder(k *sqsKit) {
	source, dead, _ := k.deadLetterPair(1)
	k.send(source, "A", "1", "2", "3", "4", "5", "6")
	for range 8 { // an endpoint may move fewer at once
		k.receive(source, 10)
		k.wait(1150 * time.Millisecond)
		if strings.HasPrefix(k.counts(dead), "6/") {
			break
		}
	}
	var all []string
	for range 6 {
		for _, m := range k.receive(dead, 10) {
			all = append(all, *m.Body)
			k.must(k.delete(dead, m.ReceiptHandle), "delete the dead letter")
		}
	}
	if got := strings.Join(all, " "); got != "1 2 3 4 5 6" {
		k.Errorf("dead letters %q", got)
	}
}

func sqsRedrive(k *sqsKit) {
	source, _, arn := k.deadLetterPair(1)
	k.send(source, "A", "1")
	k.expect(source, 1, "1", "the message")
	k.wait(1200 * time.Millisecond)
	k.expect(source, 1, "", "moved to the dead-letter queue")
	_, err := k.client.StartMessageMoveTask(k.ctx, &sqs.StartMessageMoveTaskInput{SourceArn: &arn})
	k.must(err, "StartMessageMoveTask")
	if got := bodiesOf(k.receiveWait(source, 1, 3)); got != "1" {
		k.Errorf("not moved back: %q", got)
	}
}
