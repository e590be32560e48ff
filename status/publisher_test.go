package status

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/sale"
)

// world is a state of Redis and the stored document.
type world struct {
	mu     sync.Mutex
	state  admission.Status
	epoch  int64
	fail   error
	doc    []byte
	at     Version
	writes int
	reads  int
}

func (w *world) Status(context.Context, string, []string) (admission.Status, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.reads++
	return w.state, w.fail
}

func (w *world) Control(context.Context, string) (ledger.Control, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return ledger.Control{Epoch: w.epoch, Plan: sale.Sale{Levels: []sale.Level{{Name: "N1"}, {Name: "N2"}}}}, nil
}

func (w *world) PutStatus(_ context.Context, _ string, epoch, n int64, doc []byte) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.writes++
	if v := (Version{epoch, n}); v.After(w.at) {
		w.at, w.doc = v, doc
		return nil
	}
	return ledger.ErrStale
}

func (w *world) StatusDoc(context.Context, string) ([]byte, int64, int64, error) {
	return w.doc, w.at.Epoch, w.at.N, nil
}

func (w *world) set(version int64, free int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.state = admission.Status{Version: version, TotalCap: 10, Used: 10 - free, Open: true,
		Levels: []admission.LevelStatus{{Name: "N1", Cap: 10, Used: 10 - free, Free: free}}}
}

func start(t *testing.T, w *world) *Publisher {
	t.Helper()
	return Start(t.Context(), Config{Reader: w, Store: w, Controls: w})
}

func (w *world) wrote(t *testing.T, want int) {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.writes != want {
		t.Fatalf("wrote %d documents, want %d", w.writes, want)
	}
}

func TestAThousandChangesOfOneVersionAreOneWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{}
		w.set(7, 0)
		p := start(t, w)
		for range 1000 {
			p.Changed("spring", 7)
			time.Sleep(time.Millisecond) // the bubble's clock: a second of refusals at the edge
		}
		if err := p.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		w.wrote(t, 1)
		if w.reads > 10 {
			t.Errorf("read the state %d times in a second", w.reads)
		}
	})
}

func TestChangeIsPublicWithinASecondBothWays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{}
		p := start(t, w)
		for version, free := range []int{0, 3, 0} { // last seat gone, first seat back, gone again
			w.set(int64(version+1), free)
			p.Changed("spring", int64(version+1))
			time.Sleep(time.Second - time.Millisecond)
			synctest.Wait()
			var d Document
			if err := json.Unmarshal(w.doc, &d); err != nil {
				t.Fatal(err)
			}
			if (d.Levels[0].State == Available) != (free > 0) || d.Version.N != int64(version+1) {
				t.Errorf("free %d: published %+v", free, d)
			}
		}
		if err := p.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
	})
}

func TestFailureIsTriedAgainAndCloseGivesUpInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{fail: errors.New("redis is away")}
		p := start(t, w)
		p.Changed("spring", 1)
		time.Sleep(3 * time.Second)
		synctest.Wait()
		w.wrote(t, 0)
		w.mu.Lock()
		w.fail = nil
		w.mu.Unlock()
		w.set(1, 0)
		time.Sleep(time.Second)
		synctest.Wait()
		w.wrote(t, 1)
		if err := p.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		p.Changed("spring", 2) // after the end: no panic, no effect
	})
}

func TestCloseDrains(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{}
		w.set(1, 1)
		p := start(t, w)
		p.Changed("spring", 1)
		synctest.Wait() // published; now inside the pause
		w.set(2, 0)
		p.Changed("spring", 2)
		if err := p.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if w.at.N != 2 {
			t.Errorf("stored version %v after Close, want 2", w.at)
		}
	})
}

func TestNewEpochWinsOverAHigherVersion(t *testing.T) {
	w := &world{epoch: 1}
	p := &Publisher{config: Config{Reader: w, Store: w, Controls: w}, stored: map[string]Version{}}
	publish := func(want bool) {
		t.Helper()
		got, err := p.Publish(t.Context(), "spring")
		if err != nil || got != want {
			t.Fatalf("published %v, %v; want %v", got, err, want)
		}
	}
	w.set(90, 0)
	publish(true)
	w.set(40, 5) // a failover went back to an earlier state
	publish(false)
	w.epoch = 2
	publish(true)
	if w.at != (Version{2, 40}) {
		t.Errorf("stored %v", w.at)
	}
}

func TestDocument(t *testing.T) {
	at := time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)
	s := admission.Status{Open: true, OpensAt: at, ClosesAt: at.Add(time.Hour), Now: at.Add(-time.Minute), Version: 4, TotalCap: 12, Used: 9,
		Levels: []admission.LevelStatus{{Name: "N1", Cap: 5, Used: 5, Paid: 4}, {Name: "N2", Cap: 20, Used: 4, Free: 16}}}
	d := From(s, 3, true)
	got, err := json.Marshal(d.Served(at))
	if err != nil {
		t.Fatal(err)
	}
	want := `{"open":true,"opens_at":"2026-03-01T10:00:00Z","closes_at":"2026-03-01T11:00:00Z","now":"2026-03-01T10:00:00Z",` +
		`"version":[3,4],"sold_out":false,"levels":[{"level":"N1","state":"held","free":0},{"level":"N2","state":"available","free":3}]}`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Error(diff)
	}
	for _, c := range []struct {
		now  time.Time
		open bool
	}{{at.Add(-time.Millisecond), false}, {at, true}, {at.Add(time.Hour), false}} {
		if d.Served(c.now).Open != c.open {
			t.Errorf("at %v open is not %v", c.now, c.open)
		}
	}
}

// What stands in the way of a level is its own cap or the sale's total, and a
// hold that ends may bring seats back only if it is a part of that.
func TestStateOfALevelWithoutFreeSeats(t *testing.T) {
	for name, c := range map[string]struct {
		level             admission.LevelStatus
		total, used, paid int
		want              State
	}{
		"free":                        {admission.LevelStatus{Cap: 5, Used: 4, Free: 1, Paid: 4}, 9, 8, 8, Available},
		"one of them held":            {admission.LevelStatus{Cap: 5, Used: 5, Paid: 4}, 9, 5, 4, Held},
		"all paid":                    {admission.LevelStatus{Cap: 5, Used: 5, Paid: 5}, 9, 8, 5, SoldOut},
		"total reached, others held":  {admission.LevelStatus{Cap: 5, Used: 2, Free: 3, Paid: 2}, 9, 9, 8, Held},
		"total reached, all paid":     {admission.LevelStatus{Cap: 5, Used: 2, Free: 3, Paid: 2}, 9, 9, 9, SoldOut},
		"full and paid, others held":  {admission.LevelStatus{Cap: 5, Used: 5, Paid: 5}, 9, 9, 7, SoldOut},
		"no seats at all":             {admission.LevelStatus{}, 9, 0, 0, SoldOut},
		"counted by an older version": {admission.LevelStatus{Cap: 5, Used: 5, Paid: -1}, 9, 5, -1, Held},
	} {
		s := admission.Status{TotalCap: c.total, Used: c.used, Paid: c.paid, Levels: []admission.LevelStatus{c.level}}
		if d := From(s, 1, false); d.Levels[0].State != c.want || d.SoldOut != (c.want == SoldOut) || d.Levels[0].Free != nil {
			t.Errorf("%s: %+v", name, d)
		}
	}
}
