package ingress_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/holdfast/holdfast/ledger"
)

// Cases from the field (docs/cases.md) at the door.

// TestCase_A03: one seat. A is on the payment page, B is refused when he submits,
// and no payment of his ever exists.
func TestCase_A03_RefusedBeforeAnyPayment(t *testing.T) {
	w := newWorld(t)
	a := w.book(wish(1, "N2"), 201, "")
	b := w.book(wish(2, "N2"), 409, "level_full")
	if b.text("payment_url") != "" || len(w.pay.Payments()) != 1 || w.pay.Payments()[0].Metadata.BookingID != a.text("booking_id") {
		t.Errorf("%s; payments %+v", b.raw, w.pay.Payments())
	}
}

// TestCase_A16: what is sold out is not on sale again by itself, however many
// people go on asking.
func TestCase_A16_SoldOutStaysSoldOut(t *testing.T) {
	w := newWorld(t)
	for i := range 50 {
		w.book(wish(i, "N1"), 201, "")
	}
	version := func() int64 {
		t.Helper()
		st, err := w.redis.Status(t.Context(), theSale, w.plan.LevelNames())
		if err != nil {
			t.Fatal(err)
		}
		return st.Version
	}
	full := version()
	for i := range 200 {
		w.book(wish(i%50, "N1"), 409, "duplicate", "Idempotency-Key", fmt.Sprint("again-", i))
	}
	if now := version(); now != full {
		t.Errorf("the public state changed from version %d to %d, and no seat did", full, now)
	}
	st, err := w.redis.Status(t.Context(), theSale, []string{"N1"})
	if err != nil || st.Levels[0].Free != 0 {
		t.Errorf("%+v, %v", st, err)
	}
}

// TestCase_B06: a refusal says what one holds, how much of it and until when.
func TestCase_B06_RefusalSaysWhatOneHolds(t *testing.T) {
	w := newWorld(t)
	a := w.book(wish(1, "N1"), 201, "", "Idempotency-Key", "k1")
	dup := w.book(wish(1, "N2"), 409, "duplicate", "Idempotency-Key", "k2")
	for field, want := range map[string]string{"booking_id": a.text("booking_id"), "level": "N1", "hold_until": a.text("hold_until"),
		"payment_url": a.text("payment_url"), "state": "held"} {
		if dup.text(field) != want {
			t.Errorf("%s is %q, want %q: %s", field, dup.text(field), want, dup.raw)
		}
	}
	if dup.text("detail") == "" {
		t.Errorf("nothing for a person to read: %s", dup.raw)
	}
}

// TestCase_B11: holds are made through every channel, and every one of them ends
// by itself.
func TestCase_B11_HoldsOfEveryChannelEnd(t *testing.T) {
	w := newWorld(t)
	w.openHall()
	ids := []string{
		w.book(wish(1, "N1"), 201, "").text("booking_id"),
		w.book("code=code-0002&email=person.2%40example.org&level=N1&seats=2", 201, "", "Content-Type", "application/x-www-form-urlencoded").text("booking_id"),
		w.bookHold(3, w.hold(chooses(3, "Hall", `"seats":["A1","A2"]`), 201, "").text("hold_id"), 201, "").text("booking_id"),
		w.bookHold(4, w.hold(chooses(4, "Hall", `"best":{"count":2}`), 201, "").text("hold_id"), 201, "").text("booking_id"),
	}
	w.work()
	w.later(12 * time.Minute)
	for _, saleID := range []string{theSale, theHall} {
		if err := w.store.DueHolds(t.Context(), saleID, w.Now(), func(id string) error {
			_, err := w.steps.Expire(t.Context(), id, w.Now())
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	for i, id := range ids {
		if b, err := w.store.Booking(t.Context(), id); err != nil || b.State != ledger.Released {
			t.Errorf("channel %d: %q, %v", i, b.State, err)
		}
	}
	if w.used() != 0 || w.hallUsed() != 0 {
		t.Errorf("%d and %d seats are still used", w.used(), w.hallUsed())
	}
}

// TestCase_I05: what the page says about a hold and what happens to the order are
// one truth: after the deadline the order never passes, before it always.
func TestCase_I05_ExpiryAndOutcomeAgree(t *testing.T) {
	for _, left := range []time.Duration{time.Millisecond, 0, -time.Millisecond} {
		w := newWorld(t)
		w.openHall()
		hold := w.hold(chooses(1, "Hall", `"seats":["A1","A2"],"seconds":120`), 201, "")
		until, err := time.Parse(time.RFC3339Nano, hold.text("hold_until"))
		if err != nil {
			t.Fatal(err)
		}
		w.later(until.Sub(w.Now()) - left)
		shown := w.do(http.MethodGet, "/holds/"+hold.text("hold_id"), "")
		order := w.do(http.MethodPost, "/sales/opera/bookings", fmt.Sprintf(`{"code":%q,"email":%q,"hold_id":%q}`, code(1), mail(1), hold.text("hold_id")))
		if (shown.status == 200) != (order.status == 201) || (left > 0) != (order.status == 201) {
			t.Errorf("%v before the deadline: shown %d %s, ordered %d %s", left, shown.status, shown.text("code"), order.status, order.text("code"))
		}
	}
}

// TestCase_J19: the end of a hold is filtered when it is read. A map that is read
// after the deadline shows the seat free though nobody has swept.
func TestCase_J19_HoldsEndWithoutAnyJob(t *testing.T) {
	w := newWorld(t)
	w.openHall()
	w.hold(chooses(1, "Hall", `"seats":["A1","A2"],"seconds":60`), 201, "")
	if held := w.seatMap().Held; len(held) == 0 {
		t.Fatalf("held: %v", held)
	}
	w.later(time.Minute + time.Millisecond)
	if held := w.seatMap().Held; len(held) != 0 {
		t.Errorf("after the deadline: %v", held)
	}
	w.hold(chooses(2, "Hall", `"seats":["A1"]`), 201, "")
}

// TestCase_K04: every answer carries the time of the server, so that a page needs
// no clock of its own.
func TestCase_K04_AnswersCarryTheServersTime(t *testing.T) {
	w := newWorld(t)
	a := w.book(wish(1, "N1"), 201, "")
	now, err := time.Parse(time.RFC3339Nano, a.text("now"))
	if err != nil || !now.Equal(w.Now()) {
		t.Errorf("now is %q, %v", a.text("now"), err)
	}
	until, err := time.Parse(time.RFC3339Nano, a.text("hold_until"))
	if err != nil || until.Sub(now) != w.plan.Hold {
		t.Errorf("hold_until is %q, %v", a.text("hold_until"), err)
	}
	w.advance(3 * time.Minute)
	shown := w.show(a.text("booking_id"), "held")
	if shown.text("now") != strings.Replace(a.text("now"), "09:00", "09:03", 1) || shown.text("hold_until") != a.text("hold_until") {
		t.Errorf("later: %s", shown.raw)
	}
}
