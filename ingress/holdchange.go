package ingress

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/ingress/booking"
)

// ownHold finds the live hold of an id. Knowing the id is owning the hold; an id
// that holds nothing, or no longer, and a booking's id, are not found.
func (in *Ingress) ownHold(ctx context.Context, c echo.Context) (*booking.Plan, admission.Record, error) {
	id := c.Param("hold")
	if !in.Hasher.Minted(id) {
		return nil, admission.Record{}, notFound()
	}
	var none error = fixedRefusals[booking.HoldGone].problem // unless one of the sales could not be asked
	for _, saleID := range in.salesFrom(c.QueryParam("sale")) {
		plan, ok := in.plans.Plan(saleID)
		if !ok || len(plan.Halls) == 0 {
			continue
		}
		r, err := in.Redis.Record(ctx, saleID, id)
		switch {
		case errors.Is(err, admission.ErrNotFound):
			continue
		case errors.Is(err, admission.ErrLayout):
			none = err
			continue
		case err != nil:
			return nil, r, err
		case r.Stage != admission.StageSoft || !r.HoldUntil.After(in.Now().Add(plan.ClockAhead)):
			return nil, r, fixedRefusals[booking.HoldGone].problem
		}
		return plan, r, nil
	}
	return nil, admission.Record{}, none
}

// salesFrom are all sales, the hinted one first: an id does not name its sale.
func (in *Ingress) salesFrom(hint string) []string {
	all := in.plans.Sales()
	for i, s := range all {
		if s == hint {
			all[0], all[i] = all[i], all[0]
		}
	}
	return all
}

// showHold is GET /holds/{id}: the owner's alone, by the id.
func (in *Ingress) showHold(c echo.Context) error {
	if err := in.limitClient(c); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(c.Request().Context(), holdFor)
	defer cancel()
	plan, r, err := in.ownHold(ctx, c)
	if err != nil {
		return err
	}
	return in.writeHold(c, http.StatusOK, plan, admission.HoldAnswer{HoldID: r.BookingID, Record: &r, Until: r.HoldUntil})
}

// changeHold is PATCH /holds/{id}: other seats, or more time, or both. Other
// seats are all or none, and those in common are never let go.
func (in *Ingress) changeHold(c echo.Context) error {
	if err := in.limitClient(c); err != nil {
		return err
	}
	b, err := readHold(c.Request())
	if err != nil {
		return invalid(Field{"body", err.Error()})
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.Request().Context()), holdFor)
	defer cancel()
	plan, r, err := in.ownHold(ctx, c)
	if err != nil {
		return err
	}
	q, problem := in.changeRequest(plan, b, r)
	if problem != nil {
		return problem
	}
	var a admission.HoldAnswer
	if b.Seats == nil && b.Best == nil {
		a, err = in.extend(ctx, plan, q)
	} else {
		a, problem, err = in.take(ctx, plan, plan.Halls[q.Level], b, q)
	}
	switch {
	case err != nil:
		return err
	case problem != nil:
		return problem
	case a.Outcome == admission.Admitted:
		return in.writeHold(c, http.StatusOK, plan, a)
	}
	return in.holdRefused(ctx, plan, plan.Halls[q.Level], q, a)
}

func (in *Ingress) changeRequest(plan *booking.Plan, b *holdBody, r admission.Record) (admission.HoldRequest, *Problem) {
	q := admission.HoldRequest{Sale: plan.Sale.ID, HoldID: r.BookingID, Candidate: r.Candidate, Level: r.Level, Gen: plan.Gen, Key: r.Key,
		InputHash: r.InputHash, EmailHash: r.EmailHash, Seats: b.Seats, For: b.life(plan), Max: plan.Sale.SoftHoldMax, Change: true}
	if b.Seconds == nil && (b.Seats != nil || b.Best != nil) {
		q.For = time.Millisecond // other seats alone: the deadline stays
	}
	if b.Level != "" {
		q.Level = b.Level
	}
	hall := plan.Halls[q.Level]
	switch {
	case b.Code != "" || b.Email != "":
		b.fault("code", "belongs to a new hold: the id says whose this one is")
	case hall == nil:
		b.fault("level", "is not a level with named seats of this sale")
	case b.Best != nil && b.Seats != nil:
		b.fault("seats", "must be a list of names, or best must say how many; one of them")
	case b.Best != nil:
		b.wish(hall, plan.Sale.MaxSeats)
	case b.Seats != nil:
		b.names(plan.Sale.MaxSeats)
	case b.Seconds == nil:
		b.fault("seconds", "or seats, or best: say what should change")
	}
	if len(b.faults) > 0 {
		return q, invalid(b.faults...)
	}
	return q, nil
}

func (in *Ingress) extend(ctx context.Context, plan *booking.Plan, q admission.HoldRequest) (admission.HoldAnswer, error) {
	a, err := in.driver.Soft.Extend(ctx, admission.Extension{Sale: q.Sale, HoldID: q.HoldID, Level: q.Level, Gen: plan.Gen, For: q.For, Max: q.Max})
	if err == nil && a.Version > 0 {
		in.Status.Changed(q.Sale, a.Version)
	}
	return a, err
}

// releaseHold is DELETE /holds/{id}. It can only end a soft hold: once it is a
// booking its id is worth nothing. Safe to repeat.
func (in *Ingress) releaseHold(c echo.Context) error {
	if err := in.limitClient(c); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.Request().Context()), holdFor)
	defer cancel()
	plan, r, err := in.ownHold(ctx, c)
	if p := (*Problem)(nil); errors.As(err, &p) && p.Code == Code(booking.HoldGone) {
		c.Response().WriteHeader(http.StatusNoContent) // it holds nothing: that was the wish
		return nil
	}
	if err != nil {
		return err
	}
	if err := in.driver.ReleaseHold(ctx, plan, r); err != nil {
		return err
	}
	c.Response().WriteHeader(http.StatusNoContent)
	return nil
}
