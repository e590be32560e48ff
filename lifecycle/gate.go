package lifecycle

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/payment"
)

// GateVerdict is the closed set of answers of the release gate.
type GateVerdict int

// The verdicts of the release gate.
const (
	// GateUnpaid: no money was taken, and at a gateway that moves it on its own
	// page none can be taken any more.
	GateUnpaid GateVerdict = iota + 1
	// GateCaptured: the money was taken; GateAnswer.Payment has it.
	GateCaptured
	// GateUnknown: the gateway can't be reached or can't say, or an execute is
	// under way. GateAnswer.Cause says why.
	GateUnknown
)

// GateAnswer is what the release gate found.
type GateAnswer struct {
	Verdict GateVerdict
	Payment payment.Payment // as the gateway said; zero if it was not reached
	Cause   error           // of GateUnknown
}

// gateGuardFor is how long the release gate keeps the execute guard at most.
const gateGuardFor = 30 * time.Second

// Gate is the release gate (protocol.md 2.2.5): nothing is released before the
// gateway was asked. The error is for a gateway that this process does not
// have; everything a gateway does or fails to do is in the answer.
//
// How a release and an Execute are kept apart (protocol.md 2.2.4, 2.2.5). At a
// gateway where we move the money there is no session to cancel, so "unpaid"
// is only worth something if no Execute can follow it:
//
//   - The worker takes the execute guard, asks the gateway, stretches the hold
//     in the ledger (Commit, only while HELD), executes, and keeps the guard
//     until the outcome is known.
//   - The gate takes the same guard before it asks. If it can't have it, an
//     Execute is under way or its outcome is not known: GateUnknown. So an
//     "unpaid" was true at a moment when nobody was executing.
//   - T3 needs no more than that. An Execute that begins after the gate let go
//     has first stretched the hold beyond now, so T3, which needs hold_until <=
//     cut, fails its condition; and if T3 was first, Commit finds RELEASED and
//     the money is not taken.
//   - T3' has no time test, so it could come between Commit and Execute.
//     Release therefore keeps the guard until T3' is decided; the worker, who
//     commits after it has the guard, then finds RELEASED.
//   - The guard lives in Redis and a failover may lose it. Then the worst is
//     that the money is taken for a booking just released: a late payment,
//     which ends as a seat or a refund (3.7). The ledger's conditions, not the
//     guard, carry the safety.
//   - "Approved" counts as unpaid (only we could have taken the money), but a
//     release is postponed: the customer has just agreed to pay and a worker is
//     about to execute. A due hold is put off a few times and the worker reminded
//     (see Expire); an owner or operator may try again.
func (s *Steps) Gate(ctx context.Context, sale string, key ledger.PaymentKey) (GateAnswer, error) {
	ans, done, err := s.gate(ctx, sale, key)
	done()
	return ans, err
}

// gate is Gate, but keeps the execute guard until done is called. done is never
// nil.
func (s *Steps) gate(ctx context.Context, sale string, key ledger.PaymentKey) (ans GateAnswer, done func(), err error) {
	done = func() {}
	if key.Zero() { // nobody could pay: there was never a payment
		return GateAnswer{Verdict: GateUnpaid}, done, nil
	}
	gw := s.Gateways[key.Gateway]
	if gw == nil {
		return GateAnswer{}, done, fmt.Errorf("gateway %q of payment %s: %w", key.Gateway, key.ID, ErrUnknownGateway)
	}
	if gw.Moves() == payment.MovesOnExecute {
		holder, taken := GuardHolder(), s.Now()
		granted, err := s.Guard.AcquireExecute(ctx, sale, key.String(), holder, gateGuardFor)
		if err != nil {
			return unknown(payment.Payment{}, fmt.Errorf("lifecycle: take the execute guard: %w", err)), done, nil
		}
		if !granted {
			return unknown(payment.Payment{}, errors.New("lifecycle: an execute of this payment is under way")), done, nil
		}
		done = func() {
			if s.Now().Sub(taken) < gateGuardFor { // else it has run out by itself
				s.releaseGuard(ctx, sale, key, holder)
			}
		}
	}
	return askGate(ctx, gw, key.ID), done, nil
}

// GuardHolder names one caller of the execute guard. Each has a name of its own,
// never the booking's: a release that comes late, or is sent again because its
// answer was lost, must not let go the guard that another caller of the same
// booking has got meanwhile.
func GuardHolder() string { return rand.Text() }

func (s *Steps) releaseGuard(ctx context.Context, sale string, key ledger.PaymentKey, holder string) {
	// The guard runs out by itself; a caller who is gone must not keep it so long.
	ctx = context.WithoutCancel(ctx)
	if err := s.Guard.ReleaseExecute(ctx, sale, key.String(), holder); err != nil {
		s.log().WarnContext(ctx, "execute guard is left to run out", "sale", sale, "payment", key.String(), "err", err)
	}
}

func unknown(p payment.Payment, cause error) GateAnswer {
	return GateAnswer{Verdict: GateUnknown, Payment: p, Cause: cause}
}

// askGate asks the gateway and makes sure that an unpaid page can't be paid
// any more.
func askGate(ctx context.Context, gw payment.Gateway, paymentID string) GateAnswer {
	ans, open := queryGate(ctx, gw, paymentID)
	if !open || gw.Moves() == payment.MovesOnExecute {
		return ans
	}
	switch err := gw.Cancel(ctx, paymentID); {
	case err == nil, errors.Is(err, payment.ErrNotFound):
		ans.Payment.Status = payment.StatusCancelled // whatever it was when asked, approved included
		return ans
	case errors.Is(err, payment.ErrCompleted): // faster than us (protocol.md 2.2.5)
		again, _ := queryGate(ctx, gw, paymentID)
		if again.Verdict == GateCaptured {
			return again
		}
		return unknown(again.Payment, errors.New("lifecycle: the gateway says completed when cancelling, but not when asked"))
	default:
		return unknown(ans.Payment, fmt.Errorf("lifecycle: cancel payment %s: %w", paymentID, err))
	}
}

// queryGate asks once. open says that the payment could still be made.
func queryGate(ctx context.Context, gw payment.Gateway, paymentID string) (ans GateAnswer, open bool) {
	p, err := gw.Query(ctx, paymentID)
	switch {
	case errors.Is(err, payment.ErrNotFound): // a definite answer: nothing there can be captured
		return GateAnswer{Verdict: GateUnpaid}, false
	case err != nil:
		return unknown(payment.Payment{}, fmt.Errorf("lifecycle: query payment %s: %w", paymentID, err)), false
	case p.Status == payment.StatusCompleted:
		return GateAnswer{Verdict: GateCaptured, Payment: p}, false
	case p.Status.Final():
		return GateAnswer{Verdict: GateUnpaid, Payment: p}, false
	case p.Status == payment.StatusOpen, p.Status == payment.StatusApproved:
		return GateAnswer{Verdict: GateUnpaid, Payment: p}, true
	}
	return unknown(p, fmt.Errorf("lifecycle: the gateway says payment %s is %q", paymentID, p.Status)), false
}
