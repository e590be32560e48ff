package ingress

import (
	"net/http"
	"strconv"

	"github.com/holdfast/holdfast/ingress/booking"
	"github.com/holdfast/holdfast/sale"
)

const maxKey = 255

// order checks every field of a request against its sale, and hashes what is
// secret. The problem names all faults at once.
func (in *Ingress) order(plan *booking.Plan, b *bookingBody, r *http.Request) (booking.Order, *Problem) {
	for _, f := range []struct{ name, value string }{{"code", b.code}, {"email", b.email}, {"level", b.level}} {
		if hasControl(f.value) {
			b.fault(f.name, "has control characters")
		}
	}
	code, err := sale.NormaliseCode(b.code)
	if err != nil {
		b.fault("code", err.Error())
	}
	email, err := sale.ParseEmail(b.email)
	if err != nil {
		b.fault("email", err.Error())
	}
	o := booking.Order{Level: b.level}
	if b.hold != "" {
		b.wishHold(&o, plan, in.Hasher.Minted)
	} else if level, ok := plan.Sale.Level(b.level); ok {
		o.Level = level.Name // the plan's own: the request's is a part of its body, which would live as long
		b.wish(&o, level, plan.Sale.MaxSeats)
		if _, err := plan.Sale.Amount(plan.Halls, o.Level, o.Count, o.Seats); err != nil {
			b.fault("seats", err.Error())
		}
	} else {
		b.fault("level", "is not a level of this sale")
	}
	key, ok := idempotencyKey(r.Header)
	if !ok {
		b.fault("Idempotency-Key", "must be one header of 1 to 255 visible ASCII characters")
	}
	if len(b.faults) > 0 {
		return o, invalid(b.faults...)
	}
	o.Hash(in.Hasher, plan.Sale.ID, code, email, key)
	return o, nil
}

// wish reads how many seats, or which.
func (b *bookingBody) wish(o *booking.Order, level sale.Level, most int) {
	if level.Kind == sale.KindSeated {
		b.wishNames(o, most)
		return
	}
	if b.names != nil {
		b.fault("seats", "must be a number in this level")
		return
	}
	if o.Count = b.count; o.Count == 0 {
		o.Count = 1
	}
	if o.Count > most {
		b.fault("seats", "must be at most "+strconv.Itoa(most))
	}
}

func (b *bookingBody) wishNames(o *booking.Order, most int) {
	if len(b.names) == 0 || len(b.names) > most {
		b.fault("seats", "must be a list of 1 to "+strconv.Itoa(most)+" seat names in this level")
		return
	}
	seen := make(map[string]bool, len(b.names))
	for _, n := range b.names {
		if !sale.ValidName(n) || seen[n] {
			b.fault("seats", "must be names of seats, each once")
			return
		}
		seen[n] = true
	}
	o.Seats = b.names
}

// idempotencyKey reads the header; none is fine.
func idempotencyKey(h http.Header) (string, bool) {
	all := h["Idempotency-Key"]
	if len(all) == 0 {
		return "", true
	}
	key := all[0]
	if len(all) > 1 || key == "" || len(key) > maxKey {
		return "", false
	}
	for i := 0; i < len(key); i++ {
		if key[i] < ' ' || key[i] > '~' {
			return "", false
		}
	}
	return key, true
}
