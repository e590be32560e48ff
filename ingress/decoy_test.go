package ingress

import (
	"fmt"
	"regexp"
	"testing"
	"time"

	"github.com/holdfast/holdfast/ingress/booking"
	"github.com/holdfast/holdfast/sale"
)

// A decoy's URL has the shape of the gateway's own, and is never one of them.
func TestDecoyURLs(t *testing.T) {
	for _, c := range []struct{ format, shape string }{
		{"https://pay.example/c/cs_live_%08x%05x", `^https://pay\.example/c/cs_live_[0-9a-f]{13}$`},
		{"https://pay.example/checkout?token=%010d%06d", `^https://pay\.example/checkout\?token=[0-9]{16}$`},
	} {
		d := &decoy{fallback: "https://book.example/pay/"}
		real := map[string]bool{}
		for i := range 100 {
			u := fmt.Sprintf(c.format, uint32(i)*2654435761, 100000+uint32(i)*40503%900000)
			real[u] = true
			d.observe(u, time.Millisecond)
		}
		seen := map[string]bool{}
		for range 200 {
			u := d.url()
			if !regexp.MustCompile(c.shape).MatchString(u) || real[u] {
				t.Fatalf("made up %s", u)
			}
			seen[u] = true
		}
		if len(seen) != 200 {
			t.Error("decoys repeat themselves")
		}
	}
	if u := (&decoy{fallback: "https://book.example/pay/"}).url(); !regexp.MustCompile(`^https://book\.example/pay/pay_[a-z2-7]{26}$`).MatchString(u) {
		t.Errorf("before any success: %s", u)
	}
}

func TestDecoyAnswersFitTheSale(t *testing.T) {
	p := &booking.Plan{Sale: sale.Sale{ID: "s", Hold: time.Minute, MaxSeats: 4, Levels: []sale.Level{{Name: "N1", Cap: 3, Kind: sale.KindCounted},
		{Name: "BOX", Cap: 2, Kind: sale.KindSeated, Seats: []sale.Seat{{Name: "B1"}, {Name: "B2"}}}}}}
	now := time.Date(2026, 5, 1, 9, 0, 0, 123456789, time.UTC)
	d := &decoy{}
	for _, c := range []struct {
		body  bookingBody
		level string
		seats int
	}{
		{bookingBody{level: "N1"}, "N1", 1}, {bookingBody{level: "N1", count: 3}, "N1", 3}, {bookingBody{level: "N1", count: 99}, "N1", 4},
		{bookingBody{level: "none", count: -5}, "N1", 1}, {bookingBody{level: "BOX", names: []string{"B2"}}, "BOX", 1},
	} {
		a := d.answer(p, &c.body, now)
		if a.Level != c.level || len(a.Seats) != c.seats || !booking.ValidID(a.BookingID) || !a.HoldUntil.Equal(now.Add(time.Minute).Truncate(time.Millisecond)) {
			t.Errorf("%+v: %+v", c.body, a)
		}
	}
}
