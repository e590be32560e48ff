package poller_test

import (
	"context"
	"slices"
	"time"

	"github.com/holdfast/holdfast/events"
	engine "github.com/holdfast/holdfast/localstack/fifo"
)

// source is the engine as a Source.
type source struct{ cloud *engine.Cloud }

func (s source) Visibility() time.Duration { return visibility }

func (s source) Receive(ctx context.Context, attempt string, wait time.Duration) ([]events.Message, error) {
	hide := visibility
	poll := s.cloud.Receive(queue, engine.ReceiveInput{Max: 10, Visibility: &hide, Wait: &wait, AttemptID: attempt})
	select {
	case <-poll.Done():
	case <-ctx.Done():
		poll.Cancel()
		return nil, ctx.Err()
	}
	got, err := poll.Answer()
	messages := make([]events.Message, len(got))
	for i, m := range got {
		messages[i] = events.Message{Body: m.Body, Handle: m.Receipt, Meta: events.Meta{
			ReceiveCount: m.Receives, SentAt: m.Sent, MessageID: m.ID, Group: m.Group, DedupID: m.DedupID,
		}}
	}
	return messages, err
}

func (s source) Delete(_ context.Context, handles []string) []error {
	return chunked(handles, func(part []string) ([]error, error) { return s.cloud.DeleteBatch(queue, part) })
}

func (s source) SetVisibility(_ context.Context, handles []string, d time.Duration) []error {
	return chunked(handles, func(part []string) ([]error, error) {
		changes := make([]engine.VisibilityChange, len(part))
		for i, h := range part {
			changes[i] = engine.VisibilityChange{Receipt: h, Timeout: d}
		}
		return s.cloud.ChangeVisibilityBatch(queue, changes)
	})
}

func chunked(handles []string, call func([]string) ([]error, error)) (out []error) {
	for part := range slices.Chunk(handles, engine.MaxBatch) {
		errs, err := call(part)
		if err != nil {
			errs = make([]error, len(part))
			for i := range errs {
				errs[i] = err
			}
		}
		out = append(out, errs...)
	}
	return out
}
