package ledgertest

import (
	"slices"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/holdfast/holdfast/ledger"
)

// held is all that a store holds of a sale, in an order that compares.
type held struct {
	Bookings   map[string]ledger.Booking
	Candidates map[string]string
	Seats      map[string]string
	Payments   map[ledger.PaymentKey]ledger.PaymentRecord
	Roster     map[string]ledger.RosterRow
}

// contents scans theSale.
func contents(w *world, s ledger.Store) held {
	w.Helper()
	return contentsOf(w, s, theSale)
}

func contentsOf(w *world, s ledger.Store, saleID string) held {
	w.Helper()
	h := held{map[string]ledger.Booking{}, map[string]string{}, map[string]string{}, map[ledger.PaymentKey]ledger.PaymentRecord{}, map[string]ledger.RosterRow{}}
	err := s.Scan(w.ctx, saleID, ledger.Visitor{
		Booking:   func(b ledger.Booking) error { return once(w, h.Bookings, b.ID, b) },
		Candidate: func(c, id string) error { return once(w, h.Candidates, c, id) },
		Seat:      func(token, id string) error { return once(w, h.Seats, token, id) },
		Payment:   func(p ledger.PaymentRecord) error { return once(w, h.Payments, p.Key, p) },
		Roster: func(r ledger.RosterRow) error {
			if len(r.Levels) == 0 {
				r.Levels = nil
			}
			return once(w, h.Roster, r.Candidate, r)
		},
	})
	if err != nil {
		w.Fatalf("scan: %v", err)
	}
	return h
}

func once[K comparable, V any](w *world, m map[K]V, k K, v V) error {
	if _, twice := m[k]; twice {
		w.Errorf("the scan met %v twice", k)
	}
	m[k] = v
	return nil
}

// listings are the three proposals of a sale, sorted.
type listings struct{ Holds, Undos, Refunds []string }

func listed(w *world, s ledger.Store, cut time.Time) listings {
	w.Helper()
	var l listings
	into := func(to *[]string) func(string) error {
		return func(id string) error { *to = append(*to, id); return nil }
	}
	for _, err := range []error{
		s.DueHolds(w.ctx, theSale, cut, into(&l.Holds)),
		s.OwedUndos(w.ctx, theSale, into(&l.Undos)),
		s.DueRefunds(w.ctx, theSale, func(k ledger.PaymentKey) error { return into(&l.Refunds)(k.String()) }),
	} {
		if err != nil {
			w.Fatalf("list: %v", err)
		}
	}
	for _, ids := range [][]string{l.Holds, l.Undos, l.Refunds} {
		slices.SortFunc(ids, strings.Compare)
	}
	return l
}

// lists waits until the store proposes what the in-memory one does: indexes
// may lag (protocol.md 1.7).
func (w *world) lists(cut time.Time) listings {
	w.Helper()
	want := listed(w, w.oracle, cut)
	const patience = time.Minute
	deadline, tick := time.After(patience), time.NewTicker(5*time.Millisecond)
	defer tick.Stop()
	for {
		diff := cmp.Diff(want, listed(w, w.store, cut))
		if diff == "" {
			return want
		}
		select {
		case <-tick.C:
		case <-deadline:
			w.Fatalf("after %v the listings still differ (-want +got):\n%s", patience, diff)
		}
	}
}
