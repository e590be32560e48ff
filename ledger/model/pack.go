package model

import (
	"fmt"

	"github.com/holdfast/holdfast/ledger"
)

// packed is the ledger in 36 bits: for each booking its state, whether an undo
// is owed and whether it has a successor, the owner of each candidate and of
// each seat, and for each payment its resolution and whether it belongs to the
// late booking. What it leaves out (times, history, reasons) decides nothing.
type packed uint64

const (
	claimAt   = 4 * bookings
	ownerAt   = claimAt + 3*2
	paymentAt = ownerAt + 3*maxSeats
)

// states and resolutions are kept as their index.
var (
	states      = [...]ledger.State{ledger.None, ledger.Held, ledger.Paid, ledger.Released}
	resolutions = [...]struct {
		resolution ledger.Resolution
		refund     ledger.RefundStep
	}{
		{}, {ledger.Open, ledger.NoRefund}, {ledger.Applied, ledger.NoRefund},
		{ledger.Refund, ledger.RefundDue}, {ledger.Refund, ledger.RefundSent}, {ledger.Refund, ledger.RefundDone},
		{ledger.Applied, ledger.RefundDue}, {ledger.Applied, ledger.RefundDone}, // only mutants come here
	}
)

// Indexes of resolutions.
const (
	paymentAbsent = iota
	paymentOpen
	paymentApplied
	refundDue
	refundSent
	refundDone
)

func (p packed) get(at, width uint) uint8 { return uint8(p>>at) & (1<<width - 1) }

func (p packed) set(at, width uint, v uint8) packed {
	mask := packed(1)<<width - 1
	return p&^(mask<<at) | packed(v)&mask<<at
}

func (p packed) state(b bid) ledger.State { return states[p.get(4*uint(b), 2)] }
func (p packed) known(b bid) bool         { return p.get(4*uint(b), 2) != 0 }
func (p packed) live(b bid) bool          { v := p.get(4*uint(b), 2); return v == 1 || v == 2 }
func (p packed) released(b bid) bool      { return p.get(4*uint(b), 2) == 3 }
func (p packed) undoOwed(b bid) bool      { return p.get(4*uint(b)+2, 1) == 1 }
func (p packed) claim(c uint8) bid        { return redis(p).owner(claimAt + 3*uint(c)) }
func (p packed) payment(k uint8) uint8    { return p.get(paymentAt+4*uint(k), 3) }
func (p packed) paymentLate(k uint8) bool { return p.get(paymentAt+4*uint(k)+3, 1) == 1 }

// booking is booking b in state None, as its event or its record describes it.
func (m *Model) booking(b bid) ledger.Booking {
	return ledger.Booking{
		ID: bidNames[b], Sale: saleID, Candidate: candidateNames[m.candidate(b)], Level: level,
		Seats: seatsOf(m.group(b)), Payment: paymentKey(b.payment()), Price: price,
		Gen: 1, AdmittedAt: noon, HoldUntil: noon,
	}
}

func seatsOf(mask uint8) (list []ledger.Seat) {
	for i, token := range tokens {
		if mask&(1<<i) != 0 {
			list = append(list, ledger.Seat{Token: token, Score: int64(i) + 1})
		}
	}
	return list
}

func tokensOf(mask uint8) (list []string) {
	for _, s := range seatsOf(mask) {
		list = append(list, s.Token)
	}
	return list
}

// unpack is p in the types of package ledger.
func (m *Model) unpack(p packed) *book {
	k := &book{map[string]ledger.Booking{}, map[string]string{}, map[string]string{}, map[ledger.PaymentKey]ledger.PaymentRecord{}}
	for b := range bid(bookings) {
		s := p.state(b)
		if s == ledger.None {
			continue
		}
		x := m.booking(b)
		x.State, x.UndoOwed, x.Reason = s, p.undoOwed(b), "modelled"
		x.History = []ledger.Change{{To: s}}
		if p.get(4*uint(b)+3, 1) == 1 {
			x.Successor = bidNames[b.late()]
		}
		k.bookings[x.ID] = x
	}
	for c, name := range candidateNames {
		if b := p.claim(uint8(c)); b != noBid {
			k.claims[name] = bidNames[b]
		}
	}
	for i, name := range tokens {
		if b := redis(p).owner(ownerAt + 3*uint(i)); b != noBid {
			k.seats[name] = bidNames[b]
		}
	}
	for i := range uint8(attempts) {
		if v := p.payment(i); v != paymentAbsent {
			owner := bid(i)
			if p.paymentLate(i) {
				owner = owner.late()
			}
			k.payments[paymentKey(i)] = ledger.PaymentRecord{Key: paymentKey(i), Sale: saleID, BookingID: bidNames[owner],
				Resolution: resolutions[v].resolution, Refund: resolutions[v].refund, AmountMinor: price.AmountMinor, Currency: price.Currency}
		}
	}
	return k
}

// pack is the inverse of unpack.
func (m *Model) pack(k *book) packed {
	var p packed
	for id, x := range k.bookings {
		at := 4 * uint(bidOf(id))
		p = p.set(at, 2, indexOf(states[:], x.State)).set(at+2, 1, bit(x.UndoOwed)).set(at+3, 1, bit(x.Successor != ""))
	}
	r := redis(p)
	for c, name := range candidateNames {
		r = r.own(claimAt+3*uint(c), bidOf(k.claims[name]))
	}
	for i, name := range tokens {
		r = r.own(ownerAt+3*uint(i), bidOf(k.seats[name]))
	}
	p = packed(r)
	for i := range uint8(attempts) {
		if x, ok := k.payments[paymentKey(i)]; ok {
			at := paymentAt + 4*uint(i)
			p = p.set(at, 3, indexOf(resolutions[:], struct {
				resolution ledger.Resolution
				refund     ledger.RefundStep
			}{x.Resolution, x.Refund})).set(at+3, 1, bit(bidOf(x.BookingID).isLate()))
		}
	}
	return p
}

// indexOf panics on what the model has no room for: that is a fault of the
// model, not of the protocol.
func indexOf[T comparable](all []T, v T) uint8 {
	for i, x := range all {
		if x == v {
			return uint8(i)
		}
	}
	panic(fmt.Sprintf("model: no room for %v", v))
}

func bit(b bool) uint8 {
	if b {
		return 1
	}
	return 0
}
