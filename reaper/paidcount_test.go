package reaper_test

import (
	"context"
	"testing"
	"time"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/reaper"
)

// TestPaidCountsFollowTheRecords, on a real server: a worker of an older build
// settled and counted nothing, so the level would never say that it is sold out.
func TestPaidCountsFollowTheRecords(t *testing.T) {
	t.Parallel()
	w := newTown(t, 3)
	_, err := w.reaper.Rebuilder.Rebuild(w.ctx(), townSale, reaper.RebuildOptions{})
	w.must(err)
	for i := range 3 {
		w.buy(i)
	}
	counts := func() (total, level int) {
		st, err := w.redis.Status(w.ctx(), townSale, []string{"N1"})
		w.must(err)
		return st.Paid, st.Levels[0].Paid
	}
	w.must(w.admin.HSet(w.ctx(), "{"+townSale+"}:adm:cfg", "paid", 1, "paid:N1", 1).Err())
	_, before, err := w.redis.SeatVersion(w.ctx(), townSale)
	w.must(err)
	dry, err := w.reaper.Repairer.Repair(w.ctx(), townSale, true)
	w.must(err)
	if total, level := counts(); total != 1 || level != 1 || dry.Drift[reaper.KindPaid] == nil || dry.Drift[reaper.KindPaid].Repaired != 0 {
		t.Errorf("a dry run: %d and %d paid, %+v", total, level, dry.Drift)
	}
	d, err := w.reaper.Differ.Diff(w.ctx(), townSale)
	w.must(err)
	if total, level := counts(); total != 3 || level != 3 || d.Drift[reaper.KindPaid] == nil || d.Drift[reaper.KindPaid].Repaired != 1 || d.Open() != 0 {
		t.Errorf("%d and %d paid, drift %+v", total, level, d.Drift)
	}
	if _, after, err := w.redis.SeatVersion(w.ctx(), townSale); err != nil || after <= before {
		t.Errorf("version %d after %d, %v: nobody publishes that it is sold out", after, before, err)
	}
	w.clean()
}

// buy books a seat, pays it, and lets the ledger and Redis know.
func (w *town) buy(i int) {
	w.t.Helper()
	t, err := ledger.Hold(w.admit("paid", i), "worker", time.Now())
	w.must(err)
	w.must(w.store.Apply(w.ctx(), t))
	b := *t.Create
	t, err = ledger.Confirm(b, ledger.Capture{Key: b.Payment, AmountMinor: b.Price.AmountMinor, Currency: b.Price.Currency, At: time.Now()}, "worker", time.Now())
	w.must(err)
	w.must(w.store.Apply(w.ctx(), t))
	_, err = w.redis.Settle(w.ctx(), townSale, b.ID, b.Candidate, true)
	w.must(err)
}

// counting shows other numbers of paid seats than Redis has, and counts the
// corrections.
type counting struct {
	reaper.Redis
	paid      []int // of each reading; the last one stays
	corrected int
	err       error
}

func (c *counting) Status(ctx context.Context, saleID string, levels []string) (admission.Status, error) {
	st, err := c.Redis.Status(ctx, saleID, levels)
	st.Paid, st.Levels[0].Paid = c.paid[0], c.paid[0]
	if len(c.paid) > 1 {
		c.paid = c.paid[1:]
	}
	return st, err
}

func (c *counting) CorrectPaid(context.Context, string, int64, admission.PaidCounts, admission.PaidCounts) (int64, error) {
	c.corrected++
	return 0, c.err
}

// TestPaidCountsThatMoveAreLeft: numbers that change while they are compared are
// those of a sale at work, and no drift.
func TestPaidCountsThatMoveAreLeft(t *testing.T) {
	for name, c := range map[string]struct {
		paid        []int
		err         error
		corrections int
		drift       bool
	}{
		"they stand":                   {[]int{7}, nil, 1, true},
		"counted during the walk":      {[]int{7, 8}, nil, 0, false},
		"counted after it":             {[]int{7}, admission.ErrMoved, 1, false},
		"rebuilt after it":             {[]int{7}, admission.ErrStaleGen, 1, false},
		"they can't be corrected now":  {[]int{7}, admission.ErrUnknown, 1, true},
		"they are those of the record": {[]int{1}, nil, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.paid("c1", "N1")
			redis := &counting{Redis: r.Redis, paid: c.paid, err: c.err}
			made, err := reaper.New(reaper.Options{Steps: r.Steps, Redis: redis, Health: r})
			r.must(err)
			d, err := made.Differ.Diff(t.Context(), saleID)
			r.must(err)
			if redis.corrected != c.corrections || (d.Drift[reaper.KindPaid] != nil) != c.drift || (d.Failed > 0) != (c.err == admission.ErrUnknown) {
				t.Errorf("%d corrections, %d failed, drift %+v", redis.corrected, d.Failed, d.Drift)
			}
		})
	}
}
