package ledgertest

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/sale"
)

func control() ledger.Control {
	plan := sale.Sale{ID: theSale, Title: "Spring", Zone: "Asia/Dhaka", OpensAt: start, ClosesAt: start.Add(time.Hour), Hold: 10 * time.Minute,
		Price: sale.Money{AmountMinor: 150_000, Currency: "BDT"}, MaxSeats: 2, Levels: []sale.Level{{Name: "N1", Cap: 100}, {Name: "N2", Cap: 50}}}
	return ledger.Control{
		Sale: theSale, Gen: 1, Frozen: true, Rebuilder: "host-1", RebuilderUntil: start.Add(time.Minute), Plan: plan.WithDefaults(), Open: true,
		Next: map[string]int{"N1": 101, "N2": 51}, RosterVersion: "r1", RosterSize: 2000, Epoch: 3, ReplicationID: "abc", Breaker: "queue age",
		SeatSerial: 4, SeatsAt: start.Add(time.Second),
		CapSerial: 7, CapIntent: &ledger.CapIntent{Serial: 7, Level: "N1", From: 100, To: 120, First: 101, Actor: "operator:ann", Reason: "bigger hall", At: start},
	}
}

// controlTests: the G item and what hangs on it.
var controlTests = []suiteTest{
	{"the control item comes back as it was created", func(w *world) {
		_, err := w.store.Control(w.ctx, theSale)
		w.is(err, ledger.ErrNotFound)
		w.equal(w.store.CreateControl(w.ctx, control()), nil)
		w.is(w.store.CreateControl(w.ctx, control()), ledger.ErrExists)
		got, err := w.store.Control(w.ctx, theSale)
		w.equal(err, nil)
		want := control()
		want.Rev = got.Rev
		if diff := cmp.Diff(want, got); diff != "" {
			w.Errorf("control (-want +got):\n%s", diff)
		}
		other := control()
		other.Sale = otherSale
		w.equal(w.store.CreateControl(w.ctx, other), nil)
		sales, err := w.store.Sales(w.ctx)
		w.equal(err, nil)
		w.equal(fmt.Sprint(sales), fmt.Sprint([]string{theSale, otherSale}))
	}},
	{"twenty updates at once are twenty updates", func(w *world) {
		w.equal(w.store.CreateControl(w.ctx, control()), nil)
		var wg sync.WaitGroup
		gate := make(chan struct{})
		for range 20 {
			wg.Go(func() {
				<-gate
				if _, err := w.store.UpdateControl(w.ctx, theSale, func(c *ledger.Control) error { c.Gen++; return nil }); err != nil {
					w.Errorf("update: %v", err)
				}
			})
		}
		close(gate)
		wg.Wait()
		got, _ := w.store.Control(w.ctx, theSale)
		w.equal(got.Gen, int64(21))
	}},
	{"an update sees, edits and returns the item", func(w *world) {
		_, err := w.store.UpdateControl(w.ctx, theSale, func(*ledger.Control) error { return nil })
		w.is(err, ledger.ErrNotFound)
		w.equal(w.store.CreateControl(w.ctx, control()), nil)
		first, _ := w.store.Control(w.ctx, theSale)
		got, err := w.store.UpdateControl(w.ctx, theSale, func(c *ledger.Control) error {
			c.CapIntent, c.Frozen, c.Rebuilder, c.RebuilderUntil, c.Breaker = nil, false, "", time.Time{}, ""
			c.Next["N1"] = 200
			return nil
		})
		w.equal(err, nil)
		w.equal(got.Rev > first.Rev, true)
		stored, _ := w.store.Control(w.ctx, theSale)
		if diff := cmp.Diff(got, stored); diff != "" {
			w.Errorf("returned and stored differ (-returned +stored):\n%s", diff)
		}
		w.equal(stored.Next["N1"], 200)
		w.equal(stored.CapIntent == nil, true)
	}},
	{"an error of the change stops the update", func(w *world) {
		w.equal(w.store.CreateControl(w.ctx, control()), nil)
		no := errors.New("no")
		_, err := w.store.UpdateControl(w.ctx, theSale, func(c *ledger.Control) error { c.Gen = 99; return no })
		w.is(err, no)
		got, _ := w.store.Control(w.ctx, theSale)
		w.equal(got.Gen, int64(1))
	}},
	{"the newest note of each kind stays", func(w *world) {
		_, err := w.store.LastSweep(w.ctx, theSale, "sweep")
		w.is(err, ledger.ErrNotFound)
		w.equal(w.store.CreateControl(w.ctx, control()), nil)
		before, _ := w.store.Control(w.ctx, theSale)
		note := ledger.SweepNote{Kind: "sweep", At: start.Add(time.Minute), Counts: map[string]int{"released": 3}, Suspects: []string{"b1", "b2"}, Mark: "m1"}
		older := ledger.SweepNote{Kind: "sweep", At: start}
		diffNote := ledger.SweepNote{Kind: "diff", At: start}
		for _, n := range []ledger.SweepNote{note, older, diffNote} {
			w.equal(w.store.NoteSweep(w.ctx, theSale, n), nil)
		}
		got, err := w.store.LastSweep(w.ctx, theSale, "sweep")
		w.equal(err, nil)
		if diff := cmp.Diff(note, got); diff != "" {
			w.Errorf("note (-want +got):\n%s", diff)
		}
		after, _ := w.store.Control(w.ctx, theSale)
		w.equal(after.Rev, before.Rev)
	}},
	{"the audit keeps every act in order", func(w *world) {
		entry := func(n int) ledger.AuditEntry {
			return ledger.AuditEntry{At: start.Add(time.Duration(n) * time.Second), Actor: "operator:ann", Action: "caps", Reason: fmt.Sprint(n), Before: "1", After: "2"}
		}
		for _, n := range []int{2, 0, 1, 1} {
			w.equal(w.store.AppendAudit(w.ctx, theSale, entry(n)), nil)
		}
		w.equal(w.store.AppendAudit(w.ctx, otherSale, entry(5)), nil)
		var got []ledger.AuditEntry
		w.equal(w.store.Audit(w.ctx, theSale, func(e ledger.AuditEntry) error { got = append(got, e); return nil }), nil)
		if diff := cmp.Diff([]ledger.AuditEntry{entry(0), entry(1), entry(2)}, got); diff != "" {
			w.Errorf("audit (-want +got):\n%s", diff)
		}
	}},
}
