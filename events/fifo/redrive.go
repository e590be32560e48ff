package fifo

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

// Redriven says what a redrive did.
type Redriven struct {
	// Moved counts the letters that are back in the queue.
	Moved int
	// Task is SQS's handle where it moves all of them by itself; it goes on
	// after the call, and Depth shows its progress.
	Task string
	// Held counts letters that stay: one of them, or an earlier one of their
	// group, could not be moved.
	Held int
}

// Redrive sends up to limit dead letters back to the queue, or with limit 0 all
// of them, where the endpoint can by one task of its own. Handlers must bear
// what this does to the order: a redriven event interleaves with newer ones of
// its candidate (protocol.md 1.5, 3A row 40). Letters of one group keep their
// order among themselves. Progress, if not nil, hears the number so far.
//
// Safe to call again after any error: a letter is deleted only when its copy is
// in the queue, and a copy sent twice is one for the handlers.
func (a *Admin) Redrive(ctx context.Context, limit int, progress func(moved int)) (Redriven, error) {
	if progress == nil {
		progress = func(int) {}
	}
	if limit == 0 {
		task, err := a.moveAll(ctx)
		if err == nil || !unsupported(err) {
			return Redriven{Task: task}, err
		}
	}
	return a.moveEach(ctx, limit, progress)
}

func (a *Admin) moveAll(ctx context.Context) (task string, err error) {
	source, err := attribute(ctx, a.client, a.queues.DeadURL, types.QueueAttributeNameQueueArn)
	if err != nil {
		return "", err
	}
	// By name: SQS doesn't know where parked letters came from.
	destination, err := attribute(ctx, a.client, a.queues.URL, types.QueueAttributeNameQueueArn)
	if err != nil {
		return "", err
	}
	out, err := a.client.StartMessageMoveTask(ctx, &sqs.StartMessageMoveTaskInput{SourceArn: &source, DestinationArn: &destination})
	if err != nil {
		return "", fmt.Errorf("start to move the dead letters: %w", err)
	}
	return aws.ToString(out.TaskHandle), nil
}

// unsupported says whether an endpoint has no move tasks.
func unsupported(err error) bool {
	switch codeOf(err) {
	case "UnsupportedOperation", "AWS.SimpleQueueService.UnsupportedOperation", "InvalidAction", "UnknownOperationException", "NotImplemented":
		return true
	}
	return false
}

// moveEach moves letters one by one: an operator's tool has time, and one at a
// time no letter can overtake another of its group. A letter that the queue
// refuses holds back its group only; any other error ends the pass.
func (a *Admin) moveEach(ctx context.Context, limit int, progress func(int)) (done Redriven, err error) {
	var held []DeadLetter
	defer func() {
		done.Held = len(held)
		err = errors.Join(err, a.giveBack(context.WithoutCancel(ctx), held))
	}()
	stopped := map[string]error{}
	for limit == 0 || done.Moved < limit {
		most := maxEntries
		if limit > 0 {
			most = min(most, limit-done.Moved)
		}
		letters, err := a.receiveDead(ctx, most)
		if err != nil || len(letters) == 0 {
			return done, errors.Join(append(slices.Collect(maps.Values(stopped)), err)...)
		}
		for i, d := range letters {
			if stopped[d.Meta.Group] != nil {
				held = append(held, d)
				continue
			}
			err := a.move(ctx, d)
			switch {
			case err == nil:
				done.Moved++
				progress(done.Moved)
			case outcomeOfCall(err) == refused:
				held, stopped[d.Meta.Group] = append(held, d), err
			default:
				held = append(held, letters[i:]...)
				return done, err
			}
		}
	}
	return done, errors.Join(slices.Collect(maps.Values(stopped))...)
}

// move sends a copy and then deletes the letter. The copy's deduplication id is
// the letter's own: the event's could still be remembered from its first
// sending, and the copy would vanish; a letter that dies again is another one.
func (a *Admin) move(ctx context.Context, d DeadLetter) error {
	_, err := a.client.SendMessage(ctx, &sqs.SendMessageInput{
		QueueUrl: &a.queues.URL, MessageBody: &d.Body, MessageGroupId: &d.Meta.Group,
		MessageDeduplicationId: aws.String("R:" + d.Meta.MessageID),
	})
	if err != nil {
		return fmt.Errorf("send dead letter %s back: %w", d.Meta.MessageID, err)
	}
	return errors.Join(NewConsumer(a.client, a.queues.DeadURL, deadHide).Delete(ctx, []string{d.handle})...)
}
