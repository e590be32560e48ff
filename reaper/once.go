package reaper

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// Pass names a kind of pass. The set is closed.
type Pass string

// The passes that a schedule can ask for.
const (
	PassSweep Pass = "sweep"
	PassDiff  Pass = "diff"
	PassAudit Pass = "audit"
)

// Report is what RunOnce did, by sale; JSON-able, as a Lambda answers it.
type Report struct {
	Pass   Pass                   `json:"pass"`
	Sweeps map[string]SweepResult `json:"sweeps,omitempty"`
	Diffs  map[string]DiffResult  `json:"diffs,omitempty"`
	Audits map[string]AuditResult `json:"audits,omitempty"`
	Errors map[string]string      `json:"errors,omitempty"`
}

// salesAtOnce is how many sales one process works on at a time.
const salesAtOnce = 4

// RunOnce makes one pass over each of the sales, or over all if none is named.
// One bad sale stops no other; their errors are joined. It is what a schedule
// or a Lambda calls; any number at once is safe.
func (r *Reaper) RunOnce(ctx context.Context, pass Pass, sales ...string) (Report, error) {
	report := Report{Pass: pass, Sweeps: map[string]SweepResult{}, Diffs: map[string]DiffResult{}, Audits: map[string]AuditResult{}, Errors: map[string]string{}}
	switch pass {
	case PassSweep, PassDiff, PassAudit:
	default:
		return report, fmt.Errorf("reaper: no pass %q: ask for %s, %s or %s", pass, PassSweep, PassDiff, PassAudit)
	}
	if len(sales) == 0 {
		all, err := r.tools.store.Sales(ctx)
		if err != nil {
			return report, fmt.Errorf("reaper: list the sales: %w", err)
		}
		sales = all
	}
	var mu sync.Mutex
	var errs []error
	r.tools.eachSale(ctx, sales, func(ctx context.Context, saleID string) {
		note, err := r.run(ctx, pass, saleID)
		mu.Lock()
		defer mu.Unlock()
		note(&report)
		if err != nil {
			errs = append(errs, fmt.Errorf("sale %s: %w", saleID, err))
			report.Errors[saleID] = err.Error()
		}
	})
	return report, errors.Join(append(errs, ctx.Err())...)
}

// run makes one pass over one sale and says how to report it.
func (r *Reaper) run(ctx context.Context, pass Pass, saleID string) (func(*Report), error) {
	switch pass {
	case PassSweep:
		return r.sweepOnce(ctx, saleID)
	case PassDiff:
		res, err := r.Differ.Diff(ctx, saleID)
		return func(rep *Report) { rep.Diffs[saleID] = res }, err
	default:
		res, err := r.Auditor.Audit(ctx, saleID)
		return func(rep *Report) { rep.Audits[saleID] = res }, err
	}
}

// sweepOnce also makes the diff that a failover asks for at once; all others
// are the schedule's.
func (r *Reaper) sweepOnce(ctx context.Context, saleID string) (func(*Report), error) {
	swept, err := r.Sweeper.Sweep(ctx, saleID)
	report := func(rep *Report) { rep.Sweeps[saleID] = swept }
	due, dueErr := r.tools.diffAsked(ctx, saleID)
	if !due || dueErr != nil {
		return report, errors.Join(err, dueErr)
	}
	compared, diffErr := r.Differ.Diff(ctx, saleID)
	return func(rep *Report) { report(rep); rep.Diffs[saleID] = compared }, errors.Join(err, diffErr)
}

// eachSale calls do for each sale, a few at once, and waits for all.
func (t *tools) eachSale(ctx context.Context, sales []string, do func(ctx context.Context, saleID string)) {
	slots := make(chan struct{}, salesAtOnce)
	var wg sync.WaitGroup
	for _, id := range sales {
		if ctx.Err() != nil {
			break
		}
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			do(ctx, id)
		})
	}
	wg.Wait()
}
