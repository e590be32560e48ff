package workers_test

import (
	"fmt"
	"testing"

	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/lifecycle/lifecycletest"
	"github.com/holdfast/holdfast/payment"
)

// story is one walk that may crash at any call: what was before, the walk, and
// how it must have ended once everything was redelivered and healed.
type story struct {
	name string
	lost bool // acknowledged Redis data was lost before: R1 holds only after the diff
	tell func(r *rig) (walk func() error, end func())
}

var stories = []story{
	{"held", false, func(r *rig) (func() error, func()) {
		b := r.Book("c1", "N1", r.Page)
		return func() error { return r.deliver(b.Held, 1) }, func() { r.state(b.ID, ledger.Released) } // nobody paid
	}},
	{"held, of an older generation", false, func(r *rig) (func() error, func()) {
		b := r.Book("c1", "N1", r.Page)
		r.rebuilt(2)
		return func() error { return r.deliver(b.Held, 1) }, func() { r.state(b.ID, ledger.Released) }
	}},
	{"held, of an older generation, nothing free", false, func(r *rig) (func() error, func()) {
		b := r.Book("c1", "N2", r.Page)
		r.rebuilt(2)
		r.done(r.Book("c2", "N2", r.Page).Held)
		return func() error { return r.deliver(b.Held, 1) }, func() { r.state(b.ID, ledger.Released) }
	}},
	{"paid", false, func(r *rig) (func() error, func()) {
		b := r.Book("c1", "N1", r.Page)
		r.done(b.Held)
		r.Page.Pay(b.PaymentID)
		return func() error { return r.deliver(r.notice(b), 1) }, func() { r.state(b.ID, ledger.Paid) }
	}},
	{"paid, never held", false, func(r *rig) (func() error, func()) {
		b := r.Book("c1", "N1", r.Page)
		r.Page.Pay(b.PaymentID)
		return func() error { return r.deliver(r.notice(b), 1) }, func() { r.paidOrRefunded(b) }
	}},
	{"paid, nowhere known", false, func(r *rig) (func() error, func()) {
		b := r.Book("c1", "N2", r.Page)
		r.rebuilt(2)
		r.Page.Pay(b.PaymentID)
		return func() error { return r.deliver(r.notice(b), 1) }, func() { r.paidOrRefunded(b) }
	}},
	{"paid late", false, func(r *rig) (func() error, func()) {
		b := r.Book("c1", "N2", r.Page)
		r.done(b.Held)
		r.release(b)
		r.payLate(r.Page, b)
		return func() error { return r.deliver(r.notice(b), 1) }, func() { r.paidOrRefunded(b) }
	}},
	{"paid late, sold out", false, func(r *rig) (func() error, func()) {
		b := r.Book("c1", "N2", r.Page)
		r.done(b.Held)
		r.release(b)
		other := r.Book("c2", "N2", r.Page)
		r.done(other.Held)
		r.Page.Pay(other.PaymentID)
		r.done(r.notice(other))
		r.payLate(r.Page, b)
		return func() error { return r.deliver(r.notice(b), 1) }, func() { r.resolution(b, ledger.Refund, ledger.RefundDone) }
	}},
	{"paid twice", false, func(r *rig) (func() error, func()) {
		b := r.Book("c1", "N1", r.Page)
		r.done(b.Held)
		r.Page.Pay(b.PaymentID)
		r.done(r.notice(b))
		second := r.secondPayment(b)
		return func() error { return r.deliver(r.notice(second), 1) }, func() {
			r.state(b.ID, ledger.Paid)
			r.resolution(second, ledger.Refund, ledger.RefundDone)
		}
	}},
	{"executed", false, func(r *rig) (func() error, func()) {
		b := r.Book("c1", "N1", r.Exec)
		r.done(b.Held)
		r.Exec.Pay(b.PaymentID)
		return func() error { return r.deliver(r.notice(b), 1) }, func() { r.executedOnceAtMost(b) }
	}},
	{"executed, never held", false, func(r *rig) (func() error, func()) {
		b := r.Book("c1", "N1", r.Exec)
		r.Exec.Pay(b.PaymentID)
		return func() error { return r.deliver(r.notice(b), 1) }, func() { r.executedOnceAtMost(b) }
	}},
	{"conflict", true, func(r *rig) (func() error, func()) {
		first, second := r.soldTwice()
		return func() error { return r.deliver(second.Held, 1) }, func() {
			r.state(first.ID, ledger.Paid)
			r.state(second.ID, ledger.Released)
		}
	}},
	{"conflict, paid", true, func(r *rig) (func() error, func()) {
		first, second := r.soldTwice()
		r.Page.Pay(second.PaymentID)
		return func() error { return r.deliver(r.notice(second), 1) }, func() {
			r.state(first.ID, ledger.Paid)
			r.resolution(second, ledger.Refund, ledger.RefundDone)
		}
	}},
	{"released by the owner", false, func(r *rig) (func() error, func()) {
		b := r.Book("c1", "N1", r.Page)
		r.done(b.Held)
		return func() error {
			_, err := r.Steps.Release(r.T.Context(), b.ID, ledger.ReasonOwner, "candidate")
			return err
		}, func() { r.state(b.ID, ledger.Released) }
	}},
	{"expired", false, func(r *rig) (func() error, func()) {
		b := r.Book("c1", "N1", r.Exec)
		r.done(b.Held)
		r.Advance(r.Plan.Hold)
		return func() error {
			_, err := r.Steps.Expire(r.T.Context(), b.ID, r.Now())
			return err
		}, func() { r.state(b.ID, ledger.Released) }
	}},
	{"expired, but captured", false, func(r *rig) (func() error, func()) {
		b := r.Book("c1", "N1", r.Page)
		r.done(b.Held)
		r.Page.Pay(b.PaymentID) // and the webhook never comes
		r.Advance(r.Plan.Hold)
		return func() error {
			_, err := r.Steps.Expire(r.T.Context(), b.ID, r.Now())
			return err
		}, func() { r.state(b.ID, ledger.Paid) }
	}},
	{"cancelled by an operator", false, func(r *rig) (func() error, func()) {
		b := r.Book("c1", "N1", r.Page)
		r.done(b.Held)
		r.Page.Pay(b.PaymentID)
		r.done(r.notice(b))
		walk := func() error { return r.Steps.Cancel(r.T.Context(), b.ID, "operator:ann") }
		return walk, func() {
			if err := walk(); err != nil {
				r.T.Fatal(err)
			}
			r.resolution(b, ledger.Refund, ledger.RefundDone)
			r.heal()
		}
	}},
}

// TestCrashAtEveryStep stops the process at the k-th call, for every k, before
// and after the call is done; then it redelivers and heals, and looks at the
// invariants.
func TestCrashAtEveryStep(t *testing.T) {
	for _, s := range stories {
		t.Run(s.name, func(t *testing.T) {
			steps := 0
			for _, after := range []bool{false, true} {
				for k := 1; crash(t, s, crashing{call: k, after: after, redeliveries: 2}); k++ {
					steps++
				}
				for k := 1; crash(t, s, crashing{call: k, after: after, redeliveries: 2, remembers: true}); k++ {
				}
			}
			if steps < 6 {
				t.Errorf("only %d crashes: the walk does nothing", steps)
			}
		})
	}
}

// TestCrashWithoutRedelivery loses the event with the crash (it is in the dead
// letters): whatever was begun is brought to an end by the sweeps alone.
func TestCrashWithoutRedelivery(t *testing.T) {
	for _, s := range stories {
		if s.name == "paid late" {
			for _, after := range []bool{false, true} {
				for k := 10; crash(t, s, crashing{call: k, after: after}); k++ { // once the re-admission is attached
				}
			}
		}
	}
}

// crashing says when the crash comes and what follows.
type crashing struct {
	call         int  // at which it comes, counted from 1
	after        bool // the call is done, its answer is lost
	redeliveries int
	remembers    bool // only the delivery died, or another process has written the same: what is remembered stays
}

// crash tells the story with a crash; false if the walk has not so many calls.
func crash(t *testing.T, s story, c crashing) (crashed bool) {
	ok := t.Run(fmt.Sprintf("call %d after=%v remembers=%v", c.call, c.after, c.remembers), func(t *testing.T) {
		r := newRig(t)
		walk, end := s.tell(r)
		if !c.remembers {
			r.h = newHandler(r.World)
		}
		r.Faults.CrashAt(c.call, c.after)
		err := walk()
		var ops []string
		crashed, ops = r.Faults.Crashed()
		r.Faults.Restart()
		if !c.remembers {
			r.h = newHandler(r.World)
		}
		if !crashed && err != nil {
			t.Fatalf("no crash, but: %v", err)
		}
		t.Logf("calls: %v", ops)
		if !s.lost {
			r.Check()
		}
		for range c.redeliveries {
			if err := walk(); err != nil {
				t.Logf("redelivery: %v", err)
			}
		}
		if s.lost {
			r.Restore()
		}
		r.heal()
		end()
		r.Quiet()
		if !s.lost {
			r.alarmed("")
		}
	})
	return ok && crashed
}

// rebuilt is a Redis that lost everything and was rebuilt with a generation.
func (r *rig) rebuilt(gen int64) {
	r.Redis.Flush()
	r.Install(gen)
	for n := range 9 {
		r.roster(fmt.Sprintf("c%d", n+1))
	}
	r.Control(func(c *ledger.Control) { c.Gen = gen })
}

// soldTwice is what a stale replica makes: the first booking is paid, Redis has
// forgotten it, and the second one got the same seat (scenario 11).
func (r *rig) soldTwice() (first, second lifecycletest.Booked) {
	first = r.Book("c1", "N2", r.Page)
	r.done(first.Held)
	r.Page.Pay(first.PaymentID)
	r.done(r.notice(first))
	r.rebuilt(1)
	return first, r.Book("c2", "N2", r.Page)
}

// secondPayment is another captured payment of the same booking.
func (r *rig) secondPayment(b lifecycletest.Booked) lifecycletest.Booked {
	id := "again-" + b.ID
	r.Page.Edit(id, func(p *payment.Payment) {
		p.Metadata = payment.Metadata{Sale: lifecycletest.Sale, BookingID: b.ID, Candidate: b.Held.Candidate}
		p.AmountMinor, p.Currency = b.Held.Held.AmountMinor, b.Held.Held.Currency
		complete(r.Now())(p)
	})
	b.PaymentID, b.Key = id, ledger.PaymentKey{Gateway: "page", ID: id}
	return b
}

// paidOrRefunded: the money of b is a seat, under its own or its late id, or it
// went back.
func (r *rig) paidOrRefunded(b lifecycletest.Booked) {
	r.T.Helper()
	if p := r.Payment(b.Key); p.Resolution != ledger.Applied && p.Refund != ledger.RefundDone {
		r.T.Fatalf("payment %+v", p)
	}
}

// executedOnceAtMost: the money was taken once and is a seat, or never.
func (r *rig) executedOnceAtMost(b lifecycletest.Booked) {
	r.T.Helper()
	n := r.Exec.Executes(b.PaymentID)
	captured := r.Exec.Status(b.PaymentID) == payment.StatusCompleted
	if n > 1 {
		r.T.Fatalf("executed %d times", n)
	}
	want := ledger.Released
	if captured {
		want = ledger.Paid
	}
	r.state(b.ID, want)
}
