package ledgertest

import (
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/holdfast/holdfast/ledger"
)

// minuteTests: what the processes of the ingress counted.
var minuteTests = []suiteTest{
	{"the minutes of a sale are those of every process, the last state of each", func(w *world) {
		store, ok := w.store.(ledger.MinuteStore)
		if !ok {
			w.Fatalf("a %T keeps no minutes", w.store)
		}
		put := func(saleID string, m ledger.Minute) { w.Helper(); w.equal(store.PutMinute(w.ctx, saleID, m), nil) }
		one := ledger.Minute{At: start, Process: "p1", Answers: map[string]int{"created": 1}, Admit: ledger.Latency{1}}
		early := ledger.Minute{At: start.Add(-time.Minute), Process: "p1", Answers: map[string]int{"sold_out": 7}}
		other := ledger.Minute{At: start, Process: "p2", Answers: map[string]int{"created": 5, "level_full": 2}, Created: ledger.Latency{0, 5}, Refused: ledger.Latency{13: 2}}
		put(theSale, one)
		put(theSale, other)
		put(theSale, early)
		put(otherSale, one)
		one.Answers, one.Admit = map[string]int{"created": 3}, ledger.Latency{2, 1}
		put(theSale, one)
		put(theSale, one)
		for since, want := range map[time.Time][]ledger.Minute{
			start:                       {one, other},
			start.Add(-time.Hour):       {early, one, other},
			start.Add(time.Millisecond): nil,
		} {
			var got []ledger.Minute
			w.equal(store.Minutes(w.ctx, theSale, since, func(m ledger.Minute) error { got = append(got, m); return nil }), nil)
			if diff := cmp.Diff(want, got); diff != "" {
				w.Errorf("minutes since %v (-want +got):\n%s", since, diff)
			}
		}
		w.equal(len(w.auditOf(theSale)), 0)
	}},
}

func (w *world) auditOf(saleID string) (all []ledger.AuditEntry) {
	w.Helper()
	w.equal(w.store.Audit(w.ctx, saleID, func(e ledger.AuditEntry) error { all = append(all, e); return nil }), nil)
	return all
}
