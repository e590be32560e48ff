package wiring

import (
	"context"
	"fmt"
	"sync"
	"time"

	lambdaevents "github.com/aws/aws-lambda-go/events"

	"github.com/holdfast/holdfast/reaper"
	"github.com/holdfast/holdfast/workers"
	"github.com/holdfast/holdfast/workers/batch"
	"github.com/holdfast/holdfast/workers/delivery"
)

// The functions that cmd/lambda can be.
const (
	FunctionIngress = "ingress" // behind a load balancer or a function URL, for small sales
	FunctionWorker  = "worker"  // triggered by the queue, with ReportBatchItemFailures
	FunctionSweep   = "sweep"   // scheduled every minute
	FunctionDiff    = "diff"    // scheduled every five minutes
	FunctionAudit   = "audit"   // scheduled, or asked by hand
)

// Function returns the handler of a Lambda function by its name, in the form
// that lambda.Start takes. Any number of each may run at once: schedules
// deliver at least once (protocol.md 1.6). ctx bounds the start only.
func (h *House) Function(ctx context.Context, name string) (any, error) {
	switch name {
	case FunctionIngress:
		return h.ingressFunction(ctx)
	case FunctionWorker:
		return h.workerFunction()
	case FunctionSweep, FunctionDiff, FunctionAudit:
		return h.passFunction(reaper.Pass(name))
	}
	return nil, fmt.Errorf("HOLDFAST_FUNCTION: there is no function %q: choose ingress, worker, sweep, diff or audit", name)
}

// ScheduleInput is what a schedule sends: the sales to pass over; none means all.
type ScheduleInput struct {
	Sales []string `json:"sales"`
}

func (h *House) passFunction(pass reaper.Pass) (any, error) {
	healers, err := h.Healers()
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, in ScheduleInput) (reaper.Report, error) {
		return healers.RunScheduled(ctx, pass, in.Sales...)
	}, nil
}

func (h *House) workerFunction() (any, error) {
	ages := &batchAges{}
	f, err := batch.New(batch.Config{
		Handler: &workers.Handler{Steps: h.Steps, Log: h.Log}, Parker: h.Queue.Parker,
		Observe: func(r delivery.Report) { ages.see(r.Age); h.Metrics.Handled(r) }, Now: h.Now, Log: h.Log,
	})
	if err != nil {
		return nil, err
	}
	notes := h.noted()
	return func(ctx context.Context, in lambdaevents.SQSEvent) (lambdaevents.SQSEventResponse, error) {
		out, err := f.Invoke(ctx, in)
		if oldest, due := ages.due(h.Now()); due {
			h.note(ctx, notes, oldest)
		}
		return out, err
	}, nil
}

// batchAges remembers the oldest message that this function instance saw since
// it last told the reapers.
type batchAges struct {
	mu     sync.Mutex
	oldest time.Duration
	noted  time.Time
}

func (a *batchAges) see(age time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.oldest = max(a.oldest, age)
}

func (a *batchAges) due(now time.Time) (oldest time.Duration, due bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if now.Sub(a.noted) < noteEvery {
		return 0, false
	}
	oldest, a.oldest, a.noted = a.oldest, 0, now
	return oldest, true
}
