package ingress

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/ingress/booking"
	"github.com/holdfast/holdfast/ingress/seats"
	"github.com/holdfast/holdfast/sale"
)

// seatRoutes adds what named seats need, if the adapter keeps soft holds.
func (in *Ingress) seatRoutes(e *echo.Echo) {
	soft, ok := in.Redis.(interface {
		admission.SoftHolder
		admission.SeatReader
	})
	if !ok {
		return
	}
	in.driver.Soft = soft
	o := seats.Options{Plans: in.plans, Redis: soft, Soft: soft, Changed: in.Status.Changed, Now: in.Now, Log: in.Log}
	o.Ledger, _ = in.Ledger.(seats.Ledger)
	in.seats = seats.New(o)
	in.route(e, http.MethodPost, "/sales/:sale/holds", in.hold)
	in.route(e, http.MethodGet, "/holds/:hold", in.showHold)
	in.route(e, http.MethodPatch, "/holds/:hold", in.changeHold)
	in.route(e, http.MethodDelete, "/holds/:hold", in.releaseHold)
	in.route(e, http.MethodGet, "/sales/:sale/seats", in.seatMap)
	in.route(e, http.MethodGet, "/sales/:sale/seats/stream", in.seatStream)
}

// wishHold reads a booking of a soft hold: its seats and its price are the
// hold's. The level, if it is given, saves a round trip.
func (b *bookingBody) wishHold(o *booking.Order, p *booking.Plan, minted func(string) bool) {
	o.HoldID = b.hold
	if !minted(b.hold) { // an id that nobody was given costs no more than this
		b.fault("hold_id", "is no hold's id")
	}
	if b.names != nil || b.count != 0 {
		b.fault("seats", "must be left out: the hold has its seats")
	}
	if b.level != "" {
		if l, ok := p.Sale.Level(b.level); !ok || l.Kind != sale.KindSeated {
			b.fault("level", "is not a level with named seats of this sale")
		}
		return
	}
	for _, l := range p.Sale.Levels {
		if l.Kind == sale.KindSeated {
			o.Level = l.Name
			return
		}
	}
	b.fault("hold_id", "is for sales with named seats: this sale has none")
}
