package console

import (
	"errors"
	"testing"
	"time"

	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/ledger/ledgertest"
)

// TestFiguresAreOfAllIngresses: two of them, over the end of a minute; what was
// counted before the console looked does not count.
func TestFiguresAreOfAllIngresses(t *testing.T) {
	now := time.Date(2026, 5, 1, 8, 0, 55, 0, time.UTC)
	store := ledgertest.NewStore(time.Now)
	put := func(process string, at time.Time, created, busy int, admit ledger.Latency) {
		t.Helper()
		m := ledger.Minute{At: at.Truncate(time.Minute), Process: process, Answers: map[string]int{"created": created, "unavailable": busy, "closed": 10}, Admit: admit}
		if err := store.PutMinute(t.Context(), "spring", m); err != nil {
			t.Fatal(err)
		}
	}
	var c counter
	read := func() reading {
		t.Helper()
		r, err := c.read(t.Context(), store.Minutes, "spring", now)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	put("a", now, 100, 0, ledger.Latency{13: 9})
	old := read()
	put("a", now, 120, 5, ledger.Latency{6: 20, 13: 9})
	now = now.Add(10 * time.Second)
	put("a", now, 30, 0, ledger.Latency{0: 5000})
	put("b", now, 50, 0, ledger.Latency{4: 1})
	f := read().since(old)
	if f.Outcomes["created"] != 10 || f.Unavailable != .5 || f.AdmitP99 != 1 || f.Slower || f.Ingresses != 2 {
		t.Errorf("%+v", f)
	}
	if f.Requests != 10+.5+2 { // closed was 10 in each of the two new minutes
		t.Errorf("%v requests", f.Requests)
	}
	last := read()
	now = now.Add(time.Second)
	if still := read().since(last); still.Requests != 0 || still.AdmitP99 != 0 {
		t.Errorf("nothing happened: %+v", still)
	}
	now = now.Add(time.Hour) // minutes leave the view: that is no news either
	if still := read().since(last); still.Requests != 0 || still.Ingresses != 0 {
		t.Errorf("an hour later: %+v", still)
	}
	store.Fault = func(string) ledgertest.Fault { return ledgertest.FailBefore }
	if _, err := c.read(t.Context(), store.Minutes, "spring", now); !errors.Is(err, ledgertest.ErrFailed) {
		t.Errorf("a ledger that fails: %v", err)
	}
}
