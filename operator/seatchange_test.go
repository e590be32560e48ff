package operator_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/admission/admissiontest"
	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/lifecycle/lifecycletest"
	"github.com/holdfast/holdfast/operator"
	"github.com/holdfast/holdfast/sale"
)

// hall is an open sale with the seats A1..A5 and ten counted ones.
func hall(t *testing.T) (*bench, sale.Sale) {
	t.Helper()
	b := newBench(t)
	plan := b.plan()
	seated(&plan.Levels[1])
	b.must(b.apply(plan))
	b.must(b.World.Redis.PutRoster(b.ctx, exam, []admission.RosterEntry{{Candidate: "c1", EmailHash: lifecycletest.Email}}))
	c, err := b.World.Store.Control(b.ctx, exam)
	b.must(err)
	_, err = b.World.Redis.SetOpen(b.ctx, exam, c.Gen, true)
	b.must(err)
	return b, plan
}

func (b *bench) choose(seats ...string) {
	b.t.Helper()
	c, err := b.World.Store.Control(b.ctx, exam)
	b.must(err)
	a, err := b.World.Redis.Hold(b.ctx, admission.HoldRequest{Sale: exam, HoldID: "h" + seats[0], Candidate: "c1", Level: "N2", Gen: c.Gen,
		EmailHash: lifecycletest.Email, AmountMinor: 1, Currency: "BDT", Seats: seats, For: time.Minute, Max: time.Minute})
	b.must(err)
	if a.Outcome != admission.Admitted {
		b.t.Fatalf("hold: %v", a.Outcome)
	}
}

// withSeats is the plan with other seats in its hall.
func withSeats(plan sale.Sale, names ...string) sale.Sale {
	plan.Levels = slices.Clone(plan.Levels)
	l := &plan.Levels[1]
	l.Seats, l.Cap, plan.TotalCap = nil, len(names), 10+len(names)
	for i, name := range names {
		l.Seats = append(l.Seats, sale.Seat{Name: name, Score: i + 1})
	}
	return plan
}

func (b *bench) free(want int) {
	b.t.Helper()
	s, err := b.World.Redis.Status(b.ctx, exam, []string{"N2"})
	b.must(err)
	if l := s.Levels[0]; l.Free != want || l.Used+l.Free != l.Cap {
		b.t.Errorf("level %+v, want %d free", l, want)
	}
}

// TestApplyEditsSeatsByName is case I01: free seats come and go while the sale is
// on; one that is held, even softly, stays, and is named.
func TestApplyEditsSeatsByName(t *testing.T) {
	b, plan := hall(t)
	b.choose("A3")
	r := refused(t, b.apply(withSeats(plan, "A1", "A2", "A4")), operator.CodeUnsafeChange)
	if !strings.Contains(r.Error(), "seat A3 is held or sold") || strings.Contains(r.Error(), "A5") {
		t.Errorf("refusal %v", r)
	}
	b.free(4)
	b.must(b.apply(withSeats(plan, "A1", "A3", "B1", "B2")))
	b.free(3)
	b.must(b.apply(withSeats(plan, "A1", "A3", "B1", "B2")))
	b.free(3)
	b.World.Advance(2 * time.Minute) // the hold is over, though nobody has released it
	b.must(b.apply(withSeats(plan, "A1", "B1")))
	b.free(2)
}

// TestApplyEditsSeatsAfterACrashAtEveryStep: the same file again ends the same.
func TestApplyEditsSeatsAfterACrashAtEveryStep(t *testing.T) {
	for _, fault := range []admissiontest.Fault{admissiontest.FailBefore, admissiontest.LoseAnswer} {
		for k := 1; ; k++ {
			b, plan := hall(t)
			b.choose("A3")
			now, calls := withSeats(plan, "A1", "A3", "B1", "B2"), 0
			b.World.Redis.Fault = func(string) admissiontest.Fault {
				if calls++; calls == k {
					return fault
				}
				return admissiontest.NoFault
			}
			err := b.apply(now)
			b.World.Redis.Fault = nil
			b.must(b.apply(now))
			b.free(3)
			if err == nil && calls < k {
				break
			}
		}
	}
}

// TestApplyAgainIsAcknowledged: an apply whose new seats no replica has fails;
// once the same file is applied without an error, no failover takes them back.
func TestApplyAgainIsAcknowledged(t *testing.T) {
	b, plan := hall(t)
	now := withSeats(plan, "A1", "A2", "A3", "A4", "A5", "B1")
	now.TotalCap = plan.TotalCap // a change of it would be acknowledged, and so be all before it
	b.World.Redis.Fault = func(op string) admissiontest.Fault {
		if op == "EditSeats" {
			return admissiontest.ShortWait
		}
		return admissiontest.NoFault
	}
	if err := b.apply(now); err == nil {
		t.Fatal("applied, and no replica has it")
	}
	b.World.Redis.Fault = nil
	b.must(b.apply(now))
	b.World.Redis.Failover(1000)
	b.free(6)
}

// TestApplyThatARepairOvertook changes nothing more: whoever has taken a newer
// serial answers for the seats. The same file again is applied.
func TestApplyThatARepairOvertook(t *testing.T) {
	for _, c := range []struct {
		name    string
		call    int  // of EditSeats; the first one looks
		edits   bool // the other one is at the seats already
		planned bool // the ledger has the new plan by then
	}{
		{"at a seat that goes", 2, true, false},
		{"between seats and plan", 2, false, false},
		{"at a seat that comes", 3, true, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			b, plan := hall(t)
			calls := 0
			b.World.Redis.Fault = func(op string) admissiontest.Fault {
				if op != "EditSeats" {
					return admissiontest.NoFault
				}
				if calls++; calls == c.call {
					b.World.Redis.Fault = nil
					b.overtake(c.edits)
				}
				return admissiontest.NoFault
			}
			now := withSeats(plan, "A2", "A3", "A4", "B9")
			refused(t, b.apply(now), operator.CodeTooManyChanges)
			kept, err := b.Desk.Plan(b.ctx, exam)
			b.must(err)
			if hall, _ := kept.Level("N2"); slices.Contains(hall.SeatNames(), "B9") != c.planned {
				t.Errorf("the plan has %v", hall.SeatNames())
			}
			b.must(b.apply(now))
			b.free(4)
		})
	}
}

// overtake takes the next serial, as a repair does; edits: and writes seats with it.
func (b *bench) overtake(edits bool) {
	b.t.Helper()
	c, err := b.World.Store.UpdateControl(b.ctx, exam, func(c *ledger.Control) error { c.SeatSerial++; return nil })
	b.must(err)
	if edits {
		_, err := b.World.Redis.EditSeats(b.ctx, admission.SeatEdit{Sale: exam, Gen: c.Gen, Level: "N2", Op: admission.AddSeats, Serial: c.SeatSerial})
		b.must(err)
	}
}

// crossing lets nobody through until so many ask at the same time.
type crossing struct {
	ledger.Store
	mu   sync.Mutex
	left int
	open chan struct{}
}

func (c *crossing) SeatBooking(ctx context.Context, saleID, token string) (string, error) {
	c.mu.Lock()
	if c.left--; c.left == 0 {
		close(c.open)
	}
	c.mu.Unlock()
	select {
	case <-c.open:
		return c.Store.SeatBooking(ctx, saleID, token)
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// TestDroppedSeatsAreLookedUpTogether: thousands of seats, one after the other,
// would take an operator minutes.
func TestDroppedSeatsAreLookedUpTogether(t *testing.T) {
	b, plan := hall(t)
	b.Desk.Store = &crossing{Store: b.Desk.Store, left: 4, open: make(chan struct{})}
	var cancel context.CancelFunc
	b.ctx, cancel = context.WithTimeout(b.ctx, time.Minute)
	defer cancel()
	b.must(b.apply(withSeats(plan, "A1")))
	b.free(1)
}
