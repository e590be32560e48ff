package reaper_test

import (
	"context"
	"testing"
	"time"

	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/reaper"
)

// bookedAtTheEnd has a booking under way that began with the last second of the sale.
func bookedAtTheEnd(r *rig) {
	r.Advance(-holdIsOver)
	r.Book("c1", "N1", r.Page)
	r.Advance(holdIsOver)
}

// differs has Redis hold a booking that the ledger never saw.
func differs(r *rig) {
	r.Advance(-holdIsOver)
	b := r.Book("c1", "N1", r.Page)
	_, err := r.Redis.Settle(r.t.Context(), saleID, b.ID, "c1", false)
	r.must(err)
	r.Advance(holdIsOver)
}

// TestLoopLeavesASaleAtRest: a sale that is over, and in which nothing goes on, is
// looked at slowly; what shows life ends that. An hour has about 720 turns.
func TestLoopLeavesASaleAtRest(t *testing.T) {
	type hour struct{ sweeps, diffs int }
	cases := map[string]struct {
		at            time.Duration // after the close
		before        func(*rig)
		then          func(*rig) // after the first hour
		first, second hour
	}{
		"selling":                {at: -3 * time.Hour, first: hour{720, 12}, second: hour{720, 12}},
		"its last hold may run":  {at: holdIsOver - time.Hour, first: hour{720, 12}, second: hour{60, 1}},
		"at rest":                {at: time.Hour, first: hour{60, 1}, second: hour{60, 1}},
		"a booking is under way": {at: holdIsOver - time.Second, before: bookedAtTheEnd, first: hour{50 + 56, 1}, second: hour{60, 1}},
		"a difference stays":     {at: holdIsOver - time.Second, before: differs, first: hour{60, 12}, second: hour{60, 12}},
		"then a failover":        {at: time.Hour, first: hour{60, 1}, then: func(r *rig) { r.promote("two", true) }, second: hour{60, 2}},
		"then open again": {at: time.Hour, first: hour{60, 1}, second: hour{710, 12}, then: func(r *rig) {
			r.Control(func(c *ledger.Control) { c.Plan.ClosesAt = r.Now().Add(24 * time.Hour) })
		}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.Advance(24*time.Hour + c.at)
			if c.before != nil {
				c.before(r)
			}
			var passed hour
			check := func(want hour) {
				t.Helper()
				got := hour{r.Store.Calls()["DueHolds"] - passed.sweeps, r.Redis.Calls("ScanRecords") - passed.diffs}
				passed = hour{passed.sweeps + got.sweeps, passed.diffs + got.diffs}
				if !near(got.sweeps, want.sweeps) || got.diffs != want.diffs {
					t.Errorf("%+v in an hour, not %+v", got, want)
				}
			}
			r.hours(func() {
				check(c.first)
				if c.then != nil {
					c.then(r)
				}
			}, func() { check(c.second) })
		})
	}
}

// near is within a tenth.
func near(got, want int) bool { return got >= want-want/10 && got <= want+want/10 }

// hours runs one loop on the world's clock and calls each after one more hour.
func (r *rig) hours(each ...func()) {
	ctx, cancel := context.WithCancel(r.t.Context())
	defer cancel()
	next := r.Now().Add(time.Hour)
	made, err := reaper.New(reaper.Options{Steps: r.Steps, Redis: r.Redis, Health: r, Ages: r.ages, Wait: func(_ context.Context, d time.Duration) error {
		r.Advance(d)
		if r.Now().Before(next) {
			return ctx.Err()
		}
		each[0]()
		if each, next = each[1:], next.Add(time.Hour); len(each) == 0 {
			cancel()
		}
		return ctx.Err()
	}})
	r.must(err)
	made.Loop(reaper.LoopOptions{Jitter: func() float64 { return 0.5 }}).Run(ctx)
}

// TestRunScheduledLeavesOutWhatRests: an hour of a schedule that sweeps each
// minute and compares every five, each time in a process of its own.
func TestRunScheduledLeavesOutWhatRests(t *testing.T) {
	for name, c := range map[string]struct {
		at     time.Duration // after the close
		before func(*rig)
		named  []string
		want   int
	}{
		"selling":            {at: -3 * time.Hour, want: 12},
		"at rest":            {at: time.Hour, want: 1},
		"at rest, and named": {at: time.Hour, named: []string{saleID}, want: 12},
		"a difference stays": {at: holdIsOver - time.Second, before: differs, want: 12},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.Advance(24*time.Hour + c.at)
			if c.before != nil {
				c.before(r)
			}
			for minute := range 60 {
				if minute%5 == 0 {
					_, err := r.another().RunScheduled(t.Context(), reaper.PassDiff, c.named...)
					r.must(err)
				}
				_, err := r.another().RunScheduled(t.Context(), reaper.PassSweep, c.named...)
				r.must(err)
				r.Advance(time.Minute)
			}
			if got := r.Redis.Calls("ScanRecords"); got != c.want {
				t.Errorf("%d diffs in an hour, not %d", got, c.want)
			}
		})
	}
}

// TestOldSalesAreComparedLessOften: the longer a sale is over the longer is the way
// to its next comparison, up to a day; a failover asks for one at once.
func TestOldSalesAreComparedLessOften(t *testing.T) {
	const day = 24 * time.Hour
	for name, c := range map[string]struct {
		at   time.Duration // after the close
		want int           // hours
	}{"an hour ago": {time.Hour, 1}, "a day": {day, 2}, "five days": {5 * day, 6}, "a year": {365 * day, 24}} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.Advance(day + c.at)
			pass := func(which reaper.Pass) int {
				before := r.Redis.Calls("ScanRecords")
				_, err := r.another().RunScheduled(t.Context(), which)
				r.must(err)
				return r.Redis.Calls("ScanRecords") - before
			}
			pass(reaper.PassSweep)
			pass(reaper.PassDiff)
			hours := 1
			for r.Advance(time.Hour); pass(reaper.PassDiff) == 0 && hours < 100; hours++ {
				r.Advance(time.Hour)
			}
			if hours != c.want {
				t.Errorf("compared after %d hours, want %d", hours, c.want)
			}
			r.promote("two", true)
			pass(reaper.PassSweep)
			if pass(reaper.PassDiff) != 1 {
				t.Error("not compared after a failover")
			}
		})
	}
}
