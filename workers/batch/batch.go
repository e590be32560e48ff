// Package batch runs a handler as an AWS Lambda function that a FIFO queue
// triggers, with partial batch responses (ReportBatchItemFailures must be on).
package batch

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	lambdaevents "github.com/aws/aws-lambda-go/events"
	"github.com/holdfast/holdfast/events"
	"github.com/holdfast/holdfast/workers/delivery"
)

// Handler is what handles an event; see delivery.Handler for its contract.
type Handler = delivery.Handler

// Parker keeps what can't be handled; see delivery.Parker.
type Parker = delivery.Parker

// Config configures the function. Handler and Parker are required.
type Config struct {
	Handler Handler
	Parker  Parker
	// Parallel is the number of groups that are handled at once; 10 if 0.
	Parallel int
	// Margin is what is kept of the function's time for the answer: work that
	// is not done by then is cut off and reported. 2 s if 0.
	Margin  time.Duration
	Observe func(delivery.Report) // may be nil
	Now     func() time.Time      // time.Now if nil
	Log     *slog.Logger          // slog.Default if nil
}

// Function is the Lambda handler: pass its Invoke to lambda.Start.
type Function struct {
	deliverer delivery.Deliverer
	parallel  int
	margin    time.Duration
}

// New checks the configuration.
func New(cfg Config) (*Function, error) {
	f := &Function{
		deliverer: delivery.Deliverer{Handler: cfg.Handler, Parker: cfg.Parker, Observe: cfg.Observe, Now: cfg.Now, Log: cfg.Log},
		parallel:  cfg.Parallel, margin: cfg.Margin,
	}
	if err := f.deliverer.Check(); err != nil {
		return nil, fmt.Errorf("configure the batch function: %w", err)
	}
	if f.parallel <= 0 {
		f.parallel = 10
	}
	if f.margin <= 0 {
		f.margin = 2 * time.Second
	}
	return f, nil
}

// Invoke handles a batch and reports what has to come again: of each group the
// first message that failed, or that the time did not reach, and everything
// behind it (protocol.md 1.6). Lambda deletes the rest. The error is always
// nil: an error would return the whole batch.
func (f *Function) Invoke(ctx context.Context, in lambdaevents.SQSEvent) (lambdaevents.SQSEventResponse, error) {
	if deadline, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, deadline.Add(-f.margin))
		defer cancel()
	}
	groups := delivery.Groups(messages(in))
	done := make([]int, len(groups)) // how many of each group may be deleted
	slots := make(chan struct{}, f.parallel)
	var running sync.WaitGroup
	for i, group := range groups {
		slots <- struct{}{}
		running.Go(func() {
			defer func() { <-slots }()
			done[i] = f.handle(ctx, group)
		})
	}
	running.Wait()
	out := lambdaevents.SQSEventResponse{BatchItemFailures: []lambdaevents.SQSBatchItemFailure{}} // never null
	for i, group := range groups {
		for _, m := range group[done[i]:] {
			out.BatchItemFailures = append(out.BatchItemFailures, lambdaevents.SQSBatchItemFailure{ItemIdentifier: m.Meta.MessageID})
		}
	}
	return out, nil
}

// handle handles a group in order and returns how many messages of it are done.
func (f *Function) handle(ctx context.Context, group []events.Message) int {
	for i, m := range group {
		if ctx.Err() != nil || !f.deliverer.Deliver(ctx, m) {
			return i
		}
	}
	return len(group)
}

func messages(in lambdaevents.SQSEvent) []events.Message {
	out := make([]events.Message, len(in.Records))
	for i, r := range in.Records {
		out[i] = events.Message{Body: r.Body, Handle: r.ReceiptHandle, Meta: events.ParseMeta(r.MessageId, r.Attributes)}
	}
	return out
}
