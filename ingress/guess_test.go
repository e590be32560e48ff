package ingress_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdfast/holdfast/ingress"
	"github.com/holdfast/holdfast/payment"
	"github.com/holdfast/holdfast/sale"
)

// Guessing ids asks neither the ledger nor Redis: it is no way to load what a
// sale needs.
func TestGuessedIDsCostNothing(t *testing.T) {
	w := newWorld(t)
	real := w.book(wish(1, "N1"), 201, "").text("booking_id")
	reads, records := w.store.Reads(), w.redis.Calls("Record")
	for i := range 1000 {
		id, err := sale.NewBookingID(rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		if i%2 == 0 {
			id = "L-" + id
		}
		for _, method := range []string{"GET", "DELETE"} {
			w.wants(w.do(method, "/bookings/"+id+"?sale=spring", ""), 404, "not_found")
		}
	}
	if w.store.Reads() != reads || w.redis.Calls("Record") != records {
		t.Errorf("1,000 invented ids cost %d reads of the ledger and %d of Redis", w.store.Reads()-reads, w.redis.Calls("Record")-records)
	}
	w.show(real, "held")
	if w.store.Reads() == reads {
		t.Error("nothing is read for a true id either: the count has no teeth")
	}
}

// A decoy's id is none that was minted, so that showing it costs nothing either.
func TestDecoyIDsCostNothing(t *testing.T) {
	w := newWorld(t)
	w.in.ObserveSuccess("https://pay.example/pay/pay_abcdef", time.Millisecond)
	id := w.book(trap, 201, "").text("booking_id")
	reads := w.store.Reads()
	w.wants(w.do("GET", "/bookings/"+id, ""), 404, "not_found")
	if w.store.Reads() != reads {
		t.Error("the ledger was asked")
	}
}

// asked counts what a gateway is asked.
type asked struct {
	payment.Gateway
	queries atomic.Int64
}

func (a *asked) Query(ctx context.Context, id string) (payment.Payment, error) {
	a.queries.Add(1)
	return a.Gateway.Query(ctx, id)
}

// Redirects make us ask the gateway, which limits us: nobody can use that up by
// inventing redirects, for one booking or for none.
func TestRedirectsAreLimited(t *testing.T) {
	gw := &asked{}
	w := newWorld(t, withRates(0, 1), func(o *ingress.Options) {
		gw.Gateway = o.Gateways["page"]
		o.Gateways = payment.Gateways{"page": gw}
	})
	a, b := w.book(wish(1, "N1"), 201, ""), w.book(wish(2, "N1"), 201, "")
	flood := func(booking string) int64 {
		before := gw.queries.Load()
		for i := range 100 {
			page := w.do("GET", fmt.Sprintf("/payments/page/return?payment_id=pay_%d&booking=%s", i, booking), "")
			if page.status != 200 {
				t.Fatalf("%d %s", page.status, page.raw)
			}
		}
		return gw.queries.Load() - before
	}
	if n := flood(a.text("booking_id")); n != 10 {
		t.Errorf("100 redirects of one booking ask %d times", n)
	}
	if n := flood("invented"); n != 10 {
		t.Errorf("100 redirects of no booking ask %d times", n)
	}
	before := gw.queries.Load()
	w.do("GET", "/payments/page/return?payment_id="+payID(b)+"&booking="+b.text("booking_id"), "")
	if gw.queries.Load() != before+1 {
		t.Error("somebody else's flood keeps a true redirect from being asked about")
	}
}
