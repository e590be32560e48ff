package load

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"
)

// Sample is one look at the sale from outside the pipeline.
type Sample struct {
	At       time.Time
	Used     map[string]int // admitted seats by level
	Caps     map[string]int
	Total    int
	TotalCap int
	Free     map[string]int
	// What has not come to rest yet; all zero when the pipeline is quiet.
	Pending, Queued, Held, Undos, Refunds int
}

// quiet reports whether nothing is under way any more.
func (s Sample) quiet() bool { return s.Pending+s.Queued+s.Held+s.Undos+s.Refunds == 0 }

// Options say what crowd comes to which sale.
type Options struct {
	BaseURL, Sale string
	People        []Person
	Levels        []string
	Requests      int
	Rate          float64 // requests per second
	Seed          uint64
	Mix           Mix
	Paying        Paying
	MaxInFlight   int           // requests that wait for an answer at once; 0: 4,096
	SettleWithin  time.Duration // how long the sale may take to come to rest afterwards
	// Probe looks at the caps, cheaply; Rest also at everything that has to come
	// to rest.
	Probe, Rest func(context.Context) (Sample, error)
	Progress    func(Progress) // told about once a second; may be nil
}

// Progress is what a live view shows.
type Progress struct {
	Phase         string // "crowd", "second wave" or "settling"
	Elapsed       time.Duration
	Sent, Total   int
	InFlight      int
	Figures       Figures
	Last          Sample
	Paid, Waiting int // people
}

// Result is what a run came to; Verdict judges it.
type Result struct {
	Figures     Figures        `json:"figures"`
	Crowd       time.Duration  `json:"crowd"` // from the first request to the last
	Drain       time.Duration  `json:"drain"` // from the last request until the pipeline was quiet
	Samples     int            `json:"samples"`
	OverCap     []string       `json:"over_cap"` // samples in which a cap did not hold
	ProbeErrors int            `json:"probe_errors"`
	Waiting     map[string]int `json:"waiting"` // people who still want a seat of the level and would pay
	Late        int            `json:"late_payers"`
	Abandoned   int            `json:"abandoned"`
	Failed      int            `json:"failed_payments"`
	Pressed     int            `json:"pressed_pay"`
	PressErrors int            `json:"press_errors"`
	// Acked are the bookings that an answer named, by the state in which they
	// ended; Unaccounted are those that could not be found again.
	Acked       map[string]int `json:"acked"`
	Unaccounted []string       `json:"unaccounted"`
	Last        Sample         `json:"-"`
	Quiet       bool           `json:"quiet"`
}

// run is one running load test.
type run struct {
	Options
	client *client
	tally  *Tally
	crowd  *crowd
	start  time.Time

	slots  chan struct{}
	jobs   sync.WaitGroup // requests and payments under way
	phase  atomic.Value   // string
	mu     sync.Mutex
	people []state
	rng    *rand.Rand // of payers; under mu
	acked  []acked
	result Result
}

// state is what the generator knows of a person.
type state struct {
	booked  bool // has been answered with a booking
	waiting bool // was told that it is full, and would still pay
	busy    bool // a retry is under way
	tries   int
}

// Run sends the crowd, lets it pay, brings back those who were refused when
// seats return, and waits until everything has come to rest. It fails only if
// it could not do its work; what it found is for Verdict.
func Run(ctx context.Context, o Options) (Result, error) {
	if len(o.People) == 0 || o.Requests < 1 || o.Rate <= 0 {
		return Result{}, errors.New("load: needs people, requests and a rate")
	}
	if o.MaxInFlight == 0 {
		o.MaxInFlight = 4096
	}
	r := &run{
		Options: o, client: newClient(o.BaseURL, o.Sale, min(o.MaxInFlight, 512)), start: time.Now(),
		slots: make(chan struct{}, o.MaxInFlight), people: make([]state, len(o.People)),
		crowd: newCrowd(o.People, o.Levels, o.Mix, o.Seed), rng: rand.New(rand.NewPCG(o.Seed, 2)),
	}
	r.tally = newTally(r.start)
	defer r.client.close()
	watch, stop := context.WithCancel(ctx)
	var watchers sync.WaitGroup
	watchers.Go(func() { r.sample(watch) })
	watchers.Go(func() { r.report(watch) })
	defer watchers.Wait()
	defer stop()

	r.phase.Store("crowd")
	err := r.fire(ctx)
	r.jobs.Wait()
	last := time.Now()
	if err == nil {
		err = r.settle(ctx, last)
	}
	if err == nil {
		err = r.account(ctx)
	}
	stop()
	watchers.Wait()
	r.result.Figures, r.result.Crowd = r.tally.Figures(), last.Sub(r.start)
	r.result.Waiting = r.waitingByLevel()
	return r.result, err
}

// fire sends each request when it is due.
func (r *run) fire(ctx context.Context) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for i := range r.Requests {
		due := r.start.Add(time.Duration(float64(i) / r.Rate * float64(time.Second)))
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
		reply, err := r.client.book(ctx, s)
		<-r.slots
		if err != nil && reply.Outcome == "" {
			reply.Outcome = "error"
		}
		r.tally.add(s.Kind, reply.Outcome, time.Since(due))
		r.follow(ctx, s, reply)
	})
}

// follow does what the person does after the answer.
func (r *run) follow(ctx context.Context, s Shot, reply Reply) {
	if s.Person < 0 || (s.Kind != First && s.Kind != Retry && s.Kind != SameKey) {
		return
	}
	switch reply.Outcome {
	case "201", "200":
		if r.become(s.Person, func(p *state) bool {
			first := !p.booked
			p.booked, p.waiting, p.busy = true, false, false
			return first
		}) {
			r.remember(acked{reply.Booking.ID, s.Person})
			r.decide(ctx, s.Kind, reply.Booking)
		}
	case "level_full", "sold_out":
		r.become(s.Person, func(p *state) bool { p.waiting, p.busy = !p.booked, false; return false })
	case "unavailable", "payment_unavailable", "in_progress", "rate_limited", "error":
		r.retry(ctx, s, reply.RetryAfter)
	default:
		r.become(s.Person, func(p *state) bool { p.busy = false; return false })
	}
}

func (r *run) become(person int, change func(*state) bool) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return change(&r.people[person])
}

// maxTries bounds how often a person who was told to come back does.
const maxTries = 12

// retry sends the same request with the same key after the time that the
// answer named, with jitter.
func (r *run) retry(ctx context.Context, s Shot, after time.Duration) {
	again := r.become(s.Person, func(p *state) bool {
		p.tries++
		if p.booked || p.tries > maxTries {
			p.busy = false
			return false
		}
		return true
	})
	if !again {
		return
	}
	wait := max(after, 500*time.Millisecond) + r.jitter(500*time.Millisecond)
	if !pause(ctx, wait) {
		return
	}
	s.Kind = Retry
	r.send(ctx, s, time.Now())
}

func (r *run) jitter(most time.Duration) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	return time.Duration(r.rng.Int64N(int64(most)))
}

// pause waits; false means that ctx ended first.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// sample looks at the caps ten times a second, as an observer who is not part
// of the pipeline.
func (r *run) sample(ctx context.Context) {
	for pause(ctx, 100*time.Millisecond) {
		s, err := r.Probe(ctx)
		if ctx.Err() != nil {
			return
		}
		r.mu.Lock()
		if err != nil {
			r.result.ProbeErrors++
		} else {
			r.result.Samples++
			r.result.OverCap = append(r.result.OverCap, overCap(s)...)
			r.result.Last = s
		}
		r.mu.Unlock()
	}
}

// overCap names each cap that does not hold in the sample.
func overCap(s Sample) (found []string) {
	for level, used := range s.Used {
		if used > s.Caps[level] || used < 0 || used+s.Free[level] != s.Caps[level] {
			found = append(found, fmt.Sprintf("%s level %s: %d admitted, %d free, cap %d", s.At.Format(time.RFC3339Nano), level, used, s.Free[level], s.Caps[level]))
		}
	}
	if s.Total > s.TotalCap || s.Total < 0 {
		found = append(found, fmt.Sprintf("%s total: %d admitted, cap %d", s.At.Format(time.RFC3339Nano), s.Total, s.TotalCap))
	}
	return found
}

// report tells the live view once a second.
func (r *run) report(ctx context.Context) {
	if r.Progress == nil {
		return
	}
	for pause(ctx, time.Second) {
		p := Progress{Phase: r.phase.Load().(string), Elapsed: time.Since(r.start), Total: r.Requests, InFlight: len(r.slots), Figures: r.tally.Figures()}
		p.Sent = p.Figures.Requests
		r.mu.Lock()
		p.Last, p.Paid = r.result.Last, r.result.Pressed
		for i := range r.people {
			if r.people[i].waiting {
				p.Waiting++
			}
		}
		r.mu.Unlock()
		r.Progress(p)
	}
}
