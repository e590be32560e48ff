package ledgertest

import (
	"fmt"
	"slices"
	"sync"

	"github.com/google/go-cmp/cmp"

	"github.com/holdfast/holdfast/ledger"
)

// keepingTests: rosters, published status and the inbox.
var keepingTests = []suiteTest{
	{"a roster of 5,000 rows, put twice, then cut", func(w *world) {
		rows := make([]ledger.RosterRow, 5000)
		for n := range rows {
			rows[n] = ledger.RosterRow{Candidate: fmt.Sprintf("c%05d", n), EmailHash: fmt.Sprintf("%016x", n)}
			if n%2 == 0 {
				rows[n].Levels = []string{"N2", "N1"}
			}
		}
		rows = append(rows, ledger.RosterRow{Candidate: "c00007", EmailHash: "the last one stays"})
		for range 2 {
			w.both(func(s ledger.Store) error { return s.PutRoster(w.ctx, theSale, rows) })
		}
		w.same()
		w.equal(len(contents(w, w.store).Roster), 5000)
		w.equal(contents(w, w.store).Roster["c00007"].EmailHash, "the last one stays")
		gone := []string{"nobody"}
		for _, r := range rows[:1000] {
			gone = append(gone, r.Candidate)
		}
		w.both(func(s ledger.Store) error { return s.DropRoster(w.ctx, theSale, gone) })
		w.both(func(s ledger.Store) error { return s.PutRoster(w.ctx, otherSale, rows[:1]) })
		w.same()
	}},
	{"status versions only rise", func(w *world) {
		_, _, _, err := w.store.StatusDoc(w.ctx, theSale)
		w.is(err, ledger.ErrNotFound)
		for _, c := range []struct {
			epoch, n int64
			want     error
		}{{1, 5, nil}, {1, 5, ledger.ErrStale}, {1, 4, ledger.ErrStale}, {1, 6, nil}, {0, 99, ledger.ErrStale}, {2, 1, nil}, {1, 99, ledger.ErrStale}} {
			w.is(w.store.PutStatus(w.ctx, theSale, c.epoch, c.n, fmt.Appendf(nil, `{"v":"%d.%d"}`, c.epoch, c.n)), c.want)
		}
		doc, epoch, n, err := w.store.StatusDoc(w.ctx, theSale)
		w.equal(err, nil)
		w.equal(fmt.Sprint(string(doc), epoch, n), `{"v":"2.1"}2 1`)
	}},
	{"publishers in any order leave the greatest version", func(w *world) {
		var wg sync.WaitGroup
		gate := make(chan struct{})
		for n := range int64(20) {
			wg.Go(func() {
				<-gate
				_ = w.store.PutStatus(w.ctx, theSale, 1, n, fmt.Appendf(nil, "%d", n)) // stale ones may lose
			})
		}
		close(gate)
		wg.Wait()
		doc, _, n, err := w.store.StatusDoc(w.ctx, theSale)
		w.equal(err, nil)
		w.equal(fmt.Sprint(string(doc), n), "1919")
	}},
	{"the inbox keeps what was parked", func(w *world) {
		it := ledger.InboxItem{Sale: theSale, ID: "p:1", Payment: booking(1).Payment, Reason: "no booking", Detail: `{"sale":"spring"}`, At: start}
		w.equal(w.store.Park(w.ctx, it), nil)
		w.equal(w.store.Park(w.ctx, it), nil)
		second := it
		second.ID = "a:1"
		w.equal(w.store.Park(w.ctx, second), nil)
		w.parked(second, it)
		w.equal(w.store.ResolveParked(w.ctx, theSale, it.ID, "operator:ann"), nil)
		w.equal(w.store.ResolveParked(w.ctx, theSale, it.ID, "operator:bob"), nil)
		done := it
		done.Done, done.DoneBy = true, "operator:ann"
		w.parked(second, done)
		w.equal(w.store.Park(w.ctx, it), nil) // it came back: open again
		w.parked(second, it)
		w.is(w.store.ResolveParked(w.ctx, theSale, "nobody", "operator:ann"), ledger.ErrNotFound)
		w.is(w.store.ResolveParked(w.ctx, otherSale, it.ID, "operator:ann"), ledger.ErrNotFound)
		w.parked(second, it)
	}},
}

// both does the same to both stores.
func (w *world) both(f func(ledger.Store) error) {
	w.Helper()
	for _, s := range []ledger.Store{w.store, w.oracle} {
		if err := f(s); err != nil {
			w.Fatal(err)
		}
	}
}

// parked wants these items; when they were resolved is the store's own affair.
func (w *world) parked(want ...ledger.InboxItem) {
	w.Helper()
	var got []ledger.InboxItem
	err := w.store.Parked(w.ctx, theSale, func(it ledger.InboxItem) error {
		if it.Done == it.DoneAt.IsZero() {
			w.Errorf("item %s: done %v at %v", it.ID, it.Done, it.DoneAt)
		}
		it.DoneAt = ledger.InboxItem{}.DoneAt
		got = append(got, it)
		return nil
	})
	if err != nil {
		w.Fatal(err)
	}
	if diff := cmp.Diff(slices.Clone(want), got); diff != "" {
		w.Errorf("inbox (-want +got):\n%s", diff)
	}
}
