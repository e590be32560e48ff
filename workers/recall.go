package workers

import (
	"sync"
	"time"

	"github.com/holdfast/holdfast/ledger"
)

// What is remembered of a rush: a booking's events come within seconds of each
// other, or as late as the gateway's webhooks do. At most it is some 10 MB.
const (
	recallMost = 16 << 10
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
	queue []ledger.PaymentKey // in the order in which they came
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
		r.forget(now)
		r.queue = append(r.queue, b.Payment)
	}
	r.byKey[b.Payment] = recalled{at: now, booking: ledger.Booking{
		ID: b.ID, Sale: b.Sale, Candidate: b.Candidate, State: b.State, Payment: b.Payment, Price: b.Price,
	}}
}

// forget makes room for one, and drops the oldest that are too old. Lock held.
func (r *recall) forget(now time.Time) {
	n := 0
	for n < len(r.queue) && (len(r.queue)-n >= recallMost || now.Sub(r.byKey[r.queue[n]].at) >= recallFor) {
		delete(r.byKey, r.queue[n])
		n++
	}
	r.queue = r.queue[n:]
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
