package sim

import (
	"context"
	"time"

	"github.com/holdfast/holdfast/events"
	"github.com/holdfast/holdfast/localstack/fifo"
)

// queue is the local cloud's queue engine as one process sees it, with no HTTP
// in between: publisher, source of a poller, parker, depth and redrive.
type queue struct {
	p  *process
	in *fifo.Cloud
}

// Publish implements events.Publisher.
func (q queue) Publish(ctx context.Context, e events.Event) error {
	body, err := events.Encode(e)
	if err != nil {
		return err
	}
	err = act(ctx, q.p, "queue.Send", e.DedupID(), func(context.Context) error {
		_, err := q.in.Send(events.QueueName, fifo.SendInput{Group: e.Group(), DedupID: e.DedupID(), Body: string(body)})
		return err
	})
	return q.p.town.mutant.published(ctx, q.p, e, err)
}

// Receive implements poller.Source. Its answer is a turn of its own: a poll may
// wait for long, and what woke it goes on at the same time.
func (q queue) Receive(ctx context.Context, attempt string, wait time.Duration) ([]events.Message, error) {
	visibility := events.Visibility
	poll, err := call(ctx, q.p, "queue.Receive", "", func(context.Context) (*fifo.Poll, error) {
		return q.in.Receive(events.QueueName, fifo.ReceiveInput{Max: 10, Visibility: &visibility, Wait: &wait, AttemptID: attempt}), nil
	})
	if err != nil {
		return nil, err
	}
	select {
	case <-poll.Done():
	case <-ctx.Done():
		poll.Cancel()
		return nil, ctx.Err()
	}
	return call(ctx, q.p, "queue.Answer", "", func(context.Context) ([]events.Message, error) {
		got, err := poll.Answer()
		out := make([]events.Message, len(got))
		for i, m := range got {
			out[i] = events.Message{Body: m.Body, Handle: m.Receipt, Meta: events.Meta{ReceiveCount: m.Receives, SentAt: m.Sent,
				MessageID: m.ID, Group: m.Group, DedupID: m.DedupID}}
		}
		return out, err
	})
}

// Delete implements poller.Source.
func (q queue) Delete(ctx context.Context, handles []string) []error {
	return q.each(ctx, "queue.Delete", handles, func() ([]error, error) { return q.in.DeleteBatch(events.QueueName, handles) })
}

// SetVisibility implements poller.Source.
func (q queue) SetVisibility(ctx context.Context, handles []string, d time.Duration) []error {
	changes := make([]fifo.VisibilityChange, len(handles))
	for i, h := range handles {
		changes[i] = fifo.VisibilityChange{Receipt: h, Timeout: d}
	}
	return q.each(ctx, "queue.SetVisibility", handles, func() ([]error, error) { return q.in.ChangeVisibilityBatch(events.QueueName, changes) })
}

// Visibility implements poller.Source.
func (q queue) Visibility() time.Duration { return events.Visibility }

func (q queue) each(ctx context.Context, op string, handles []string, do func() ([]error, error)) []error {
	errs, err := call(ctx, q.p, op, "", func(context.Context) ([]error, error) { return do() })
	if err != nil {
		errs = make([]error, len(handles))
		for i := range errs {
			errs[i] = err
		}
	}
	return errs
}

// Park implements delivery.Parker.
func (q queue) Park(ctx context.Context, body string, m events.Meta, reason string) error {
	return act(ctx, q.p, "queue.Park", reason+" "+m.DedupID, func(context.Context) error {
		_, err := q.in.Send(events.DeadQueueName, fifo.SendInput{Group: m.Group, DedupID: "parked:" + m.MessageID, Body: body})
		return err
	})
}

// Depth implements reaper.QueueDepth and operator.Queue.
func (q queue) Depth(ctx context.Context) (events.Depth, error) {
	return call(ctx, q.p, "queue.Depth", "", func(context.Context) (events.Depth, error) { return depthOf(q.in) })
}

func depthOf(c *fifo.Cloud) (events.Depth, error) {
	live, err := c.Stats(events.QueueName)
	if err != nil {
		return events.Depth{}, err
	}
	dead, err := c.Stats(events.DeadQueueName)
	return events.Depth{Visible: live.Visible, InFlight: live.InFlight, Dead: dead.Visible, DeadInFlight: dead.InFlight}, err
}

// RedriveDead implements reaper.Redriver.
func (q queue) RedriveDead(ctx context.Context) error {
	return act(ctx, q.p, "queue.Redrive", "", func(context.Context) error {
		_, err := q.in.Redrive(events.DeadQueueName, events.QueueName)
		return err
	})
}

// makeQueues makes both queues as a deployment has them, but for how often a
// message is tried.
func makeQueues(c *fifo.Cloud, maxReceives int) error {
	common := func(cfg *fifo.Config) {
		cfg.VisibilityTimeout, cfg.Retention, cfg.GroupScope, cfg.GroupThroughput = events.Visibility, events.Retention, true, true
	}
	if err := c.CreateQueue(events.DeadQueueName, common); err != nil {
		return err
	}
	return c.CreateQueue(events.QueueName, func(cfg *fifo.Config) {
		common(cfg)
		cfg.Redrive = fifo.RedrivePolicy{Target: events.DeadQueueName, MaxReceives: maxReceives}
	})
}
