package ledger

import "time"

// The constructors below are the only way to make a Transition: one for each
// legal step of protocol.md 3.3. Each is pure, keeps no part of what it is
// given and cuts times to milliseconds. Those that need the present state take
// the booking as it was read; the store checks it again.
//
// Whoever repeats a step whose answer was lost meets his own work. T1, T2, T2'
// and the late apply: the Read functions answer VerdictDone. T3, T3', T4, T8:
// a condition fails and Found.Booking is RELEASED. T5 and the commit gate
// simply succeed again. The others are said at each constructor.

// Hold is T1: a booking nobody has written yet becomes HELD, takes its
// candidate and seats, and opens its payment.
func Hold(b Booking, actor Actor, now time.Time) (Transition, error) {
	if b.State != None {
		return Transition{}, &TransitionError{b.ID, b.State, T1Hold}
	}
	if err := b.complete(T1Hold); err != nil {
		return Transition{}, err
	}
	b = b.instants()
	b.State, b.Reason, b.Actor = Held, ReasonHeld, actor
	b.History = []Change{{None, Held, Instant(now), actor, ReasonHeld}}
	return Transition{
		Name: T1Hold, At: Instant(now), Create: &b, Claim: ownershipOf(b),
		Payment: &PaymentChange{Key: b.Payment, Sale: b.Sale, BookingID: b.ID, When: AbsentOrOwnOpen, Resolution: Open},
	}, nil
}

// Confirm is T2: a held booking is paid. There is no test of time: a payment
// that arrives before the release wins.
func Confirm(b Booking, c Capture, actor Actor, now time.Time) (Transition, error) {
	if b.State != Held {
		return Transition{}, &TransitionError{b.ID, b.State, T2Pay}
	}
	return Transition{
		Name: T2Pay, At: Instant(now),
		Update: &BookingChange{ID: b.ID, Sale: b.Sale, From: Held, To: Paid, PaidAt: Instant(c.At), Payment: c.Key,
			Append: true, Reason: ReasonCaptured, Actor: actor},
		Payment: applied(b, c, AbsentOrOwnOpen),
	}, nil
}

// ConfirmUnheld is T2': the payment came, the HELD event did not. The caller
// has looked into Redis first (protocol.md 3.6).
func ConfirmUnheld(b Booking, c Capture, actor Actor, now time.Time) (Transition, error) {
	if b.State != None {
		return Transition{}, &TransitionError{b.ID, b.State, T2PayUnheld}
	}
	if err := b.complete(T2PayUnheld); err != nil {
		return Transition{}, err
	}
	return Transition{
		Name: T2PayUnheld, At: Instant(now), Create: created(b, c, ReasonCaptured, actor, now), Claim: ownershipOf(b),
		Payment: applied(b, c, AbsentOrOwnOpen),
	}, nil
}

// ApplyLate is step 3 of protocol.md 3.7: the re-admitted booking is written as
// PAID, takes candidate and seats, wins the payment, and the released one
// points to it.
func ApplyLate(readmitted Booking, released string, c Capture, actor Actor, now time.Time) (Transition, error) {
	if readmitted.State != None {
		return Transition{}, &TransitionError{readmitted.ID, readmitted.State, TLateApply}
	}
	if err := readmitted.complete(TLateApply); err != nil {
		return Transition{}, err
	}
	return Transition{
		Name: TLateApply, At: Instant(now), Create: created(readmitted, c, ReasonLate, actor, now), Claim: ownershipOf(readmitted),
		Link:    &Link{BookingID: released, Successor: readmitted.ID},
		Payment: applied(readmitted, c, AbsentOrOpen),
	}, nil
}

// Expire is T3: the reaper releases a held booking whose hold ended at or
// before cut, after the release gate.
func Expire(b Booking, cut time.Time, actor Actor, now time.Time) (Transition, error) {
	if b.State != Held || b.HoldUntil.After(cut) {
		return Transition{}, &TransitionError{b.ID, b.State, T3Expire}
	}
	t := release(T3Expire, b, Held, ReasonExpired, actor, now)
	t.Update.HeldUntil = Instant(cut)
	return t, nil
}

// Release is T3': owner or operator give a held booking back, after the
// release gate.
func Release(b Booking, why Reason, actor Actor, now time.Time) (Transition, error) {
	if b.State != Held {
		return Transition{}, &TransitionError{b.ID, b.State, T3Release}
	}
	return release(T3Release, b, Held, why, actor, now), nil
}

// Tombstone is T4: a booking the ledger has never seen is released for good,
// so that a late event cannot bring it back (protocol.md R3).
func Tombstone(b Booking, why Reason, actor Actor, now time.Time) (Transition, error) {
	if b.State != None {
		return Transition{}, &TransitionError{b.ID, b.State, T4Tombstone}
	}
	if err := b.complete(T4Tombstone); err != nil {
		return Transition{}, err
	}
	b = b.instants()
	b.State, b.Reason, b.Actor, b.UndoOwed, b.ReleasedAt = Released, why, actor, true, Instant(now)
	b.History = []Change{{None, Released, Instant(now), actor, why}}
	return Transition{Name: T4Tombstone, At: Instant(now), Create: &b}, nil
}

// UndoDone is T5: Redis has given the seats back and the replicas have said so.
func UndoDone(b Booking, now time.Time) (Transition, error) {
	if b.State != Released {
		return Transition{}, &TransitionError{b.ID, b.State, T5UndoDone}
	}
	return Transition{Name: T5UndoDone, At: Instant(now), Update: &BookingChange{ID: b.ID, Sale: b.Sale, From: Released, To: Released, ClearUndo: true}}, nil
}

// Extend is T7: the hold ends later. It never ends earlier (case B21); a hold
// that already ends at or after until is a failed condition, and fine: that is
// also what a repeat sees (Found.Booking is HELD and ends at until or later).
func Extend(b Booking, until time.Time, actor Actor, now time.Time) (Transition, error) {
	if b.State != Held {
		return Transition{}, &TransitionError{b.ID, b.State, T7Extend}
	}
	return Transition{Name: T7Extend, At: Instant(now), Update: &BookingChange{ID: b.ID, Sale: b.Sale, From: Held, To: Held,
		Before: Instant(until), HoldUntil: Instant(until), Append: true, Reason: ReasonExtended, Actor: actor}}, nil
}

// AskAgain extends the hold because the release gate could not learn the
// payment's state, and counts it (protocol.md 2.2.5: at most 5 times, then a
// person is paged). A repeat is not counted twice: like Extend's it fails.
func AskAgain(b Booking, until time.Time, actor Actor, now time.Time) (Transition, error) {
	t, err := Extend(b, until, actor, now)
	if err != nil {
		return Transition{}, &TransitionError{b.ID, b.State, TReleaseAsk}
	}
	t.Name, t.Update.ReleaseAsks = TReleaseAsk, 1
	return t, nil
}

// Commit is the commit gate of protocol.md 2.2.4: the hold is stretched and
// the payment named before money moves, and that it may have moved is marked
// for good (Paying). Only a held booking passes. The hold
// never gets shorter (case B21): if somebody extended it beyond until since b
// was read, the condition fails with a booking that is still HELD; build it
// again from that one.
func Commit(b Booking, k PaymentKey, until time.Time, now time.Time) (Transition, error) {
	if b.State != Held {
		return Transition{}, &TransitionError{b.ID, b.State, T7Extend}
	}
	if b.HoldUntil.After(until) {
		until = b.HoldUntil
	}
	return Transition{Name: T7Extend, At: Instant(now), Update: &BookingChange{ID: b.ID, Sale: b.Sale, From: Held, To: Held,
		HeldUntil: Instant(until), HoldUntil: Instant(until), Payment: k, Paying: true}}, nil
}

// Cancel is T8: an operator cancels a paid booking, and its payment is due for
// refund in the same write (3B.2).
func Cancel(b Booking, actor Actor, now time.Time) (Transition, error) {
	if b.State != Paid {
		return Transition{}, &TransitionError{b.ID, b.State, T8Cancel}
	}
	t := release(T8Cancel, b, Paid, ReasonCancelled, actor, now)
	t.Payment = &PaymentChange{Key: b.Payment, Sale: b.Sale, BookingID: b.ID, When: OwnApplied,
		Resolution: Refund, Refund: RefundDue, Reason: string(ReasonCancelled)}
	return t, nil
}

func release(n Name, b Booking, from State, why Reason, actor Actor, now time.Time) Transition {
	return Transition{Name: n, At: Instant(now), Free: ownershipOf(b),
		Update: &BookingChange{ID: b.ID, Sale: b.Sale, From: from, To: Released, SetUndo: true, Append: true, Reason: why, Actor: actor}}
}

func created(b Booking, c Capture, why Reason, actor Actor, now time.Time) *Booking {
	b = b.instants()
	b.State, b.Payment, b.PaidAt, b.Reason, b.Actor = Paid, c.Key, Instant(c.At), why, actor
	b.History = []Change{{None, Paid, Instant(now), actor, why}}
	return &b
}

func ownershipOf(b Booking) *Ownership {
	return &Ownership{Sale: b.Sale, Candidate: b.Candidate, BookingID: b.ID, Tokens: b.Tokens()}
}
