package reaper

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/holdfast/holdfast/ledger"
)

// summary counts, and lists what waits to be brought to its end.
func (l *look) summary(ctx context.Context) error {
	r := &l.result
	r.Bookings = map[string]int{}
	for id, b := range l.snapshot.Bookings {
		r.Bookings[string(b.State)]++
		if b.UndoOwed {
			r.work(OpenWork{"undo", id, "released as " + string(b.Reason) + ", its seats are owed to Redis", b.ReleasedAt})
		}
	}
	for k, p := range l.snapshot.Payments {
		switch {
		case p.Resolution == ledger.Review:
			r.work(OpenWork{"review", k.String(), p.Reason, p.At})
		case p.Refund == ledger.RefundDue || p.Refund == ledger.RefundSent:
			r.work(OpenWork{"refund", k.String(), string(p.Refund) + ": " + p.Reason, p.At})
		}
	}
	if v := l.snapshot.Redis; v != nil {
		for _, p := range v.Pending {
			r.work(OpenWork{"pending", p.BookingID, "not known to be in the ledger", p.At})
		}
	}
	err := l.store.Parked(ctx, l.control.Sale, func(it ledger.InboxItem) error {
		if !it.Done {
			r.work(OpenWork{"inbox", it.ID, it.Reason, it.At})
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("reaper: the audit of sale %s can't read the inbox: %w", l.control.Sale, err)
	}
	slices.SortFunc(r.Work, func(a, b OpenWork) int { return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.ID, b.ID)) })
	return nil
}
