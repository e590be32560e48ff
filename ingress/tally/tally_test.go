package tally_test

import (
	"context"
	"io"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/holdfast/holdfast/ingress/tally"
	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/ledger/ledgertest"
)

func minutes(t *testing.T, s ledger.MinuteStore, saleID string) (all []ledger.Minute) {
	t.Helper()
	if err := s.Minutes(t.Context(), saleID, time.Time{}, func(m ledger.Minute) error { all = append(all, m); return nil }); err != nil {
		t.Fatal(err)
	}
	return all
}

func keeper(t *tally.Tally, s ledger.MinuteStore) *tally.Keeper {
	return &tally.Keeper{Tally: t, Store: s, Process: "p1", Now: time.Now, Log: slog.New(slog.NewTextHandler(io.Discard, nil))}
}

// TestEveryAnswerIsInTheMinuteInWhichItWasGiven: from several goroutines, over
// the end of a minute, and at the end of the process.
func TestEveryAnswerIsInTheMinuteInWhichItWasGiven(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, counted := ledgertest.NewStore(time.Now), &tally.Tally{}
		ctx, stop := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() { keeper(counted, store).Run(ctx) })
		first := ledger.Instant(time.Now().Truncate(time.Minute))
		answer := func(n int, outcome string, took time.Duration) {
			var all sync.WaitGroup
			for range n {
				all.Go(func() { counted.Answered("spring", outcome, took); counted.Admitted("spring", took) })
			}
			all.Wait()
		}
		answer(30, "created", 2*time.Millisecond)
		time.Sleep(3 * time.Second)
		if got := minutes(t, store, "spring"); len(got) != 1 || got[0].Answers["created"] != 30 {
			t.Errorf("not put down while the minute goes on: %+v", got)
		}
		answer(12, "sold_out", time.Minute)
		time.Sleep(56*time.Second + 500*time.Millisecond) // half a second before the minute ends, between two looks
		answer(1, "created", 0)
		time.Sleep(time.Second)
		answer(3, "created", time.Millisecond)
		counted.Answered("autumn", "closed", time.Millisecond)
		stop()
		wg.Wait()
		want := []ledger.Minute{
			{At: first, Process: "p1", Answers: map[string]int{"created": 31, "sold_out": 12}, Admit: ledger.Latency{0: 1, 1: 30, 13: 12}, Created: ledger.Latency{0: 1, 1: 30}, Refused: ledger.Latency{13: 12}},
			{At: first.Add(time.Minute), Process: "p1", Answers: map[string]int{"created": 3}, Admit: ledger.Latency{3}, Created: ledger.Latency{3}},
		}
		if diff := cmp.Diff(want, minutes(t, store, "spring")); diff != "" {
			t.Errorf("minutes (-want +got):\n%s", diff)
		}
		if got := minutes(t, store, "autumn"); len(got) != 1 || got[0].Refused.Count() != 1 {
			t.Errorf("the other sale: %+v", got)
		}
	})
}

// TestALedgerThatIsAwayLosesNothing: the counts are put when it is back, also if
// it had taken them and its answer was lost.
func TestALedgerThatIsAwayLosesNothing(t *testing.T) {
	now := time.Date(2026, 5, 1, 8, 0, 30, 0, time.UTC)
	store, counted, fault := ledgertest.NewStore(time.Now), &tally.Tally{}, ledgertest.NoFault
	store.Fault = func(string) ledgertest.Fault { return fault }
	k := keeper(counted, store)
	k.Now = func() time.Time { return now }
	for _, fault = range []ledgertest.Fault{ledgertest.NoFault, ledgertest.LoseAnswer, ledgertest.FailBefore, ledgertest.FailBefore, ledgertest.NoFault} {
		counted.Answered("spring", "created", 0)
		k.Keep(t.Context())
		now = now.Add(30 * time.Second)
	}
	k.Keep(t.Context())
	fault = ledgertest.NoFault
	sum := 0
	got := minutes(t, store, "spring")
	for _, m := range got {
		sum += m.Answers["created"]
	}
	if sum != 5 || len(got) != 3 {
		t.Errorf("%d answers in %d minutes, want 5 in 3: %+v", sum, len(got), got)
	}
}

// TestCountingAllocatesNothing: it stands on a booking's way.
func TestCountingAllocatesNothing(t *testing.T) {
	var counted tally.Tally
	id := "spring"
	once := func() { counted.Answered(id, "created", time.Millisecond); counted.Admitted(id, time.Millisecond) }
	once()
	if n := testing.AllocsPerRun(100, once); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
