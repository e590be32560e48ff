package workers

import (
	"fmt"
	"testing"
	"time"

	"github.com/holdfast/holdfast/ledger"
)

func TestRecallIsBoundedAndForgets(t *testing.T) {
	var r recall
	now := time.Date(2026, 5, 1, 9, 0, 0, 0, time.UTC)
	key := func(i int) ledger.PaymentKey { return ledger.PaymentKey{Gateway: "page", ID: fmt.Sprint(i)} }
	r.wrote(ledger.Booking{ID: "none"}, now) // without a payment there is nothing to find it by
	for i := range 3 * recallMost {
		b := ledger.Booking{ID: fmt.Sprint(i), State: ledger.Held, Payment: key(i), Seats: []ledger.Seat{{Token: "t"}}, History: make([]ledger.Change, 1)}
		r.wrote(b, now)
		b.State = ledger.Paid
		r.wrote(b, now)
	}
	if len(r.byKey) != recallMost || len(r.queue) != recallMost {
		t.Fatalf("%d remembered, %d in the queue, want %d", len(r.byKey), len(r.queue), recallMost)
	}
	for i := range 3 * recallMost {
		b, ok := r.of(key(i), now)
		if want := i >= 2*recallMost; ok != want || ok && (b.ID != fmt.Sprint(i) || b.State != ledger.Paid) {
			t.Fatalf("payment %d: %+v, %v", i, b, ok)
		}
		if b.Seats != nil || b.History != nil {
			t.Fatal("seats and history are kept too")
		}
	}
	last := key(3*recallMost - 1)
	if !r.paid(last, now.Add(recallFor-1)) || r.paid(last, now.Add(recallFor)) {
		t.Error("remembered for another time than said")
	}
	r.wrote(ledger.Booking{ID: "new", Payment: key(-1)}, now.Add(recallFor))
	if len(r.byKey) != 1 || len(r.queue) != 1 {
		t.Errorf("%d remembered, %d in the queue, want the new one alone", len(r.byKey), len(r.queue))
	}
}
