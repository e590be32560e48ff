package redis

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/localstack/redisproc"
)

// TestFrozenPrimaryIsRefusedInTime: a primary that accepts connections and answers
// nothing costs nobody more than one patience. Those who come after that are
// refused at once, until it speaks again.
func TestFrozenPrimaryIsRefusedInTime(t *testing.T) {
	const bound = patience * 7 / 4 // waiting once more, for an undo or behind another batch, would be 2 at least
	b := bareBench(t, redisproc.TestPair(t), Config{WaitTimeout: 200 * time.Millisecond})
	b.install(func(*admission.Plan) {})
	b.roster("c1")
	c := NewCommitter(b.store, CommitOptions{})
	if err := b.pair.Primary.Pause(); err != nil {
		t.Fatal(err)
	}
	late := lateness()
	began := time.Now()
	var asking sync.WaitGroup
	var mu sync.Mutex
	var longest time.Duration
	refused := 0
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for i := 0; time.Since(began) < 2*patience; i++ {
		asking.Go(func() {
			asked := time.Now()
			_, err := c.Admit(b.ctx(), b.req(fmt.Sprintf("b%d", i), "c1"))
			took := time.Since(asked)
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				t.Error("a frozen primary answered")
			}
			if longest = max(longest, took); errors.Is(err, admission.ErrUnavailable) {
				refused++
			}
		})
		<-tick.C
	}
	asking.Wait()
	if most := bound + late(); longest > most {
		t.Errorf("somebody waited %v, want %v at most", longest, most)
	}
	if refused == 0 {
		t.Error("everybody had to wait")
	}
	if err := b.pair.Primary.Resume(); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(time.Minute); ; {
		a, err := c.Admit(b.ctx(), b.req("last", "c1"))
		if err == nil && (a.Outcome == admission.Admitted || a.Outcome == admission.Replayed || a.Outcome == admission.Duplicate) {
			return // a ghost of a request that was written while it was frozen may have come first: the reaper's
		}
		if time.Now().After(deadline) {
			t.Fatalf("nobody is admitted again: %v, %v", a.Outcome, err)
		}
		<-tick.C
	}
}

// lateness watches how late the machine is with what is due, which is nobody's
// fault here, until the longest of it is asked for.
func lateness() (longest func() time.Duration) {
	const every = 20 * time.Millisecond
	stop, most := make(chan struct{}), make(chan time.Duration)
	go func() {
		var late time.Duration
		for due := time.Now().Add(every); ; due = time.Now().Add(every) {
			select {
			case <-time.After(every):
				late = max(late, time.Since(due))
			case <-stop:
				most <- late
				return
			}
		}
	}()
	return func() time.Duration { close(stop); return <-most }
}

// TestFrozenPrimaryRefusesPromotionsInTime: the same for who books the seats of a
// hold; the hold keeps them meanwhile, and the undo that nobody waited for leaves
// them to it.
func TestFrozenPrimaryRefusesPromotionsInTime(t *testing.T) {
	b := bareBench(t, redisproc.TestPair(t), Config{WaitTimeout: 200 * time.Millisecond})
	b.installHall(30)
	b.hold(b.wish("h1", "c1", "H1"), admission.Admitted)
	if err := b.pair.Primary.Pause(); err != nil {
		t.Fatal(err)
	}
	late := lateness()
	began := time.Now()
	if _, err := b.store.Promote(b.ctx(), b.book("b1", "c1"), "h1"); !errors.Is(err, admission.ErrUnknown) {
		t.Errorf("a frozen primary answered: %v", err)
	}
	if took, most := time.Since(began), patience*7/4+late(); took > most {
		t.Errorf("it took %v, want %v at most", took, most)
	}
	if _, err := b.store.Promote(b.ctx(), b.book("b2", "c1"), "h1"); !errors.Is(err, admission.ErrUnavailable) {
		t.Errorf("the second was not refused at once: %v", err)
	}
	if err := b.pair.Primary.Resume(); err != nil {
		t.Fatal(err)
	}
	b.store.undoing.Wait()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(time.Minute); ; <-tick.C {
		a, err := b.store.Promote(b.ctx(), b.book("b3", "c1"), "h1")
		if err == nil && (a.Outcome == admission.Admitted || a.Outcome == admission.Same) {
			return // Same: a ghost of the first came while the server was thawed, after the undo: the reaper's
		}
		if time.Now().After(deadline) {
			t.Fatalf("the hold can't be booked any more: %v, %v", a.Outcome, err)
		}
	}
}

// TestCallerInAHurryIsNoSilentServer: a deadline that is shorter than a server may
// take says nothing of the server.
func TestCallerInAHurryIsNoSilentServer(t *testing.T) {
	b := newBench(t)
	b.store.cfg.WaitTimeout = time.Second
	ctx, cancel := context.WithTimeout(t.Context(), time.Microsecond)
	defer cancel()
	<-ctx.Done()
	if _, err := b.store.Admit(ctx, b.req("b1", "c1")); err == nil {
		t.Fatal("admitted after the deadline")
	}
	if !b.store.mayAdmit(b.sale) {
		t.Error("the sale is refused locally")
	}
}
