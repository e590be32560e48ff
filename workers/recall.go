package workers

import (
	"sync"
	"time"

	"github.com/holdfast/holdfast/ledger"
)

// What is remembered of a rush: a booking's events mostly come within seconds of
// each other, and those that waited in the queue together in one receive.
const (
	recallMost = 4096
	recallFor  = time.Minute
)

// recall remembers what this process itself has lately written, by the payment of
// the booking. It saves calls and decides nothing: a held booking is only tried,
// under the same condition as one that was read, and a paid one has come to the
// end of what its payment can do. Whoever remembers nothing reads. The zero value
// is ready.
type recall struct {
	mu    sync.Mutex
	byKey map[ledger.PaymentKey]recalled
	ring  []ledger.PaymentKey // in the order in which they came; next is the oldest once it is full
	next  int
}

type recalled struct {
	booking ledger.Booking // held or paid; without seats and history
	at      time.Time
}

// wrote takes in that the ledger has the booking in this state. Of a paid one Redis
// was told too, or the sale is frozen and its rebuild will.
func (r *recall) wrote(b ledger.Booking, now time.Time) {
	if b.Payment.Zero() {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.byKey == nil {
		r.byKey = map[ledger.PaymentKey]recalled{}
	}
	if _, known := r.byKey[b.Payment]; !known {
		r.place(b.Payment)
	}
	r.byKey[b.Payment] = recalled{at: now, booking: ledger.Booking{
		ID: b.ID, Sale: b.Sale, Candidate: b.Candidate, State: b.State, Payment: b.Payment, Price: b.Price,
	}}
}

// place finds room in the ring. Lock held.
func (r *recall) place(key ledger.PaymentKey) {
	if len(r.ring) < recallMost {
		r.ring = append(r.ring, key)
		return
	}
	delete(r.byKey, r.ring[r.next])
	r.ring[r.next] = key
	r.next = (r.next + 1) % recallMost
}

// of is the booking of a payment as it was written here within the last minute.
func (r *recall) of(key ledger.PaymentKey, now time.Time) (ledger.Booking, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	x, ok := r.byKey[key]
	return x.booking, ok && now.Sub(x.at) < recallFor
}

// paid reports whether the payment has just paid its booking.
func (r *recall) paid(key ledger.PaymentKey, now time.Time) bool {
	b, ok := r.of(key, now)
	return ok && b.State == ledger.Paid
}
