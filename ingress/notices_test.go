package ingress_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/holdfast/holdfast/events"
	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/payment"
	"github.com/holdfast/holdfast/payment/sandbox/api"
	"github.com/holdfast/holdfast/payment/sandbox/engine"
)

func payID(a answer) string {
	u := a.text("payment_url")
	return u[strings.LastIndexByte(u, '/')+1:]
}

func (w *world) act(paymentID string, action engine.Action) {
	w.Helper()
	if _, err := w.pay.Act(paymentID, action, 0); err != nil {
		w.Fatal(err)
	}
}

// show wants a booking in a state.
func (w *world) show(id, state string) answer {
	w.Helper()
	a := w.do("GET", "/bookings/"+id, "")
	w.wants(a, 200, "")
	if a.text("state") != state {
		w.Fatalf("state %q, want %q: %s", a.text("state"), state, a.raw)
	}
	return a
}

func notices(w *world) (n int) {
	for _, e := range w.events() {
		if e.Type == events.PaymentNotified {
			n++
		}
	}
	return n
}

// Scenario 35: the address says success, the gateway says that nobody paid.
func TestScenario35_ForgedRedirectChangesNothing(t *testing.T) {
	w := newWorld(t)
	a := w.book(wish(1, "N1"), 201, "")
	w.work()
	id, pid := a.text("booking_id"), payID(a)
	for _, q := range []string{
		"?payment_id=" + pid + "&status=success&ref=r1&booking=" + id,
		"?payment_id=pay_nobody&status=success&booking=" + id,
		"?status=success", "?payment_id=%00", "",
	} {
		page := w.do("GET", "/payments/page/return"+q, "")
		if page.status != 200 || strings.Contains(strings.ToLower(string(page.raw)), "paid.") {
			t.Errorf("%s: %d %s", q, page.status, page.raw)
		}
	}
	if n := notices(w); n != 0 {
		t.Errorf("%d notices were queued", n)
	}
	w.work()
	w.show(id, "held")
	w.wants(w.do("GET", "/payments/nobody/return", ""), 404, "not_found")
}

// A true redirect queues one notice, however often the page is loaded, and the
// worker finds the payment.
func TestRedirectLeadsToThePayment(t *testing.T) {
	w := newWorld(t)
	a := w.book(wish(1, "N1"), 201, "")
	w.work()
	w.act(payID(a), engine.ActPay)
	for _, ref := range []string{"r1", "r2", "r3"} {
		page := w.do("GET", "/payments/page/return?payment_id="+payID(a)+"&status=failure&ref="+ref, "")
		if !strings.Contains(string(page.raw), `data-booking="`+a.text("booking_id")+`"`) {
			t.Errorf("the page does not know its booking: %s", page.raw)
		}
	}
	if n := notices(w); n != 1 {
		t.Errorf("%d notices", n)
	}
	if e := w.events()[0]; e.Candidate == "" || e.BookingID != a.text("booking_id") || e.Gen != 1 || e.Notice.Source != "return" {
		t.Errorf("event %+v", e)
	}
	w.work()
	paid := w.show(a.text("booking_id"), "paid")
	if paid.text("paid_at") == "" || paid.text("payment_url") != "" {
		t.Errorf("%s", paid.raw)
	}
	w.wants(w.do("DELETE", "/bookings/"+a.text("booking_id"), ""), 409, "already_paid")
}

// The page names the booking that the gateway named, not the one in the address.
func TestRedirectCannotPointToAnotherBooking(t *testing.T) {
	w := newWorld(t)
	a, b := w.book(wish(1, "N1"), 201, ""), w.book(wish(2, "N1"), 201, "")
	page := w.do("GET", "/payments/page/return?payment_id="+payID(a)+"&booking="+b.text("booking_id"), "")
	if !strings.Contains(string(page.raw), a.text("booking_id")) || strings.Contains(string(page.raw), b.text("booking_id")) {
		t.Errorf("%s", page.raw)
	}
	evil := w.do("GET", `/payments/page/return?booking="><script>alert(1)</script>&sale="x`, "")
	if strings.Contains(string(evil.raw), "alert") {
		t.Errorf("%s", evil.raw)
	}
}

// While the gateway does not answer, the worker is asked to ask later.
func TestRedirectWhileTheGatewayIsAway(t *testing.T) {
	w := newWorld(t)
	a := w.book(wish(1, "N1"), 201, "")
	w.work()
	w.act(payID(a), engine.ActPay)
	if err := w.pay.SetFaults("page", engine.Faults{Down: engine.Always}); err != nil {
		t.Fatal(err)
	}
	if page := w.do("GET", "/payments/page/return?payment_id="+payID(a), ""); page.status != 200 {
		t.Fatal(page.status)
	}
	if notices(w) != 1 {
		t.Fatal("nobody is asked to ask again")
	}
	if err := w.pay.SetFaults("page", engine.Faults{}); err != nil {
		t.Fatal(err)
	}
	w.work()
	w.show(a.text("booking_id"), "paid")
}

func (w *world) webhook(body string, at time.Time) answer {
	w.Helper()
	return w.do("POST", "/webhooks/page", body, api.HeaderSignature, api.Sign(hookSecret, at, []byte(body)))
}

func TestWebhookIsAnsweredOnlyWhenQueued(t *testing.T) {
	w := newWorld(t)
	a := w.book(wish(1, "N1"), 201, "")
	w.work()
	w.act(payID(a), engine.ActPay)
	body := `{"id":"evt_1","type":"payment.completed","account":"page","payment_id":"` + payID(a) + `","metadata":{"sale":"spring","bid":"` + a.text("booking_id") + `","ch":""}}`

	w.publishErr = events.ErrAmbiguous
	if got := w.webhook(body, w.Now()); got.status != 503 || got.header.Get("Retry-After") == "" {
		t.Fatalf("not queued, and answered %d", got.status)
	}
	w.publishErr = nil
	for range 5 {
		if got := w.webhook(body, w.Now()); got.status != http.StatusNoContent {
			t.Fatalf("%d %s", got.status, got.raw)
		}
	}
	if notices(w) != 1 {
		t.Errorf("%d notices", notices(w))
	}
	if reads := w.store.Calls()["Booking"]; reads != 0 {
		t.Errorf("a webhook reads the ledger %d times", reads)
	}
	w.work()
	w.show(a.text("booking_id"), "paid")
}

func TestWebhooksThatAreRefused(t *testing.T) {
	w := newWorld(t)
	body := `{"id":"evt_1","account":"page","payment_id":"pay_1"}`
	for name, got := range map[string]answer{
		"no signature":  w.do("POST", "/webhooks/page", body),
		"wrong secret":  w.do("POST", "/webhooks/page", body, api.HeaderSignature, api.Sign("other", w.Now(), []byte(body))),
		"other body":    w.do("POST", "/webhooks/page", body+" ", api.HeaderSignature, api.Sign(hookSecret, w.Now(), []byte(body))),
		"an hour old":   w.webhook(body, w.Now().Add(-time.Hour)),
		"an hour early": w.webhook(body, w.Now().Add(time.Hour)),
	} {
		if got.status != 401 || got.text("code") != "bad_signature" {
			t.Errorf("%s: %d %s", name, got.status, got.raw)
		}
	}
	for name, body := range map[string]string{"no JSON": "x", "other account": `{"id":"evt_1","account":"exec","payment_id":"pay_1"}`, "64 KiB": strings.Repeat("x", 64<<10+1)} {
		if got := w.webhook(body, w.Now()); got.status != 400 && got.status != 401 {
			t.Errorf("%s: %d", name, got.status)
		}
	}
	w.wants(w.do("POST", "/webhooks/nobody", body), 404, "not_found")
	if len(w.events()) != 0 {
		t.Errorf("queued: %+v", w.events())
	}
}

// A notice without metadata is ordered by its payment, one with forged metadata
// decides nothing.
func TestWebhookWithoutMetadata(t *testing.T) {
	w := newWorld(t)
	if got := w.webhook(`{"id":"evt_1","account":"page","payment_id":"pay_1"}`, w.Now()); got.status != 204 {
		t.Fatalf("%d %s", got.status, got.raw)
	}
	if got := w.webhook(`{"id":"evt_2","account":"page","payment_id":"pay_1","metadata":{"sale":"a|b","bid":"x y","ch":"c c"}}`, w.Now()); got.status != 204 {
		t.Fatalf("%d %s", got.status, got.raw)
	}
	q := w.events()
	if len(q) != 2 || q[0].Group() != q[1].Group() || q[0].Group() == "" || q[1].BookingID != "" {
		t.Errorf("%+v", q)
	}
}

func TestBookingIsShownAsItIs(t *testing.T) {
	w := newWorld(t)
	a := w.book(wish(1, "N1"), 201, "")
	id := a.text("booking_id")
	young := w.show(id, "held") // only Redis has it
	w.work()
	held := w.show(id, "held")
	for _, v := range []answer{young, held} {
		if v.text("payment_url") != a.text("payment_url") || v.text("hold_until") != a.text("hold_until") {
			t.Errorf("%s", v.raw)
		}
		for _, secret := range []string{"CODE", "person", string(w.candidate(1))} {
			if strings.Contains(string(v.raw), secret) {
				t.Errorf("%q is shown: %s", secret, v.raw)
			}
		}
	}
	for _, bad := range []string{"x", strings.ToLower(id), id + "0", "00000000000000000000000000", "L-" + id, "%2e%2e%2f"} {
		w.wants(w.do("GET", "/bookings/"+bad, ""), 404, "not_found")
		w.wants(w.do("DELETE", "/bookings/"+bad, ""), 404, "not_found")
	}
	for range 2 { // safe to repeat
		gone := w.do("DELETE", "/bookings/"+id, "")
		if gone.status != 200 || gone.text("state") != "released" || gone.text("released_at") == "" {
			t.Fatalf("%d %s", gone.status, gone.raw)
		}
	}
	if w.used() != 0 {
		t.Error("the seat is not back")
	}
	if s := w.pay.Payments()[0].Status; s != payment.StatusCancelled {
		t.Errorf("payment %q", s)
	}
	w.book(wish(1, "N1"), 201, "")
}

// The owner may be faster than the worker: the booking is in Redis only.
func TestGiveBackBeforeTheWorker(t *testing.T) {
	w := newWorld(t)
	a := w.book(wish(1, "N1"), 201, "")
	got := w.do("DELETE", "/bookings/"+a.text("booking_id"), "")
	if got.status != 200 || got.text("state") != "released" || w.used() != 0 {
		t.Fatalf("%d %s", got.status, got.raw)
	}
	w.work() // booking.held meets the tombstone
	w.show(a.text("booking_id"), "released")
	if w.used() != 0 {
		t.Error("the seat is taken again")
	}
}

// A payment that came too late: the page follows the successor, or the refund.
func TestLatePaymentIsShown(t *testing.T) {
	w := newWorld(t)
	for i, full := range []bool{false, true} {
		level := []string{"N1", "N2"}[i]
		a := w.book(wish(i, level), 201, "")
		w.work()
		b, err := w.store.Booking(t.Context(), a.text("booking_id"))
		if err != nil {
			t.Fatal(err)
		}
		w.act(payID(a), engine.ActPay)
		released(w, b)
		if full {
			w.book(wish(40, level), 201, "")
		}
		w.do("GET", "/payments/page/return?payment_id="+payID(a), "")
		w.work()
		if full {
			w.show(b.ID, "refunded")
			continue
		}
		v := w.show(b.ID, "released")
		if v.text("successor") != "L-"+b.ID {
			t.Fatalf("%s", v.raw)
		}
		w.show(v.text("successor"), "paid")
	}
}

// released releases a booking behind the gateway's back, as a reaper would that
// asked a moment before.
func released(w *world, b ledger.Booking) {
	w.Helper()
	t, err := ledger.Release(b, ledger.ReasonExpired, "reaper", w.Now())
	if err != nil {
		w.Fatal(err)
	}
	if err := w.steps.Write(w.Context(), t); err != nil {
		w.Fatal(err)
	}
	b.State, b.Reason, b.UndoOwed = ledger.Released, ledger.ReasonExpired, true
	if err := w.steps.GiveBack(w.Context(), b); err != nil {
		w.Fatal(err)
	}
}

func TestStatusFollowsThePublishedDocument(t *testing.T) {
	w := newWorld(t)
	a := w.do("GET", "/sales/spring/status.json", "")
	if a.status != 200 || a.doc["open"] != true {
		t.Fatalf("%d %s", a.status, a.raw)
	}
	doc := `{"open":true,"opens_at":"2026-05-01T08:00:00Z","closes_at":"2026-05-02T09:00:00Z","now":"2026-05-01T08:30:00Z","version":[1,7],"sold_out":true,"levels":[{"level":"N1","state":"sold_out"}]}`
	if err := w.store.PutStatus(t.Context(), theSale, 1, 7, []byte(doc)); err != nil {
		t.Fatal(err)
	}
	w.advance(time.Second)
	reads := w.store.Calls()["StatusDoc"]
	var etag string
	for range 1000 {
		a = w.do("GET", "/sales/spring/status.json", "")
		etag = a.header.Get("ETag")
	}
	if n := w.store.Calls()["StatusDoc"] - reads; n != 1 {
		t.Errorf("%d reads for 1,000 requests", n)
	}
	if a.doc["sold_out"] != true || a.text("now") != "2026-05-01T09:00:01Z" {
		t.Errorf("%s", a.raw)
	}
	if got := w.do("GET", "/sales/spring/status.json", "", "If-None-Match", etag); got.status != 304 || len(got.raw) != 0 {
		t.Errorf("%d %s", got.status, got.raw)
	}
	w.wants(w.do("GET", "/sales/nothing/status.json", ""), 404, "not_found")
	w.advance(25 * time.Hour)
	w.wants(w.do("GET", "/sales/nothing/status.json", ""), 503, "unavailable") // the plans are a day old: who knows
	if a = w.do("GET", "/sales/spring/status.json", ""); a.doc["open"] != false {
		t.Errorf("after closing: %s", a.raw)
	}
}
