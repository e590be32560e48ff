package redis

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/holdfast/holdfast/admission"
)

// Cases from the field (docs/cases.md) that one script decides, on a real
// primary with its replica.

// admitAll sends the requests at once, through all admitters in turn, and
// returns the answers in order.
func admitAll(t *testing.T, by []admission.Admitter, reqs []admission.Request) []admission.Answer {
	t.Helper()
	answers := make([]admission.Answer, len(reqs))
	start := make(chan struct{})
	var wg sync.WaitGroup
	for i, r := range reqs {
		wg.Go(func() {
			<-start
			for again := true; again; {
				var err error
				answers[i], err = by[i%len(by)].Admit(t.Context(), r)
				// A slow moment of the machine is a true 503; the next attempt has its own id.
				again = errors.Is(err, admission.ErrUnacknowledged) || errors.Is(err, admission.ErrUnavailable)
				r.BookingID += "x"
				if err != nil && !again {
					t.Error(err)
				}
			}
		})
	}
	close(start)
	wg.Wait()
	return answers
}

// inEachDoor runs the test with the single form, the group and both at once.
func inEachDoor(t *testing.T, test func(t *testing.T, b *bench, by []admission.Admitter)) {
	t.Helper()
	for name, doors := range map[string]func(b *bench) []admission.Admitter{
		"single": func(b *bench) []admission.Admitter { return []admission.Admitter{b.store} },
		"group": func(b *bench) []admission.Admitter {
			return []admission.Admitter{NewCommitter(b.store, CommitOptions{})}
		},
		"both": func(b *bench) []admission.Admitter {
			return []admission.Admitter{b.store, NewCommitter(b.store, CommitOptions{})}
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			test(t, b, doors(b))
		})
	}
}

func tally(answers []admission.Answer) map[admission.Outcome]int {
	n := map[admission.Outcome]int{}
	for _, a := range answers {
		n[a.Outcome]++
	}
	return n
}

// TestCase_A01: two seats are left and many devices ask for two of them.
func TestCase_A01_LastTwoSeatsForManyDevices(t *testing.T) {
	inEachDoor(t, func(t *testing.T, b *bench, by []admission.Admitter) {
		first := b.req("b0", "c9")
		first.Count = 3 // of 5
		b.admit(first)
		var reqs []admission.Request
		for i := range 40 {
			r := b.req("b"+itoa(i+1), "d"+itoa(i))
			r.RosterVersion, r.Count = "v1", 2
			reqs = append(reqs, r)
		}
		got := tally(admitAll(t, by, reqs))
		if got[admission.Admitted] != 1 || got[admission.LevelFull] != 39 {
			t.Errorf("answers %v", got)
		}
		b.conserved()
	})
}

// TestCase_A02: ten seats, a hundred at once, nobody has paid; the cap holds at
// every sample, not only in the end.
func TestCase_A02_HeldSeatsCountAtEverySample(t *testing.T) {
	inEachDoor(t, func(t *testing.T, b *bench, by []admission.Admitter) {
		if _, err := b.store.SetCap(b.ctx(), admission.CapChange{Sale: b.sale, Gen: gen, Level: "A", Cap: 10, First: 6}); err != nil {
			t.Fatal(err)
		}
		if _, err := b.store.SetCap(b.ctx(), admission.CapChange{Sale: b.sale, Gen: gen, Cap: 20}); err != nil {
			t.Fatal(err)
		}
		stop := watchCap(t, b, 10)
		var reqs []admission.Request
		for i := range 100 {
			r := b.req("b"+itoa(i), "d"+itoa(i))
			r.RosterVersion = "v1"
			reqs = append(reqs, r)
		}
		got := tally(admitAll(t, by, reqs))
		if probes := stop(); probes == 0 || got[admission.Admitted] != 10 || got[admission.LevelFull] != 90 {
			t.Errorf("answers %v, %d probes", got, probes)
		}
		b.conserved()
	})
}

// TestCase_A05: the first two bookings of an empty level at the same time.
func TestCase_A05_TwoFirstBookers(t *testing.T) {
	inEachDoor(t, func(t *testing.T, b *bench, by []admission.Admitter) {
		got := admitAll(t, by, []admission.Request{b.req("b1", "c1"), b.req("b2", "c2")})
		if n := tally(got); n[admission.Admitted] != 2 || got[0].Tokens[0] == got[1].Tokens[0] {
			t.Errorf("answers %+v", got)
		}
		if st, err := b.store.Status(b.ctx(), b.sale, []string{"A"}); err != nil || st.Levels[0].Used != 2 || st.Bookings != 2 {
			t.Errorf("%+v, %v", st, err)
		}
		b.conserved()
	})
}

// TestCase_A13: two seats are left, A asks for three and B for two, in every
// order and at once: A is refused, and never costs B the seats.
func TestCase_A13_TooLargeAWishTakesNothing(t *testing.T) {
	for name, order := range map[string][]int{"A first": {0, 1}, "B first": {1, 0}, "at once": nil} {
		t.Run(name, func(t *testing.T) {
			inEachDoor(t, func(t *testing.T, b *bench, by []admission.Admitter) {
				first := b.req("b0", "c9")
				first.Count = 3
				b.admit(first)
				reqs := []admission.Request{b.req("b1", "c1"), b.req("b2", "c2")}
				reqs[0].Count, reqs[1].Count = 3, 2
				got := make([]admission.Answer, 2)
				for _, i := range order {
					got[i] = admitAll(t, by, reqs[i:i+1])[0]
				}
				if order == nil {
					got = admitAll(t, by, reqs)
				}
				if got[0].Outcome != admission.LevelFull || got[1].Outcome != admission.Admitted {
					t.Errorf("A: %v, B: %v", got[0].Outcome, got[1].Outcome)
				}
				b.conserved()
			})
		})
	}
}

// TestCase_A18: one code, several holds in a row before any of them is paid.
func TestCase_A18_CodeCountsFromTheFirstHold(t *testing.T) {
	inEachDoor(t, func(t *testing.T, b *bench, by []admission.Admitter) {
		got := map[admission.Outcome]int{}
		for i := range 5 {
			r := b.req("b"+itoa(i), "c1")
			r.Key = "key-" + itoa(i)
			r.Level = []string{"A", "B"}[i%2]
			got[admitAll(t, by, []admission.Request{r})[0].Outcome]++
		}
		if got[admission.Admitted] != 1 || got[admission.Duplicate] != 4 {
			t.Errorf("answers %v", got)
		}
		b.conserved()
	})
}

// TestCase_A22: a named seat is gone at once, and to the second buyer it does not
// matter how soon after the first one he comes.
func TestCase_A22_NamedSeatIsGoneAtOnce(t *testing.T) {
	inEachDoor(t, func(t *testing.T, b *bench, by []admission.Admitter) {
		var reqs []admission.Request
		for i := range 20 {
			r := b.req("b"+itoa(i), "d"+itoa(i))
			r.RosterVersion, r.Level, r.Count, r.Seats = "v1", "N", 0, []string{"N2"}
			reqs = append(reqs, r)
		}
		got := tally(admitAll(t, by, reqs))
		if got[admission.Admitted] != 1 || got[admission.Taken] != 19 {
			t.Errorf("answers %v", got)
		}
		b.conserved()
	})
}

// TestCase_J21: no life of a key is ever zero or past, which leaves ghosts on
// replicas.
func TestCase_J21_NoKeyLivesForNoTime(t *testing.T) {
	b := newBench(t)
	b.admit(b.req("b1", "c1"))
	for _, life := range []time.Duration{0, -time.Second, time.Microsecond} {
		a := b.attachment("b1", 1, "pay-1")
		a.StashFor = life
		if _, err := b.store.Attach(b.ctx(), a); !errors.Is(err, admission.ErrInvalid) {
			t.Errorf("a stash for %v: %v", life, err)
		}
		if _, err := b.store.AcquireExecute(b.ctx(), b.sale, "pay-1", "b1", life); !errors.Is(err, admission.ErrInvalid) {
			t.Errorf("a guard for %v: %v", life, err)
		}
		if _, _, err := b.store.AcquireTokenLease(b.ctx(), "gw"+b.sale, "holder", life); !errors.Is(err, admission.ErrInvalid) {
			t.Errorf("a lease for %v: %v", life, err)
		}
		if err := b.store.StoreToken(b.ctx(), "gw"+b.sale, "holder", "token", life); !errors.Is(err, admission.ErrInvalid) {
			t.Errorf("a token for %v: %v", life, err)
		}
	}
	for _, name := range b.admin.Keys(b.ctx(), string(b.k)+"*").Val() {
		if ttl := b.admin.PTTL(b.ctx(), name).Val(); ttl == 0 {
			t.Errorf("%s lives for no time", name)
		}
	}
}
