package ingress_test

import (
	"fmt"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/holdfast/holdfast/ingress"
)

func withRates(client, code float64) func(*ingress.Options) {
	return func(o *ingress.Options) { o.RatePerClient, o.RatePerCode = client, code }
}

// An exam centre behind one address: at the default rate all of 1,000
// candidates get through in the opening second, and a flood does not.
func TestSharedAddressSurvivesTheOpening(t *testing.T) {
	w := newWorld(t, withRates(20, 2))
	refused := 0
	for i := range 3000 {
		body := strings.Replace(wish(1, "N1"), "CODE-0001", fmt.Sprintf("X%05d", i), 1)
		if a := w.do("POST", "/sales/spring/bookings", body, "X-Forwarded-For", fmt.Sprintf("203.0.113.%d", i%200)); a.status == 429 {
			if i < 1000 {
				t.Fatalf("candidate %d is refused", i)
			}
			refused++
			if s, err := strconv.Atoi(a.header.Get("Retry-After")); err != nil || s < 1 {
				t.Fatalf("Retry-After %q", a.header.Get("Retry-After"))
			}
		}
	}
	if refused != 1800 { // 1,200 at once: a minute's worth; the forged header changes nothing
		t.Errorf("%d of 3,000 are refused", refused)
	}
}

// Pages that wait for a payment do not use up what their neighbours need.
func TestReadingDoesNotUseUpBooking(t *testing.T) {
	w := newWorld(t, withRates(1, 0))
	limited := 0
	for range 700 {
		if w.do("GET", "/bookings/3V2Q0Z8K7M5N4P6R9S1T0W2X4Y", "").status == 429 {
			limited++
		}
	}
	if limited != 100 { // ten times a minute's worth at once
		t.Errorf("%d of 700 reads are refused", limited)
	}
	w.book(wish(1, "N1"), 201, "")
}

// Through a trusted hop each client has a limit of its own.
func TestClientsBehindATrustedHop(t *testing.T) {
	w := newWorld(t, withRates(1.0/600, 0))
	send := func(client string) int {
		r := httptest.NewRequest("GET", "/bookings/00000000000000000000000000", nil)
		r.RemoteAddr = "10.1.2.3:99"
		r.Header.Set("X-Forwarded-For", "1.2.3.4, "+client)
		rec := httptest.NewRecorder()
		w.in.Public().ServeHTTP(rec, r)
		return rec.Code
	}
	for _, c := range []string{"203.0.113.1", "203.0.113.2"} {
		if first, second := send(c), send(c); first != 404 || second != 429 {
			t.Errorf("%s: %d, then %d", c, first, second)
		}
	}
}

// One code from many addresses: 580 accounts of one mailbox come to mind (A29).
func TestCodeIsLimitedFromWhereverItComes(t *testing.T) {
	w := newWorld(t, withRates(0, 1))
	codes := map[int]int{}
	for i := range 30 {
		codes[w.do("POST", "/sales/spring/bookings", wish(1, "N1"), "Idempotency-Key", fmt.Sprint(i)).status]++
	}
	if codes[429] != 20 || codes[201] != 1 || codes[409] != 9 {
		t.Errorf("answers %v", codes)
	}
	w.book(wish(2, "N1"), 201, "")
	w.advance(time.Second)
	w.book(wish(1, "N1"), 409, "duplicate")
}

// A level is full. Strangers are refused here, for a quarter of a second without
// a script; a holder never is, with the same key and with another, in this
// process and in another one that did not admit them (3B.14).
func TestFullNeverRefusesAHolder(t *testing.T) {
	w := newWorld(t)
	other := w.another()
	first := w.book(wish(1, "N2"), 201, "", "Idempotency-Key", "k1")
	for _, in := range []*ingress.Ingress{w.in, other} {
		w.wants(w.send(in.Public(), "POST", "/sales/spring/bookings", wish(2, "N2")), 409, "level_full")
		admits := w.redis.Calls("Admit")
		for i := 3; i < 20; i++ {
			w.wants(w.send(in.Public(), "POST", "/sales/spring/bookings", wish(i, "N2")), 409, "level_full")
		}
		if n := w.redis.Calls("Admit") - admits; n != 0 {
			t.Errorf("%d scripts for a level known to be full", n)
		}
		same := w.send(in.Public(), "POST", "/sales/spring/bookings", wish(1, "N2"), "Idempotency-Key", "k1")
		w.wants(same, 200, "")
		if same.text("booking_id") != first.text("booking_id") {
			t.Errorf("%s", same.raw)
		}
		w.wants(w.send(in.Public(), "POST", "/sales/spring/bookings", wish(1, "N2"), "Idempotency-Key", "k2"), 409, "duplicate")
		w.wants(w.send(in.Public(), "POST", "/sales/spring/bookings", wish(1, "N2")), 409, "duplicate")
	}
	// The holder gives it back: this process knows at once, the other when its mark is old.
	w.wants(w.do("DELETE", "/bookings/"+first.text("booking_id"), ""), 200, "")
	w.book(wish(2, "N2"), 201, "")
}

// another is a second ingress process on the same world.
func (w *world) another() *ingress.Ingress {
	w.Helper()
	o := w.in.Options
	o.Gates, o.Registry = nil, nil
	in, err := ingress.New(o)
	if err != nil {
		w.Fatal(err)
	}
	if err := in.Refresh(w.Context()); err != nil {
		w.Fatal(err)
	}
	return in
}

// Before opening nothing is asked of Redis; the answer says when to come back.
func TestClosedSaysWhenItOpens(t *testing.T) {
	w := newWorld(t)
	w.advance(-2 * time.Hour)
	w.refresh()
	a := w.book(wish(1, "N1"), 503, "closed")
	after, err := strconv.Atoi(a.header.Get("Retry-After"))
	if err != nil || after < 3600 || after > 3602 || a.text("opens_at") != "2026-05-01T08:00:00.000Z" || w.redis.Calls("Admit") != 0 {
		t.Errorf("%s, Retry-After %d", a.raw, after)
	}
	w.advance(26*time.Hour + time.Second)
	w.refresh()
	a = w.book(wish(1, "N1"), 503, "closed")
	if a.doc["opens_at"] != nil || w.redis.Calls("Admit") != 1 {
		t.Errorf("%s", a.raw)
	}
}
