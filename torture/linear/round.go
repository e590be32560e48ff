package linear

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/holdfast/holdfast/admission/redis"
)

// Fault is what befalls the deployment in the middle of a round.
type Fault int

// The faults of a round.
const (
	Kill     Fault = iota // kill -9 of the primary, promotion of the replica
	HeldLine              // the replica is cut off, then the primary dies: a suffix is lost
	Hole                  // bytes of the replication vanish, the line breaks, the primary lives
	Zombie                // the primary freezes, is deposed, and wakes up beside its successor
)

// String is the fault's name.
func (f Fault) String() string { return [...]string{"kill", "held line", "hole", "zombie"}[f] }

// Plan says what one round is like.
type Plan struct {
	Fault          Fault
	Sales, Clients int  // sales at once; clients of each
	GroupCommit    bool // admissions in batches (protocol.md 3.11), else one by one
	Ignore         bool // take every admission as promised, whatever the replica says
	Seed           uint64
}

// Verdict is what a round, or several, came to.
type Verdict struct {
	Histories, Illegal, Undecided int
	Ops                           int
	ByResult                      map[string]int
	LostBytes                     int           // of the replication
	Healed                        time.Duration // from the fault to the first admission that was acknowledged after it; the worst
	Worst                         []Op          // an illegal history, if there is one
}

// Add sums two verdicts.
func (v Verdict) Add(w Verdict) Verdict {
	by := map[string]int{}
	for _, m := range []map[string]int{v.ByResult, w.ByResult} {
		for name, n := range m {
			by[name] += n
		}
	}
	sum := Verdict{Histories: v.Histories + w.Histories, Illegal: v.Illegal + w.Illegal, Undecided: v.Undecided + w.Undecided,
		Ops: v.Ops + w.Ops, ByResult: by, LostBytes: v.LostBytes + w.LostBytes, Healed: max(v.Healed, w.Healed), Worst: v.Worst}
	if sum.Worst == nil {
		sum.Worst = w.Worst
	}
	return sum
}

// checkWithin bounds the search in one history; what it can't decide is counted.
const checkWithin = time.Minute

// Run makes one round on servers of its own: clients, the fault, healing, a last
// look at everything, the check. The error is about the round, not its verdict.
func Run(ctx context.Context, p Plan) (v Verdict, err error) {
	d, err := Deploy(ctx)
	if err != nil {
		return v, err
	}
	defer func() { err = errors.Join(err, d.Stop()) }()
	store, err := open(d, p.Ignore, 200*time.Millisecond)
	if err != nil {
		return v, err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	r := &round{plan: p, deployment: d, store: store, changed: make(chan struct{})}
	if err := r.stage(ctx); err != nil {
		return v, err
	}
	if err := r.play(ctx); err != nil {
		return v, fmt.Errorf("linear: round %q, seed %d: %w", p.Fault, p.Seed, err)
	}
	return r.judge(), nil
}

type round struct {
	plan       Plan
	deployment *Deployment
	store      *redis.Store
	sales      []*bench
	fault      time.Time
	healed     time.Duration

	mu      sync.Mutex
	ops     int
	held    map[string]int // by sale, since the last mark
	unsure  int            // since the last mark
	changed chan struct{}  // closed and replaced at every operation
}

// stage installs the sales.
func (r *round) stage(ctx context.Context) (err error) {
	patient, err := open(r.deployment, false, 5*time.Second)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, patient.Close()) }()
	start := time.Now()
	committer := redis.NewCommitter(r.store, redis.CommitOptions{})
	for i := range r.plan.Sales {
		b := &bench{id: fmt.Sprintf("s%d", i), store: r.store, door: r.store, history: NewHistory(start)}
		if r.plan.GroupCommit {
			b.door = committer
		}
		b.seen = func(o Op) { r.note(b.id, o) }
		if err := b.install(ctx, patient); err != nil {
			return err
		}
		r.sales = append(r.sales, b)
	}
	return nil
}

// play runs the clients through the fault. Nothing is timed: each step waits for
// what it needs to have happened.
func (r *round) play(ctx context.Context) error {
	crowd, leave := context.WithCancel(ctx)
	var clients sync.WaitGroup
	stop := func() { leave(); clients.Wait() }
	defer stop()
	for i, b := range r.sales {
		for j := range r.plan.Clients {
			c := &client{id: j, sale: b, rng: rand.New(rand.NewPCG(r.plan.Seed, uint64(i*r.plan.Clients+j)))}
			clients.Go(func() { c.run(crowd) })
		}
	}
	if err := r.more(ctx, 12*r.plan.Clients*r.plan.Sales); err != nil {
		return err
	}
	if err := r.strike(ctx); err != nil {
		return err
	}
	if err := r.heal(ctx); err != nil {
		return err
	}
	if err := r.more(ctx, 4*r.plan.Clients*r.plan.Sales); err != nil {
		return err
	}
	stop()
	for _, b := range r.sales {
		b.lookAtAll(ctx)
	}
	return nil
}

// heal waits until every sale admits again. Where the acknowledgement is ignored
// none may ever: a release that was lost with the primary leaves its seat with
// somebody who has gone.
func (r *round) heal(ctx context.Context) error {
	if r.plan.Ignore {
		return nil
	}
	r.mark()
	if err := r.until(ctx, "an acknowledged admission", func() bool { return len(r.held) > 0 }); err != nil {
		return err
	}
	r.healed = time.Since(r.fault)
	return r.until(ctx, "an acknowledged admission in every sale", func() bool { return len(r.held) == len(r.sales) })
}

// strike makes the fault happen and heals it.
func (r *round) strike(ctx context.Context) error {
	d := r.deployment
	r.fault = time.Now()
	few := 3 * r.plan.Sales
	switch r.plan.Fault {
	case Kill:
		if err := d.Primary().Kill(); err != nil {
			return err
		}
	case HeldLine:
		d.Line().Set(Hold)
		if err := r.losing(ctx); err != nil {
			return err
		}
		if err := d.Primary().Kill(); err != nil {
			return err
		}
	case Hole:
		d.Line().Set(Discard)
		err := r.losing(ctx)
		d.Line().Set(Open)
		return err
	case Zombie:
		return r.zombie(ctx, few)
	}
	if err := d.Promote(ctx); err != nil {
		return err
	}
	return d.Follow(ctx)
}

// losing waits until what a failover would lose has been answered: promises in
// most sales if the acknowledgement is ignored, else doubts.
func (r *round) losing(ctx context.Context) error {
	r.mark()
	most := 1 + len(r.sales)/2
	if r.plan.Ignore {
		return r.until(ctx, "admissions that no replica has", func() bool { return len(r.held) >= most })
	}
	return r.until(ctx, "answers that stay open", func() bool { return r.unsure >= most })
}

// zombie deposes a frozen primary, wakes it, and lets those who still have
// connections to it go on until it dies for good.
func (r *round) zombie(ctx context.Context, few int) error {
	old := r.deployment.Primary()
	if err := old.Pause(); err != nil {
		return err
	}
	if err := r.deployment.Promote(ctx); err != nil {
		return err
	}
	if err := old.Resume(); err != nil {
		return err
	}
	if err := r.deployment.Follow(ctx); err != nil {
		return err
	}
	if err := r.more(ctx, few); err != nil {
		return err
	}
	return old.Kill()
}

func (r *round) judge() Verdict {
	v := Verdict{ByResult: map[string]int{}, Healed: r.healed}
	for _, p := range r.deployment.proxies {
		v.LostBytes += p.Lost()
	}
	for _, b := range r.sales {
		ops := b.history.Ops()
		v.Histories, v.Ops = v.Histories+1, v.Ops+len(ops)
		for _, o := range ops {
			v.ByResult[o.Result.String()]++
		}
		switch Check(onSale, ops, r.plan.Fault == Zombie, checkWithin) {
		case porcupine.Illegal:
			v.Illegal++
			v.Worst = ops
		case porcupine.Unknown:
			v.Undecided++
		}
	}
	return v
}

func (r *round) note(sale string, o Op) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ops++
	switch {
	case o.Result == Held && r.held != nil:
		r.held[sale]++
	case o.open():
		r.unsure++
	}
	close(r.changed)
	r.changed = make(chan struct{})
}

func (r *round) mark() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.held, r.unsure = map[string]int{}, 0
}

// more waits for n more operations.
func (r *round) more(ctx context.Context, n int) error {
	r.mu.Lock()
	want := r.ops + n
	r.mu.Unlock()
	return r.until(ctx, fmt.Sprintf("%d more operations", n), func() bool { return r.ops >= want })
}

// until waits for a condition on what the clients have seen.
func (r *round) until(ctx context.Context, what string, done func() bool) error {
	for {
		r.mu.Lock()
		ok, changed := done(), r.changed
		r.mu.Unlock()
		if ok {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("waiting for %s: %w", what, ctx.Err())
		}
	}
}
