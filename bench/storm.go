package main

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/holdfast/holdfast/admission"
)

// admitter asks for one seat for a candidate: true if it was given.
type admitter func(ctx context.Context, candidate string) (bool, error)

var candidates atomic.Int64 // never used twice in a run

func nextCandidate() string { return candidateName(candidates.Add(1)) }

func candidateName(n int64) string { return "c" + strconv.FormatInt(n, 10) }

// tally is what a storm came to.
type tally struct {
	rate float64 // admissions per second while all callers were busy
	all  float64 // admissions, those included that were under way at the end
}

// storm lets so many callers ask for fresh candidates, each again as soon as it
// was answered. A refusal is an error: the levels of a storm are large enough.
func storm(ctx context.Context, callers int, d time.Duration, admit admitter) (tally, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var done atomic.Int64
	var over atomic.Bool
	var once sync.Once
	var fault error
	var wg sync.WaitGroup
	start := make(chan struct{})
	for range callers {
		wg.Go(func() {
			<-start
			for !over.Load() {
				ok, err := admit(ctx, nextCandidate())
				if unsure(err) {
					stalls.Add(1)
					time.Sleep(time.Millisecond) // as long as a client would at least
					continue
				}
				if err == nil && !ok {
					err = errRefused
				}
				if err != nil {
					once.Do(func() { fault = err; cancel() })
					return
				}
				done.Add(1)
			}
		})
	}
	begin := time.Now()
	close(start)
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
	n, took := done.Load(), time.Since(begin)
	over.Store(true)
	wg.Wait()
	return tally{float64(n) / took.Seconds(), float64(done.Load())}, fault
}

// stalls counts answers of 503: the machine stood still for so long that no
// replica could answer. They are no admissions, and no fault.
var stalls atomic.Int64

func unsure(err error) bool {
	return errors.Is(err, admission.ErrUnacknowledged) || errors.Is(err, admission.ErrUnavailable) || errors.Is(err, admission.ErrUnknown)
}

// alone is one caller, one request after the other: the median latency in
// microseconds.
func alone(ctx context.Context, n int, admit admitter) (float64, error) {
	var took []float64
	for range n {
		begin := time.Now()
		ok, err := admit(ctx, nextCandidate())
		if err != nil {
			return 0, err
		}
		if !ok {
			return 0, errRefused
		}
		took = append(took, float64(time.Since(begin).Microseconds()))
	}
	return median(took), nil
}

// Race is who got a seat when few seats meet many candidates in several tabs.
type Race struct {
	Name    string `json:"name"`
	Seats   int    `json:"seats"`
	Sold    int    `json:"sold"`    // answers that gave a seat
	Twice   int    `json:"twice"`   // candidates who got more than one
	Unsold  int    `json:"unsold"`  // seats that nobody got although all wanted one
	Verdict string `json:"verdict"` // held, overbooked, admitted twice, left unsold
}

// race lets every candidate ask in three tabs at once.
func race(ctx context.Context, name string, seats int, admit admitter) (Race, error) {
	const people, tabs = 300, 3
	r := Race{Name: name, Seats: seats}
	var mu sync.Mutex
	var wg sync.WaitGroup
	var fault error
	got := map[string]int{}
	start := make(chan struct{})
	for range people {
		c := nextCandidate()
		for range tabs {
			wg.Go(func() {
				<-start
				ok, err := admit(ctx, c)
				mu.Lock()
				defer mu.Unlock()
				if err != nil && !unsure(err) { // who was told to come back has no seat
					fault = err
				}
				if ok {
					got[c]++
				}
			})
		}
	}
	close(start)
	wg.Wait()
	for _, n := range got {
		r.Sold += n
		if n > 1 {
			r.Twice++
		}
	}
	r.Unsold = max(0, seats-r.Sold)
	r.Verdict = r.judge()
	return r, fault
}

func (r Race) judge() string {
	switch {
	case r.Sold > r.Seats:
		return "overbooked"
	case r.Twice > 0:
		return "admitted twice"
	case r.Unsold > 0:
		return "left unsold"
	}
	return "held"
}
