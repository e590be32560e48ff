package ingress_test

import (
	"context"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/events"
	"github.com/holdfast/holdfast/ingress"
	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/payment"
	"github.com/holdfast/holdfast/payment/sandbox/engine"
)

// stuck is a gateway whose first create hangs, whatever its context says, until
// the test lets it go, and is then refused.
type stuck struct {
	payment.Gateway
	first  sync.Once
	inside chan struct{} // closed when the first create has begun
	let    chan struct{}
}

func (g *stuck) Create(ctx context.Context, r payment.CreateRequest) (s payment.Session, err error) {
	mine := false
	g.first.Do(func() { mine = true })
	if !mine {
		return g.Gateway.Create(ctx, r)
	}
	close(g.inside)
	<-g.let
	return s, payment.ErrRefused
}

// Crash matrix row 3: the server dies between admit and attach. The candidate's
// page retries with its key, the driver is silent, the same seat is paid for:
// the last one of its level, and nobody else got it meanwhile. That the dead
// driver wakes up after all, with a refusal in its hands, changes nothing.
func TestRetryAfterACrashPaysForTheSameSeat(t *testing.T) {
	const silence = 5 * time.Second // a busy machine answers the second request before it is over
	g := &stuck{inside: make(chan struct{}), let: make(chan struct{})}
	w := overRealRedis(t, func(o *ingress.Options) {
		g.Gateway = o.Gateways["page"]
		o.Gateways = payment.Gateways{"page": g}
		o.Resume, o.ResumeAfter = o.Redis.(admission.Resumer), silence
	})
	dead := make(chan answer)
	go func() {
		dead <- w.do(http.MethodPost, "/sales/"+theSale+"/bookings", wish(1, "N2"), "Idempotency-Key", "k1")
	}()
	<-g.inside
	w.book(wish(1, "N2"), 409, "in_progress", "Idempotency-Key", "k1") // not silent long enough
	w.book(wish(1, "N2"), 409, "in_progress", "Idempotency-Key", "other key")

	again := w.retry(wish(1, "N2"), "k1")
	w.wants(again, 201, "")
	w.book(wish(2, "N2"), 409, "level_full")
	close(g.let)
	w.wants(<-dead, 503, "unavailable")

	w.work()
	id := again.text("booking_id")
	w.act(payID(again), engine.ActPay)
	if err := w.Publish(w.Context(), events.Event{Version: events.Version, Type: events.PaymentNotified, Sale: theSale, BookingID: id, Gen: 1, At: time.Now(),
		Notice: &events.Notice{Gateway: "page", PaymentID: payID(again), EventID: "e1", Source: "webhook"}}); err != nil {
		t.Fatal(err)
	}
	w.work()
	b, err := w.store.Booking(t.Context(), id)
	if err != nil || b.State != ledger.Paid || len(b.Seats) != 1 || b.Seats[0].Token != "N2-1" {
		t.Fatalf("%+v, %v", b, err)
	}
}

// retry does what the booking page does: the same request with the same key
// while it hears that one is in progress.
func (w *world) retry(body, key string) answer {
	w.Helper()
	for deadline := time.After(time.Minute); ; {
		a := w.do(http.MethodPost, "/sales/"+theSale+"/bookings", body, "Idempotency-Key", key)
		if a.text("code") != "in_progress" {
			return a
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-deadline:
			w.Fatalf("still in progress: %s", a.raw)
		}
	}
}
