package load

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"
)

// run is one running load test.
type run struct {
	Options
	client *client
	tally  *Tally
	crowd  *crowd
	start  time.Time
	fired  time.Time // when the last request of the crowd was sent
	until  time.Time // when waiting for rest ends

	slots  chan struct{}
	jobs   sync.WaitGroup // requests and payments under way
	phase  atomic.Value   // string
	mu     sync.Mutex
	people []state
	rng    *rand.Rand // of payers; under mu
	acked  []acked
	pay    pace // under mu
	hall   *hall
	result Result
	rest   func(context.Context) (Sample, error) // as the caller gave it
}

// Run sends the crowd, lets it pay, brings back those who were refused when
// seats return, and waits until everything has come to rest. It fails only if
// it could not do its work; what it found is for Judge. If ctx ends in the
// middle the result says what was until then.
func Run(ctx context.Context, o Options) (Result, error) {
	if len(o.People) == 0 || o.profile().Requests() < 1 {
		return Result{}, errors.New("load: needs people, requests and a rate")
	}
	if o.MaxInFlight == 0 {
		o.MaxInFlight = 4096
	}
	r := &run{
		Options: o, client: newClient(o.BaseURL, o.Sale, min(o.MaxInFlight, 512)),
		slots: make(chan struct{}, o.MaxInFlight), people: make([]state, len(o.People)),
		crowd: newCrowd(o.People, o.Levels, o.Mix, o.Seed), rng: rand.New(rand.NewPCG(o.Seed, 2)),
	}
	defer r.client.close()
	if o.Paying.PerSecond > 0 {
		r.pay.every = time.Duration(float64(time.Second) / o.Paying.PerSecond)
	}
	if o.Seats != nil {
		var err error
		if r.hall, err = openHall(ctx, r.client, *o.Seats, o.Seed); err != nil {
			return Result{}, err
		}
	}
	r.start = time.Now()
	r.tally = newTally(r.start)
	r.result.Watched = o.Probe != nil && o.Rest != nil
	if o.Rest != nil {
		r.Rest = r.pipeline
	}
	r.rest = o.Rest
	err := r.all(ctx)
	r.result.Figures, r.result.Series = r.tally.Figures(), r.tally.Series()
	r.result.Waiting = r.waitingByLevel()
	if r.hall != nil {
		r.result.Seats = r.hall.result()
	}
	return r.result, err
}

// all is the run from the first request to the last question.
func (r *run) all(ctx context.Context) error {
	watch, stop := context.WithCancel(ctx)
	var watchers sync.WaitGroup
	defer watchers.Wait()
	defer stop()
	watchers.Go(func() { r.sample(watch) })
	watchers.Go(func() { r.report(watch) })
	if r.hall != nil {
		watchers.Go(func() { r.hall.view(watch) })
		watchers.Go(func() { r.hall.probe(watch) })
	}
	r.phase.Store("crowd")
	err := r.fire(ctx)
	r.fired = time.Now()
	r.jobs.Wait()
	last := time.Now()
	r.result.Crowd = last.Sub(r.start)
	r.until = last.Add(r.SettleWithin)
	if err == nil && r.Rest != nil {
		err = r.settle(ctx, last)
	}
	if err == nil {
		r.phase.Store("asking")
		err = r.account(ctx)
	}
	if err == nil && r.hall != nil {
		err = r.hall.compare(ctx, r)
	}
	return err
}

// fire sends each request when it is due.
func (r *run) fire(ctx context.Context) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	profile := r.profile()
	for i := range profile.Requests() {
		due := r.start.Add(profile.Due(i))
		timer.Reset(time.Until(due))
		select {
		case <-timer.C:
		case <-ctx.Done():
			return ctx.Err()
		}
		r.send(ctx, r.crowd.draw(), due)
	}
	return nil
}

// send sends one request in a goroutine of its own. If too many wait for an
// answer it waits too, and the latency, counted from due, shows it.
func (r *run) send(ctx context.Context, s Shot, due time.Time) {
	r.slots <- struct{}{}
	r.jobs.Go(func() {
		if r.hall != nil {
			r.sit(ctx, s, due)
			return
		}
		reply, err := r.client.book(ctx, s)
		<-r.slots
		r.answered(s, reply, err, due)
		r.follow(ctx, s, reply)
	})
}

func (r *run) answered(s Shot, reply Reply, err error, due time.Time) {
	if err != nil && reply.Outcome == "" {
		reply.Outcome = "error"
	}
	r.tally.add(s.Kind, reply.Outcome, due, time.Since(due))
}
