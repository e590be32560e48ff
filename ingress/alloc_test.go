//go:build !race

package ingress_test

import "testing"

// maxAllocs is what one booking allocates in the ingress above a handler that does
// nothing; everything behind it is instant. Nine in all, less two of that handler:
// the body's text, two strings of hashes, the booking's id, what the driver needs,
// the payment's name, the address that the gateway returns to, and Location with
// its place in the header. Lower it whenever it falls.
const maxAllocs = 7

func TestAllocationsOfABooking(t *testing.T) {
	measure := func(name string, run func()) float64 {
		n := testing.AllocsPerRun(500, run)
		t.Logf("%s: %.0f allocations", name, n)
		return n
	}
	text := wish(1, "N1")
	h := nothing()
	body, req, out := prepared(text)
	least := measure("nothing", func() { post(h, body, req, out, text) })
	in := newInstantWorld(t).in.Public()
	body, req, out = prepared(text)
	booking := measure("booking", func() { post(in, body, req, out, text) })
	if booking-least > maxAllocs {
		t.Errorf("%.0f allocations above a handler that does nothing, want at most %d", booking-least, maxAllocs)
	}
}
