package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"time"

	"github.com/holdfast/holdfast/load"
	"github.com/holdfast/holdfast/reaper"
)

// plan is what one torture is like.
type plan struct {
	duration time.Duration // of crowd and blows
	rate     float64       // booking requests per second
	seed     uint64
	report   string // folder for report.json and timeline.svg; "": none

	then func(context.Context, *watch, report) error // after a verdict without faults, while the town stands
}

// hold is short, so that a run sees holds end, late money and refunds.
const hold = 6 * time.Second

// report is what a run leaves behind.
type report struct {
	Command        string             `json:"command"`
	Seed           uint64             `json:"seed"`
	Result         load.Result        `json:"result"`
	Checks         []load.Check       `json:"checks"`
	Audit          reaper.AuditResult `json:"audit"`
	Blows          []blow             `json:"blows"`
	Failovers      int                `json:"failovers"`
	Faults         map[string]int     `json:"faults"`
	AmbiguousSends int                `json:"ambiguous_sends"`
	LostBytes      int                `json:"lost_bytes"`    // of the replication, in proxies between primary and replica
	WorstSilence   time.Duration      `json:"worst_silence"` // without an admission, because of a blow
	WorstBlow      string             `json:"worst_blow"`
	Unavailable    float64            `json:"unavailable_share_during_failovers"`
	DuringFailover int                `json:"requests_during_failovers"`

	answers []answer
}

// torture runs the whole: town, sale, crowd and nemesis, healing, verdict. The
// error is not nil unless every check holds.
func torture(ctx context.Context, p plan, out io.Writer) (r report, err error) {
	fmt.Fprintln(out, "starting Redis with Sentinel, queue, table, gateway, two ingresses, two workers, a reaper ...")
	t, err := openTown(ctx, p.seed, map[string]string{"HOLDFAST_SWEEP_EVERY": "1s", "HOLDFAST_DIFF_EVERY": "5s"})
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, t.close(context.WithoutCancel(ctx))) }()
	requests := max(1, int(p.rate*p.duration.Seconds()))
	s, err := newSale(max(10, requests*4/5), p.seed)
	if err != nil {
		return r, err
	}
	if err := s.open(ctx, t, hold); err != nil {
		return r, err
	}
	h, err := t.house(ctx)
	if err != nil {
		return r, err
	}
	w := &watch{t, h, s}
	defer func() { _ = h.Close(context.WithoutCancel(ctx)) }() // reading only: nothing is lost with it
	fmt.Fprintf(out, "%d people, %d seats, %d requests at %.0f/s, seed %d\n", len(s.people), s.total, requests, p.rate, p.seed)
	r, err = w.attack(ctx, p, requests, out)
	if err != nil {
		return r, fmt.Errorf("%w\nthe end of the log:\n%s", err, t.logTail())
	}
	if err := r.write(p, out); err != nil {
		return r, err
	}
	if p.report != "" {
		if err := t.keepLog(p.report); err != nil {
			return r, err
		}
	}
	if !load.Passed(r.Checks) {
		return r, fmt.Errorf("the torture found something; the end of the log:\n%s", t.logTail())
	}
	if p.then != nil {
		return r, p.then(ctx, w, r)
	}
	return r, nil
}

// attack lets crowd and nemesis at the town, and judges when all is at rest.
func (w *watch) attack(ctx context.Context, p plan, requests int, out io.Writer) (report, error) {
	n := &nemesis{town: w.town, rng: rand.New(rand.NewPCG(p.seed, 4))}
	during, stop := context.WithTimeout(ctx, p.duration)
	defer stop()
	struck := make(chan error, 1)
	w.town.weather.set(rough)
	go func() {
		err := n.run(during)
		w.town.weather.set(calm)
		struck <- err
	}()
	result, err := load.Run(ctx, load.Options{
		BaseURL: w.town.balancer.url, Sale: saleID, People: w.sale.people, Levels: levels, Requests: requests, Rate: p.rate, Seed: p.seed,
		Mix: load.DefaultMix, Paying: load.DefaultPaying, SettleWithin: 5 * time.Minute, Probe: w.probe, Rest: w.rest, Progress: load.View(out),
	})
	stop()
	if err := errors.Join(err, <-struck); err != nil {
		return report{}, err
	}
	r := report{Command: fmt.Sprintf("go run ./torture -duration %v -rate %.0f -seed %d", p.duration, p.rate, p.seed), Seed: p.seed, Result: result, Blows: n.blows, LostBytes: n.lostBytes, answers: w.town.balancer.seen()}
	r.Checks, r.Audit, err = w.judge(ctx, result)
	r.measure()
	r.Faults, r.AmbiguousSends = w.town.weather.counts()
	return r, err
}

func (r *report) measure() {
	for _, b := range r.Blows {
		r.Failovers += b.Failovers
		if after, ok := silence(b, r.answers); ok && after > r.WorstSilence {
			r.WorstSilence, r.WorstBlow = after, b.Name
		}
	}
	r.Unavailable, r.DuringFailover = unavailableShare(r.Blows, r.answers)
}
