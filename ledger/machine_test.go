package ledger_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/sale"
)

var start = time.Date(2026, 3, 1, 4, 0, 0, 123_456_789, time.UTC)

func booking(id string) ledger.Booking {
	return ledger.Booking{ID: id, Sale: "s", Candidate: "c-" + id, Level: "N1", Seats: []ledger.Seat{{Token: "t-" + id, Score: 1}},
		Payment: ledger.PaymentKey{Gateway: "g", ID: "p-" + id}, Price: sale.Money{AmountMinor: 100, Currency: "BDT"},
		AdmittedAt: start, HoldUntil: start.Add(10 * time.Minute)}
}

func capture(b ledger.Booking) ledger.Capture {
	return ledger.Capture{Key: b.Payment, AmountMinor: 100, Currency: "BDT", At: start.Add(time.Minute)}
}

// constructors are all that need a state, with the states from which they are
// legal (the picture of protocol.md 3.3).
var constructors = []struct {
	name  ledger.Name
	legal []ledger.State
	make  func(ledger.Booking) (ledger.Transition, error)
}{
	{ledger.T1Hold, []ledger.State{ledger.None}, func(b ledger.Booking) (ledger.Transition, error) { return ledger.Hold(b, "worker", start) }},
	{ledger.T2Pay, []ledger.State{ledger.Held}, func(b ledger.Booking) (ledger.Transition, error) {
		return ledger.Confirm(b, capture(b), "worker", start)
	}},
	{ledger.T2PayUnheld, []ledger.State{ledger.None}, func(b ledger.Booking) (ledger.Transition, error) {
		return ledger.ConfirmUnheld(b, capture(b), "worker", start)
	}},
	{ledger.TLateApply, []ledger.State{ledger.None}, func(b ledger.Booking) (ledger.Transition, error) {
		return ledger.ApplyLate(b, "old", capture(b), "worker", start)
	}},
	{ledger.T3Expire, []ledger.State{ledger.Held}, func(b ledger.Booking) (ledger.Transition, error) {
		return ledger.Expire(b, b.HoldUntil, "reaper", start)
	}},
	{ledger.T3Release, []ledger.State{ledger.Held}, func(b ledger.Booking) (ledger.Transition, error) {
		return ledger.Release(b, ledger.ReasonOwner, "candidate", start)
	}},
	{ledger.T4Tombstone, []ledger.State{ledger.None}, func(b ledger.Booking) (ledger.Transition, error) {
		return ledger.Tombstone(b, ledger.ReasonOrphan, "reaper", start)
	}},
	{ledger.T5UndoDone, []ledger.State{ledger.Released}, func(b ledger.Booking) (ledger.Transition, error) { return ledger.UndoDone(b, start) }},
	{ledger.T7Extend, []ledger.State{ledger.Held}, func(b ledger.Booking) (ledger.Transition, error) {
		return ledger.Extend(b, start, "candidate", start)
	}},
	{ledger.TReleaseAsk, []ledger.State{ledger.Held}, func(b ledger.Booking) (ledger.Transition, error) {
		return ledger.AskAgain(b, start, "reaper", start)
	}},
	{ledger.T7Extend, []ledger.State{ledger.Held}, func(b ledger.Booking) (ledger.Transition, error) {
		return ledger.Commit(b, b.Payment, start, start)
	}},
	{ledger.TAccept, []ledger.State{ledger.Held}, func(b ledger.Booking) (ledger.Transition, error) {
		p := ledger.PaymentRecord{Key: b.Payment, Sale: b.Sale, BookingID: b.ID, Resolution: ledger.Review}
		return ledger.AcceptReviewed(b, p, "operator:ann", "enough", start)
	}},
	{ledger.T8Cancel, []ledger.State{ledger.Paid}, func(b ledger.Booking) (ledger.Transition, error) {
		return ledger.Cancel(b, "operator:ann", start)
	}},
}

func TestEachConstructorInEachState(t *testing.T) {
	for _, c := range constructors {
		for _, state := range []ledger.State{ledger.None, ledger.Held, ledger.Paid, ledger.Released} {
			b := booking("b")
			b.State = state
			tr, err := c.make(b)
			if slices.Contains(c.legal, state) {
				if err != nil || tr.Name != c.name || tr.BookingID() != b.ID || !tr.At.Equal(ledger.Instant(start)) {
					t.Errorf("%s from %q: %+v, %v", c.name, state, tr, err)
				}
				continue
			}
			var illegal *ledger.TransitionError
			if !errors.As(err, &illegal) || illegal.Name != c.name || illegal.From != state || illegal.BookingID != b.ID {
				t.Errorf("%s from %q: %v, want a TransitionError", c.name, state, err)
			}
			if diff := cmp.Diff(ledger.Transition{}, tr); diff != "" {
				t.Errorf("%s from %q: an error and a transition:\n%s", c.name, state, diff)
			}
		}
	}
}

// Nothing ever leads out of RELEASED (R3), and only what ends a live booking
// frees its seats.
func TestShapesOfTransitions(t *testing.T) {
	for _, c := range constructors {
		b := booking("b")
		b.State = c.legal[0]
		tr, err := c.make(b)
		if err != nil {
			t.Fatal(err)
		}
		if u := tr.Update; u != nil && u.From == ledger.Released && u.To != ledger.Released {
			t.Errorf("%s leads out of RELEASED", c.name)
		}
		becomesLive := tr.Create != nil && tr.Create.State.Live()
		ends := tr.Update != nil && tr.Update.From.Live() && !tr.Update.To.Live()
		if becomesLive != (tr.Claim != nil) || ends != (tr.Free != nil) {
			t.Errorf("%s: becomes live %v with claim %+v, ends %v with free %+v", c.name, becomesLive, tr.Claim, ends, tr.Free)
		}
		released := ends || tr.Create != nil && tr.Create.State == ledger.Released
		owes := tr.Update != nil && tr.Update.SetUndo || tr.Create != nil && tr.Create.UndoOwed
		if released != owes {
			t.Errorf("%s: releases %v, owes an undo %v", c.name, released, owes)
		}
		if o := tr.Claim; o != nil && (o.Candidate != b.Candidate || !slices.Equal(o.Tokens, b.Tokens()) || o.BookingID != b.ID) {
			t.Errorf("%s claims %+v", c.name, o)
		}
	}
}

func TestExpireNeedsAHoldThatEnded(t *testing.T) {
	b := booking("b")
	b.State = ledger.Held
	if _, err := ledger.Expire(b, b.HoldUntil.Add(-time.Nanosecond), "reaper", start); err == nil {
		t.Error("a hold that has not ended was expired")
	}
}

func TestRefundNextGoesForwardOnly(t *testing.T) {
	next := map[ledger.RefundStep]ledger.RefundStep{ledger.RefundDue: ledger.RefundSent, ledger.RefundSent: ledger.RefundDone}
	for _, res := range []ledger.Resolution{ledger.Open, ledger.Applied, ledger.Refund, ledger.Review} {
		for _, step := range []ledger.RefundStep{ledger.NoRefund, ledger.RefundDue, ledger.RefundSent, ledger.RefundDone} {
			tr, err := ledger.RefundNext(ledger.PaymentRecord{BookingID: "b", Resolution: res, Refund: step}, start)
			want := next[step]
			if res != ledger.Refund {
				want = ledger.NoRefund
			}
			if (err == nil) != (want != ledger.NoRefund) || err == nil && tr.Payment.Refund != want {
				t.Errorf("%s/%s: %+v, %v, want %q", res, step, tr.Payment, err, want)
			}
		}
	}
}

// Every HELD record has candidate, seats, end and payment (case B28).
func TestIncompleteBookingsAreRefused(t *testing.T) {
	for missing, remove := range map[string]func(*ledger.Booking){
		"id":               func(b *ledger.Booking) { b.ID = "" },
		"sale":             func(b *ledger.Booking) { b.Sale = "" },
		"candidate":        func(b *ledger.Booking) { b.Candidate = "" },
		"level":            func(b *ledger.Booking) { b.Level = "" },
		"seats":            func(b *ledger.Booking) { b.Seats = nil },
		"seats, each once": func(b *ledger.Booking) { b.Seats = append(b.Seats, b.Seats[0]) },
		"payment":          func(b *ledger.Booking) { b.Payment = ledger.PaymentKey{} },
		"hold_until":       func(b *ledger.Booking) { b.HoldUntil = time.Time{} },
	} {
		b := booking("b")
		remove(&b)
		var incomplete *ledger.IncompleteError
		if _, err := ledger.Hold(b, "worker", start); !errors.As(err, &incomplete) || incomplete.Missing != missing {
			t.Errorf("T1 without %s: %v", missing, err)
		}
		_, err := ledger.Tombstone(b, ledger.ReasonOrphan, "reaper", start)
		if needed := missing == "id" || missing == "sale" || missing == "seats, each once"; (err != nil) != needed {
			t.Errorf("T4 without %s: %v", missing, err)
		}
	}
}

// A transition holds instants only, and no memory of what it was made from.
func TestTransitionsKeepNothingOfTheirInput(t *testing.T) {
	b := booking("b")
	tr, err := ledger.Hold(b, "worker", start.In(time.FixedZone("", 3600)))
	if err != nil {
		t.Fatal(err)
	}
	b.Seats[0].Token = "changed"
	if tr.Create.Seats[0].Token == "changed" || tr.Claim.Tokens[0] == "changed" {
		t.Error("the transition changed with the booking that it was made from")
	}
	want := time.Date(2026, 3, 1, 4, 0, 0, 123_000_000, time.UTC)
	for _, at := range []time.Time{tr.At, tr.Create.AdmittedAt, tr.Create.History[0].At} {
		if at != want {
			t.Errorf("%v, want %v", at, want)
		}
	}
}
