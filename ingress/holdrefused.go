package ingress

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/ingress/booking"
	"github.com/holdfast/holdfast/sale"
)

// holdVerdicts are the refusals that say nothing about this request.
var holdVerdicts = map[admission.Outcome]booking.Verdict{
	admission.Mismatch: booking.IdempotencyMismatch, admission.UnknownCode: booking.InvalidCode, admission.EmailMismatch: booking.EmailMismatch,
	admission.NotAllowed: booking.LevelNotAllowed, admission.SoldOut: booking.SoldOut, admission.UnknownLevel: booking.InvalidRequest,
	admission.BadArgument: booking.InvalidRequest, admission.HoldGone: booking.HoldGone, admission.Dead: booking.HoldGone,
}

// holdRefused says why there is no hold, and what can be done.
func (in *Ingress) holdRefused(ctx context.Context, plan *booking.Plan, hall *sale.Hall, q admission.HoldRequest, a admission.HoldAnswer) *Problem {
	if v, ok := holdVerdicts[a.Outcome]; ok {
		return fixedRefusals[v].problem
	}
	switch a.Outcome {
	case admission.Taken:
		r := refusals[booking.SeatTaken]
		p := newProblem(r.status, Code(booking.SeatTaken), "Some of these seats are taken", "None was held. The seats in nearby were free a moment ago.")
		p.Taken, p.Nearby = a.Taken, in.nearby(ctx, plan, hall, q, a.Taken)
		return p
	case admission.Duplicate:
		return in.holdsBooking(a)
	case admission.Closed:
		return in.closedProblem(a.OpensAt, a.OpensAt.Sub(in.Now().Add(plan.ClockAhead)))
	case admission.Corrupt:
		in.Log.ErrorContext(ctx, "conservation does not hold: run the audit", "sale", q.Sale, "level", q.Level)
	case admission.StaleGen:
		in.plans.Stale()
	}
	return unavailable(2 * time.Second)
}

// nearby offers free seats; none if the map can't be read.
func (in *Ingress) nearby(ctx context.Context, plan *booking.Plan, hall *sale.Hall, q admission.HoldRequest, taken []string) []string {
	v, err := in.seats.View(ctx, plan)
	if err != nil {
		return nil
	}
	gone := make(map[string]bool, len(taken))
	for _, s := range taken {
		gone[s] = true
	}
	return hall.Nearest(append(append([]string(nil), taken...), without(q.Seats, gone)...), func(s string) bool { return v.Free(s) && !gone[s] })
}

// without are the seats that are not gone, in their order.
func without(seats []string, gone map[string]bool) []string {
	var list []string
	for _, s := range seats {
		if !gone[s] {
			list = append(list, s)
		}
	}
	return list
}

// holdsBooking: who has a booking gets no hold. Who does not know its e-mail
// learns nothing about it.
func (in *Ingress) holdsBooking(a admission.HoldAnswer) *Problem {
	if !a.EmailMatches {
		return fixedRefusals[booking.EmailMismatch].problem
	}
	r := refusals[booking.Duplicate]
	p := newProblem(r.status, Code(booking.Duplicate), r.title, r.detail)
	p.BookingID, p.State, p.Level, p.HoldUntil, p.Now = a.BookingID, string(booking.Held), a.Level, instant(a.HoldUntil), instant(in.Now())
	if a.Stage == admission.StagePaid {
		p.State, p.HoldUntil, p.Detail = string(booking.Paid), nil, "Your booking is paid. There is nothing left to do."
	}
	return p
}

// decoyHold answers a filled honeypot like a hold, and does nothing.
func (in *Ingress) decoyHold(c echo.Context, plan *booking.Plan, b *holdBody) error {
	hall := plan.Halls[b.Level]
	if hall == nil {
		for _, hall = range plan.Halls {
			break
		}
	}
	if b.names(plan.Sale.MaxSeats); len(b.faults) > 0 {
		b.Seats = []string{hall.Level.Seats[0].Name}
	}
	id, err := in.Hasher.BookingID(in.Rand)
	if err != nil {
		return err
	}
	price, err := hall.Amount(b.Seats)
	if err != nil {
		price = hall.Price("")
	}
	now := in.Now().Add(plan.ClockAhead)
	life := b.life(plan)
	return in.writeHold(c, http.StatusCreated, plan, admission.HoldAnswer{HoldID: id, Until: now.Add(life), First: now, Now: now,
		Record: &admission.Record{Level: hall.Level.Name, Tokens: b.Seats, AmountMinor: price.AmountMinor, Currency: price.Currency}})
}

// fingerprint is what an idempotency key stands for.
func (b *holdBody) fingerprint() string {
	raw, err := json.Marshal(struct {
		Seats   []string
		Best    *bestBody
		Seconds *int64
	}{b.Seats, b.Best, b.Seconds})
	if err != nil {
		return "" // strings and numbers alone: it can't be
	}
	return string(raw)
}

// writeHold sends a hold to its owner.
func (in *Ingress) writeHold(c echo.Context, status int, plan *booking.Plan, a admission.HoldAnswer) error {
	r, now := a.Record, a.Now
	if now.IsZero() {
		now = in.Now().Add(plan.ClockAhead)
	}
	first := a.First
	if first.IsZero() {
		first = r.AdmittedAt
	}
	doc := holdDoc{HoldID: a.HoldID, Sale: plan.Sale.ID, Level: r.Level, Seats: r.Tokens, Price: &sale.Money{AmountMinor: r.AmountMinor, Currency: r.Currency},
		HoldUntil: instant(a.Until), MaxUntil: instant(later(first.Add(plan.Sale.SoftHoldMax), a.Until)), Now: instant(now)}
	if status == http.StatusCreated {
		c.Response().Header().Set("Location", "/holds/"+a.HoldID+"?sale="+plan.Sale.ID)
	}
	writeJSON(c.Response(), status, doc)
	return nil
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
