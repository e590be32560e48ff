package booking_test

import (
	"context"
	"testing"

	"github.com/holdfast/holdfast/events"
	"github.com/holdfast/holdfast/ingress/booking"
	"github.com/holdfast/holdfast/lifecycle/lifecycletest"
)

func contextWithCancel(t *testing.T) (context.Context, context.CancelFunc) {
	t.Helper()
	return context.WithCancel(t.Context())
}

// pay lets a worker hear of the booking's payment.
func (w *world) pay(a booking.Answer) {
	w.T.Helper()
	e := events.Event{Version: events.Version, Type: events.PaymentNotified, Sale: lifecycletest.Sale, BookingID: a.BookingID, Gen: 1, At: w.Now(),
		Notice: &events.Notice{Gateway: "page", PaymentID: payID(a), EventID: "evt-" + a.BookingID, Source: "webhook"}}
	if err := w.World.Publish(w.T.Context(), e); err != nil {
		w.T.Fatal(err)
	}
	w.work()
}
