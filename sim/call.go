package sim

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/holdfast/holdfast/admission/admissiontest"
	"github.com/holdfast/holdfast/ledger"
)

// What callers get from the simulated network.
var (
	errCrashed = errors.New("sim: the process has crashed")
	errFailed  = errors.New("sim: the call failed before it had an effect")
	errLost    = errors.New("sim: the answer was lost")
	errTimeout = errors.New("sim: no answer in time")
)

// answerWithin is how long a caller waits for an answer if its context does not
// end before.
const answerWithin = 8 * time.Second

// callerKey is where a context names a goroutine of a process that may make the
// same call as another one at the same time: turns that look alike would come in
// any order, and a seed would not replay.
type callerKey struct{}

// call is one call of a port on its way through the network: do runs when the
// scheduler says so, perhaps later than the caller is there, perhaps twice.
func call[T any](ctx context.Context, p *process, op, id string, do func(ctx context.Context) (T, error)) (T, error) {
	var none T
	if who, ok := ctx.Value(callerKey{}).(string); ok {
		id += " for the " + who
	}
	v := p.town.sched.stand(p, op, id)
	switch v.kind {
	case crashed:
		return none, errCrashed
	case failBefore:
		return none, fmt.Errorf("%s: %w", op, errFailed)
	case busy:
		return none, fmt.Errorf("%s: %w", op, ledger.ErrBusy)
	case late:
		return arriveLate(ctx, p, v, op, id, do)
	case twice:
		p.town.background(func() { // a copy that the network kept
			time.Sleep(v.delay)
			if p.town.sched.stand(p.town.network, op, id).kind == crashed {
				return // the world has ended
			}
			_, _ = execute(context.WithoutCancel(ctx), p.town, verdict{}, op, do)
		})
	}
	got, err := execute(ctx, p.town, v, op, do)
	if v.kind == slowAnswer && !wait(ctx, v.delay) {
		return none, fmt.Errorf("%s: %w", op, ctx.Err())
	}
	if p.isDead() {
		return none, errCrashed
	}
	if v.kind == loseAnswer {
		return none, fmt.Errorf("%s: %w", op, errLost)
	}
	return got, err
}

// execute runs the call on the world; v may say that the replicas are short.
func execute[T any](ctx context.Context, t *town, v verdict, op string, do func(ctx context.Context) (T, error)) (T, error) {
	t.replicas = v.replicas
	defer func() { t.replicas = admissiontest.NoFault }()
	t.touched = t.touched || writes[op]
	return do(ctx)
}

// writes are the calls after which the auditor looks.
var writes = map[string]bool{"redis.Admit": true, "redis.Undo": true, "redis.Settle": true, "redis.Attach": true, "redis.Resume": true,
	"redis.Reseed": true, "redis.SetCap": true, "redis.Hold": true, "redis.Extend": true, "redis.Promote": true, "redis.Lapse": true,
	"redis.EditSeats": true, "ledger.Apply": true, "ledger.UpdateControl": true, "ledger.TransactWriteItems": true,
	"ledger.PutItem": true, "ledger.UpdateItem": true}

// arriveLate lets the call reach its server after v.delay, whether or not the
// caller still waits then.
func arriveLate[T any](ctx context.Context, p *process, v verdict, op, id string, do func(ctx context.Context) (T, error)) (T, error) {
	type answer struct {
		got T
		err error
	}
	arrived := make(chan answer, 1)
	p.town.background(func() {
		time.Sleep(v.delay)
		if p.town.sched.stand(p.town.network, op, id).kind == crashed {
			return // the world has ended
		}
		got, err := execute(context.WithoutCancel(ctx), p.town, verdict{}, op, do)
		arrived <- answer{got, err}
	})
	patience := time.NewTimer(answerWithin)
	defer patience.Stop()
	var none T
	select {
	case a := <-arrived:
		return a.got, a.err
	case <-ctx.Done():
		return none, fmt.Errorf("%s: %w", op, ctx.Err())
	case <-patience.C:
		return none, fmt.Errorf("%s: %w", op, errTimeout)
	case <-p.dead:
		return none, errCrashed
	}
}

func wait(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// act is a call without an answer but its error.
func act(ctx context.Context, p *process, op, id string, do func(ctx context.Context) error) error {
	_, err := call(ctx, p, op, id, func(ctx context.Context) (struct{}, error) { return struct{}{}, do(ctx) })
	return err
}
