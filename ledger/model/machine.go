package model

import (
	"fmt"

	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/ledger/invariant"
)

// op is a conditional write of the ledger.
type op uint8

const (
	opHold       op = iota + 1 // T1
	opPay                      // T2
	opPayUnheld                // T2'
	opExpire                   // T3; T3' is the same without a clock
	opTombstone                // T4
	opUndoDone                 // T5
	opApplyLate                // 3.7 step 3
	opRefundLate               // 3.7 step 4
	opRefundNext               // T6
	opCancel                   // T8
	// What mutants write instead.
	opRevive     // T1 that takes a RELEASED for nothing
	opReviveLate // a late payment that makes its RELEASED booking PAID again
)

// written is what a conditional write came to: verdict 0 means that it was
// applied, else the production's reading of the failed condition. For T3, T4
// and the late refund, which have no reader, it is VerdictReleased, VerdictHeld
// or VerdictResolved by what was found.
type written struct {
	next    packed
	verdict ledger.Verdict
	broken  string // a broken promise of the step itself
}

type question struct {
	state packed
	op    op
	b     bid
}

// write asks the production machine, once for each question.
func (m *Model) write(state packed, o op, b bid) written {
	q := question{state, o, b}
	if w, ok := m.writes[q]; ok {
		return w
	}
	w := m.ask(q)
	m.writes[q] = w
	return w
}

func (m *Model) ask(q question) written {
	k := m.unpack(q.state)
	t, err := m.transition(k, q.op, q.b)
	if err != nil { // the machine has no such step from here: as if the condition had failed
		return written{next: q.state, verdict: readState(k.booking(bidNames[q.b]))}
	}
	late := q.op == opApplyLate || q.op == opRefundLate
	applied, found := k.apply(t, waived{ownership: m.rules.NoUniqueness, payment: m.rules.NoArbitration && late})
	if !applied {
		return written{next: q.state, verdict: m.read(q, found)}
	}
	w := written{next: m.pack(k)}
	if v := invariant.Terminal(m.before(k, q.state)); len(v) > 0 {
		w.broken = fmt.Sprintf("%s: %s: %s", v[0].Invariant, v[0].ID, v[0].Detail)
	}
	return w
}

// transition builds the write with the production's constructor.
func (m *Model) transition(k *book, o op, b bid) (ledger.Transition, error) {
	fresh := m.booking(b)
	was := k.bookings[fresh.ID]
	c := ledger.Capture{Key: paymentKey(b.payment()), AmountMinor: price.AmountMinor, Currency: price.Currency, At: noon}
	switch o {
	case opHold:
		return ledger.Hold(fresh, "worker", noon)
	case opPay:
		return ledger.Confirm(held(was, fresh), c, "worker", noon)
	case opPayUnheld:
		return ledger.ConfirmUnheld(fresh, c, "worker", noon)
	case opExpire:
		return ledger.Expire(was, noon, "reaper", noon)
	case opTombstone:
		return ledger.Tombstone(fresh, ledger.ReasonOrphan, "reaper", noon)
	case opUndoDone:
		return ledger.UndoDone(was, noon)
	case opApplyLate:
		return ledger.ApplyLate(fresh, bidNames[b.attempt()], c, "worker", noon)
	case opRefundLate:
		return ledger.RefundLate(was, c, "late", noon), nil
	case opRefundNext:
		return ledger.RefundNext(k.payments[c.Key], noon)
	case opCancel:
		return ledger.Cancel(was, "operator:o", noon)
	case opRevive:
		delete(k.bookings, fresh.ID)
		return ledger.Hold(fresh, "worker", noon)
	case opReviveLate:
		delete(k.bookings, fresh.ID)
		return ledger.ConfirmUnheld(fresh, c, "worker", noon)
	}
	panic("model: unknown write")
}

// held is the booking as the worker has read it, for T2: whoever reads nothing
// tries all the same, and the condition answers.
func held(was, fresh ledger.Booking) ledger.Booking {
	if was.ID == "" || was.State != ledger.Held {
		fresh.State = ledger.Held
		return fresh
	}
	return was
}

// read is the production's reading of a failed condition.
func (m *Model) read(q question, f ledger.Found) ledger.Verdict {
	b := m.booking(q.b)
	switch q.op {
	case opHold, opRevive:
		return ledger.ReadHold(b, f)
	case opPay:
		return ledger.ReadPay(b, b.Payment, f)
	case opPayUnheld, opReviveLate:
		return ledger.ReadPayUnheld(b, b.Payment, f)
	case opApplyLate:
		return ledger.ReadLate(b, f)
	case opRefundLate, opRefundNext:
		return ledger.VerdictResolved
	}
	return readState(f.Booking)
}

func readState(b *ledger.Booking) ledger.Verdict {
	switch {
	case b == nil:
		return ledger.VerdictUnheld
	case b.State == ledger.Released:
		return ledger.VerdictReleased
	}
	return ledger.VerdictHeld
}

// before is the ledger k with the states it had in p.
func (m *Model) before(k *book, p packed) invariant.Snapshot {
	s := m.snapshot(k)
	s.Earlier = map[string]ledger.State{}
	for b := range bid(bookings) {
		if p.known(b) {
			s.Earlier[bidNames[b]] = p.state(b)
		}
	}
	return *s
}

func (m *Model) snapshot(k *book) *invariant.Snapshot {
	s := invariant.New(m.plan())
	s.Bookings, s.Claims, s.SeatOwners, s.Payments = k.bookings, k.claims, k.seats, k.payments
	return s
}
