package server_test

import (
	"context"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdfast/holdfast/payment"
	"github.com/holdfast/holdfast/payment/sandbox/engine"
)

func TestWebhook_CarriesTheWayBackToTheBooking(t *testing.T) {
	w := newWorld(t, payment.MovesOnPage)
	w.server.Start(t.Context())
	s := w.create(t, "b1")
	w.act(t, s.PaymentID, engine.ActPay)
	n := w.waitNotices(t, 1)[0]
	if want := (payment.Metadata{Sale: "spring", BookingID: "b1", Candidate: "c0ffee"}); n.PaymentID != s.PaymentID || n.Metadata != want {
		t.Fatalf("notice = %+v", n)
	}
}

func TestWebhook_IsTriedAgainSignedAnewUntilTaken(t *testing.T) {
	w := newWorld(t, payment.MovesOnPage)
	var attempts atomic.Int32
	w.shop.answer = func(payment.Notice) int {
		if attempts.Add(1) <= 3 {
			return http.StatusServiceUnavailable
		}
		return http.StatusOK
	}
	w.server.Start(t.Context())
	w.act(t, w.create(t, "b1").PaymentID, engine.ActPay)
	// After 1, 2 and 4 s; the shop checks each signature against the moved clock,
	// so an attempt with the first one's would fail after five minutes.
	for i, pause := range []time.Duration{time.Second, 2 * time.Second, 10 * time.Minute} {
		waitFor(t, "the attempt", func() bool { return int(attempts.Load()) == i+1 && w.settled() })
		w.clock.Advance(pause)
	}
	got := w.waitNotices(t, 4)
	for _, n := range got {
		if n.EventID != got[0].EventID {
			t.Fatalf("attempts of different events: %+v", got)
		}
	}
}

// settled is when the refused attempt waits for its next time. While it is in
// flight the next due is the session's end, half an hour away.
func (w *world) settled() bool {
	due, ok := w.server.NextDue()
	wait := due.Sub(w.clock.Now())
	return ok && wait > 0 && wait <= engine.RetryMost
}

func TestCase_D09_DuplicatesCarryOneEventID(t *testing.T) {
	w := newWorld(t, payment.MovesOnPage)
	w.faults(t, engine.Faults{WebhookDuplicate: 4})
	w.server.Start(t.Context())
	w.act(t, w.create(t, "b1").PaymentID, engine.ActPay)
	got := w.waitNotices(t, 5)
	for _, n := range got {
		if n != got[0] {
			t.Fatalf("copies differ: %+v", got)
		}
	}
}

func TestCase_D06_ReorderedEventsOvertake(t *testing.T) {
	w := newWorld(t, payment.MovesOnPage)
	w.faults(t, engine.Faults{WebhookReorder: 1})
	w.server.Start(t.Context())
	first, second := w.create(t, "b1"), w.create(t, "b2")
	w.act(t, first.PaymentID, engine.ActPay)
	w.act(t, second.PaymentID, engine.ActPay)
	waitFor(t, "the overtaking webhook", func() bool { return len(w.shop.notices()) == 1 })
	w.clock.Advance(engine.ReorderBy)
	got := w.waitNotices(t, 2)
	if got[0].PaymentID != second.PaymentID || got[1].PaymentID != first.PaymentID {
		t.Fatalf("order: %+v", got)
	}
}

func TestWebhook_DropAndDelay(t *testing.T) {
	w := newWorld(t, payment.MovesOnPage)
	w.faults(t, engine.Faults{WebhookDrop: 1, WebhookDelayMS: time.Hour.Milliseconds()})
	w.server.Start(t.Context())
	dropped, delayed := w.create(t, "b1"), w.create(t, "b2")
	w.act(t, dropped.PaymentID, engine.ActPay)
	w.act(t, delayed.PaymentID, engine.ActPay)
	w.clock.Advance(59 * time.Minute)
	if n := w.server.Waiting(); n != 1 || len(w.shop.notices()) != 0 {
		t.Fatalf("%d wait, %d sent; want the delayed one waiting", n, len(w.shop.notices()))
	}
	w.clock.Advance(time.Minute)
	if got := w.waitNotices(t, 1); got[0].PaymentID != delayed.PaymentID {
		t.Fatalf("got %+v", got)
	}
}

func TestCase_D19_WebhookBeforeTheResponse(t *testing.T) {
	w := newWorld(t, payment.MovesOnExecute)
	w.faults(t, engine.Faults{WebhookBeforeResponse: engine.Always})
	// Start is not called: what arrives was sent by the calls themselves.
	s := w.create(t, "b1")
	if got := w.shop.notices(); len(got) != 1 || got[0].PaymentID != s.PaymentID {
		t.Fatalf("when create answered the shop had %+v, want the payment's webhook", got)
	}
	w.act(t, s.PaymentID, engine.ActPay)
	if _, err := w.gateway.Execute(t.Context(), s.PaymentID); err != nil {
		t.Fatal(err)
	}
	if got := w.shop.notices(); len(got) != 3 {
		t.Fatalf("when execute answered the shop had %d webhooks, want created, approved and completed", len(got))
	}
}

func TestWebhook_ReceiverNamedLater(t *testing.T) {
	w := newWorld(t, payment.MovesOnPage)
	w.server.Start(t.Context())
	hooks := w.shopURL(t)
	w.act(t, w.create(t, "b1").PaymentID, engine.ActPay) // nobody to tell
	if n := w.server.Waiting(); n != 0 {
		t.Fatalf("%d webhooks wait for nobody", n)
	}
	if err := w.server.SetWebhookURL("sandbox", hooks); err != nil {
		t.Fatal(err)
	}
	w.act(t, w.create(t, "b2").PaymentID, engine.ActPay)
	if got := w.waitNotices(t, 1); got[0].BookingID != "b2" {
		t.Fatalf("got %+v", got)
	}
}

// shopURL takes the receiver away and returns where it was.
func (w *world) shopURL(t *testing.T) string {
	t.Helper()
	url := w.server.WebhookURL("sandbox")
	if err := w.server.SetWebhookURL("sandbox", ""); err != nil {
		t.Fatal(err)
	}
	return url
}

func TestClose_WaitsForWhatIsBeingSentAndSendsNoMore(t *testing.T) {
	w := newWorld(t, payment.MovesOnPage)
	arrived, release := make(chan struct{}), make(chan struct{})
	w.shop.answer = func(payment.Notice) int {
		close(arrived) // a second webhook would panic here
		<-release
		return http.StatusOK
	}
	w.server.Start(t.Context())
	first, second := w.create(t, "b1"), w.create(t, "b2")
	w.act(t, first.PaymentID, engine.ActPay)
	<-arrived
	closed := make(chan error, 1)
	go func() { closed <- w.server.Close(context.WithoutCancel(t.Context())) }()
	close(release)
	if err := <-closed; err != nil {
		t.Fatal(err)
	}
	if n := w.server.Fired()["webhook_delivered"]; n != 1 {
		t.Fatalf("%d delivered when Close returned, want 1", n)
	}
	w.act(t, second.PaymentID, engine.ActPay)
	if n := w.server.Waiting(); n != 1 {
		t.Fatalf("%d webhooks wait after Close, want the one that is not sent", n)
	}
}

func TestClose_BreaksOffWhenItsTimeIsUp(t *testing.T) {
	w := newWorld(t, payment.MovesOnPage)
	arrived, release := make(chan struct{}), make(chan struct{})
	t.Cleanup(func() { close(release) })
	w.shop.answer = func(payment.Notice) int {
		close(arrived)
		<-release
		return http.StatusOK
	}
	w.server.Start(t.Context())
	w.act(t, w.create(t, "b1").PaymentID, engine.ActPay)
	<-arrived
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := w.server.Close(ctx); err == nil {
		t.Fatal("Close broke a webhook off and said nothing")
	}
}
