package redis

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdfast/holdfast/admission"
)

// Thousands against a small cap: exactly the cap, nobody twice, and the numbers
// are never above it at any probe (scenarios 1 and 2, cases A01, A02, A13).
func TestRaceForFewSeats(t *testing.T) {
	for name, admitter := range map[string]func(b *bench) admission.Admitter{
		"single": func(b *bench) admission.Admitter { return b.store },
		"group":  func(b *bench) admission.Admitter { return NewCommitter(b.store, CommitOptions{}) },
		"two processes": func(b *bench) admission.Admitter {
			return &roundRobin{list: []admission.Admitter{NewCommitter(b.store, CommitOptions{}), NewCommitter(b.store, CommitOptions{InFlight: 4}), b.store}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			const seats, candidates, copies = 50, 600, 3
			if _, err := b.store.SetCap(b.ctx(), admission.CapChange{Sale: b.sale, Gen: gen, Level: "A", Cap: seats, First: 6}); err != nil {
				t.Fatal(err)
			}
			if _, err := b.store.SetCap(b.ctx(), admission.CapChange{Sale: b.sale, Gen: gen, Cap: 1000}); err != nil {
				t.Fatal(err)
			}
			stop := watchCap(t, b, seats)
			winners, taken := raceFor(t, b, admitter(b), candidates, copies)
			if probes := stop(); probes == 0 {
				t.Error("nobody looked")
			}
			if taken != seats || len(winners) == 0 {
				t.Errorf("%d seats sold to %d candidates, cap %d", taken, len(winners), seats)
			}
			for c, n := range winners {
				if n != 1 {
					t.Errorf("candidate %s was admitted %d times", c, n)
				}
			}
			b.conserved()
		})
	}
}

// raceFor lets every candidate ask several times at once, each for 1 to 3 seats.
func raceFor(t *testing.T, b *bench, ad admission.Admitter, candidates, copies int) (winners map[string]int, taken int) {
	var mu sync.Mutex
	winners = map[string]int{}
	start := make(chan struct{})
	var wg sync.WaitGroup
	for i := range candidates * copies {
		c := "c" + itoa(i/copies)
		r := b.req("b"+itoa(i), c)
		r.RosterVersion, r.Key, r.Count = "v1", "", 1+i%3
		wg.Go(func() {
			<-start
			a, err := ad.Admit(context.Background(), r)
			// A slow moment of the machine is a true 503, and the next attempt has its own
			// id. Of an unknown outcome one learns by asking with the same id again.
			for try := 1; err == nil && a.Outcome == admission.Dead || errors.Is(err, admission.ErrUnacknowledged) ||
				errors.Is(err, admission.ErrUnavailable) || errors.Is(err, admission.ErrUnknown); try++ {
				if !errors.Is(err, admission.ErrUnknown) {
					r.BookingID = "b" + itoa(i) + "x" + itoa(try)
				}
				a, err = ad.Admit(context.Background(), r)
			}
			if err != nil {
				t.Error(err)
				return
			}
			switch a.Outcome {
			case admission.Admitted, admission.Replayed:
				mu.Lock()
				winners[c]++
				taken += len(a.Tokens)
				mu.Unlock()
			case admission.LevelFull, admission.Duplicate:
			default:
				t.Errorf("%v", a.Outcome)
			}
		})
	}
	close(start)
	wg.Wait()
	return winners, taken
}

// watchCap probes the sale until it is told to stop.
func watchCap(t *testing.T, b *bench, limit int) (stop func() int) {
	quit, done := make(chan struct{}), make(chan int)
	go func() {
		probes := 0
		defer func() { done <- probes }()
		for {
			select {
			case <-quit:
				return
			default:
			}
			st, err := b.store.Status(context.Background(), b.sale, []string{"A"})
			if err != nil {
				t.Error(err)
				return
			}
			probes++
			if l := st.Levels[0]; l.Used > limit || l.Used+l.Free != limit || l.Used < 0 {
				t.Errorf("probe: %+v", l)
			}
		}
	}()
	return func() int { close(quit); return <-done }
}

// roundRobin plays several processes in front of one Redis.
type roundRobin struct {
	list []admission.Admitter
	next atomic.Int64
}

func (r *roundRobin) Admit(ctx context.Context, q admission.Request) (admission.Answer, error) {
	return r.list[int(r.next.Add(1))%len(r.list)].Admit(ctx, q)
}

// With the replica frozen in the middle of a storm there is no false
// acknowledgement: whoever was promised a seat has it, on the replica too.
func TestNoFalseAcknowledgement(t *testing.T) {
	b := ownBench(t)
	if _, err := b.store.SetCap(b.ctx(), admission.CapChange{Sale: b.sale, Gen: gen, Level: "A", Cap: 1000, First: 6}); err != nil {
		t.Fatal(err)
	}
	if _, err := b.store.SetCap(b.ctx(), admission.CapChange{Sale: b.sale, Gen: gen, Cap: 1000}); err != nil {
		t.Fatal(err)
	}
	b.store = bareBench(t, b.pair, Config{WaitTimeout: 200 * time.Millisecond}).store
	group := NewCommitter(b.store, CommitOptions{MaxBatch: 8})
	var promised sync.Map
	var yes, no atomic.Int64
	frozen := make(chan struct{})
	var wg sync.WaitGroup
	for i := range 40 {
		wg.Go(func() {
			for j := range 10 {
				if i == 0 && j == 5 {
					if err := b.pair.Replica.Pause(); err != nil {
						t.Error(err)
					}
					close(frozen)
				}
				if j == 6 {
					<-frozen
				}
				r := b.req("b"+itoa(i)+"-"+itoa(j), "c"+itoa(i)+"-"+itoa(j))
				r.RosterVersion = "v1"
				a, err := group.Admit(b.ctx(), r)
				if err == nil && a.Outcome == admission.Admitted {
					if j >= 6 {
						t.Errorf("%s was asked for and promised while the replica was frozen", r.BookingID)
					}
					promised.Store(r.BookingID, true)
					yes.Add(1)
				} else if err != nil {
					no.Add(1)
				}
			}
		})
	}
	wg.Wait()
	if yes.Load() == 0 || no.Load() == 0 {
		t.Fatalf("%d promised, %d refused: the storm was too short to show anything", yes.Load(), no.Load())
	}
	if err := b.pair.Primary.Kill(); err != nil { // what the replica has is all there is now
		t.Fatal(err)
	}
	if err := b.pair.Replica.Resume(); err != nil {
		t.Fatal(err)
	}
	replica := bareBench(t, b.pair, Config{Addrs: []string{b.pair.Replica.Addr()}, AllowUnacknowledged: true})
	promised.Range(func(bid, _ any) bool {
		if _, err := replica.store.Record(b.ctx(), b.sale, bid.(string)); err != nil {
			t.Errorf("promised booking %v is not on the replica: %v", bid, err)
		}
		return true
	})
}

func TestCommitterLetsCallersLeave(t *testing.T) {
	t.Run("while queued", func(t *testing.T) {
		b, n := netBench(t)
		gate := make(chan struct{})
		n.obey(func(c string, nth int) fate {
			if c == "wait" && nth == 1 {
				<-gate
			}
			return pass
		})
		group := NewCommitter(b.store, CommitOptions{InFlight: 1, MaxQueue: 1})
		lead := make(chan error, 1)
		go func() { _, err := group.Admit(b.ctx(), b.req("b1", "c1")); lead <- err }()
		await(t, func() bool { return count(n, "wait") == 1 })
		ctx, cancel := context.WithCancel(b.ctx())
		queuedErr := make(chan error, 1)
		go func() { _, err := group.Admit(ctx, b.req("b2", "c2")); queuedErr <- err }()
		await(t, func() bool {
			group.admits.mu.Lock()
			defer group.admits.mu.Unlock()
			return len(group.admits.lanes[b.sale].queue) == 1
		})
		if _, err := group.Admit(b.ctx(), b.req("b3", "c3")); !errors.Is(err, admission.ErrUnavailable) {
			t.Errorf("beyond the queue: %v", err)
		}
		cancel()
		if err := <-queuedErr; !errors.Is(err, admission.ErrUnavailable) || !errors.Is(err, context.Canceled) {
			t.Errorf("left while queued: %v", err)
		}
		close(gate)
		if err := <-lead; err != nil {
			t.Error(err)
		}
		await(t, func() bool {
			group.admits.mu.Lock()
			defer group.admits.mu.Unlock()
			return len(group.admits.lanes) == 0
		})
		if st, _ := b.store.Status(b.ctx(), b.sale, nil); st.Bookings != 1 {
			t.Errorf("%+v", st)
		}
	})
	t.Run("after the batch was sent", func(t *testing.T) {
		b, n := netBench(t)
		gate := make(chan struct{})
		n.obey(func(c string, nth int) fate {
			if c == "wait" {
				<-gate
			}
			return pass
		})
		group := NewCommitter(b.store, CommitOptions{})
		ctx, cancel := context.WithCancel(b.ctx())
		gone := make(chan error, 1)
		go func() { _, err := group.Admit(ctx, b.req("b1", "c1")); gone <- err }()
		await(t, func() bool { return count(n, "wait") == 1 })
		cancel()
		if err := <-gone; !errors.Is(err, admission.ErrUnknown) {
			t.Errorf("left after it was sent: %v", err)
		}
		close(gate)
		await(t, func() bool { return b.admin.ZScore(b.ctx(), b.k.dead(), "b1").Err() == nil })
		if st, _ := b.store.Status(b.ctx(), b.sale, nil); st.Used != 0 || st.Bookings != 0 {
			t.Errorf("the admission of a caller who left is still there: %+v", st)
		}
		b.conserved()
	})
}

func count(n *network, command string) int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.seen[command]
}

// await waits for a condition that another goroutine or process brings about.
func await(t *testing.T, cond func() bool) {
	t.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(time.Minute); !cond(); <-tick.C {
		if time.Now().After(end) {
			t.Fatal("gave up waiting")
		}
	}
}
