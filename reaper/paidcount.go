package reaper

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"github.com/holdfast/holdfast/admission"
)

// paid compares the numbers of paid seats, of which the public status is made,
// with the records, and puts them right: a process of an older build may have
// settled without counting. They are compared only if nobody counted between the
// reading before the walk over the records and one after it, and corrected only if
// nobody has since: what is at work now is the next run's.
func (d *diff) paid(ctx context.Context, records map[string]held) error {
	have, want := paidOf(d.status), paidIn(records, d.status)
	if samePaid(have, want) {
		return nil
	}
	now, err := d.Redis.Status(ctx, d.control.Sale, d.control.Plan.LevelNames())
	if err != nil {
		return fmt.Errorf("reaper: read the state of sale %s again: %w", d.control.Sale, err)
	}
	if now.Gen != d.status.Gen || !samePaid(have, paidOf(now)) {
		return nil
	}
	if d.apply {
		version, err := d.Redis.CorrectPaid(ctx, d.control.Sale, now.Gen, have, want)
		if errors.Is(err, admission.ErrMoved) || errors.Is(err, admission.ErrStaleGen) {
			return nil
		}
		if err != nil {
			d.failed(ctx, "correct the numbers of paid seats", d.control.Sale, err)
		}
		d.Steps.Notify(d.control.Sale, version)
		d.findings.found(KindPaid, d.control.Sale, err == nil)
		return nil
	}
	d.findings.found(KindPaid, d.control.Sale, false)
	return nil
}

func samePaid(a, b admission.PaidCounts) bool {
	return a.Total == b.Total && maps.Equal(a.Levels, b.Levels)
}

func paidOf(st admission.Status) admission.PaidCounts {
	n := admission.PaidCounts{Total: st.Paid, Levels: map[string]int{}}
	for _, l := range st.Levels {
		n.Levels[l.Name] = l.Paid
	}
	return n
}

// paidIn counts the seats of the paid records, for the levels that the status has.
func paidIn(records map[string]held, st admission.Status) admission.PaidCounts {
	n := admission.PaidCounts{Levels: map[string]int{}}
	for _, l := range st.Levels {
		n.Levels[l.Name] = 0
	}
	for _, h := range records {
		if h.stage != admission.StagePaid {
			continue
		}
		n.Total += h.seats
		if _, ok := n.Levels[h.level]; ok {
			n.Levels[h.level] += h.seats
		}
	}
	return n
}
