package ingress

import (
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/holdfast/holdfast/ingress/booking"
	"github.com/holdfast/holdfast/ingress/gate"
)

// book is POST /sales/{sale}/bookings, in the order of protocol.md 3.5: the
// honeypot, then what costs nothing, then the driver with its gates.
func (in *Ingress) book(c echo.Context) error {
	plan, ok := in.plans.Plan(c.Param("sale"))
	if !ok {
		return in.noSale()
	}
	body, err := readBooking(c.Request())
	start := in.Now() // when all of it was there: how slowly it came is the sender's doing
	if err != nil {
		in.counted(plan.Sale.ID, "invalid_request", in.Now().Sub(start))
		return invalid(Field{"body", err.Error()})
	}
	if body.website != "" {
		a := in.decoy.answer(plan, &body, in.Now())
		in.decoy.wait(c.Request().Context(), start, in.Now)
		in.writeBooking(c.Response(), plan.Sale.ID, &a, in.Now())
		return nil
	}
	if after, limited := in.overClientLimit(c.Request(), start); limited {
		return in.rateLimited(plan.Sale.ID, after, start)
	}
	order, problem := in.order(plan, &body, c.Request())
	if problem != nil {
		in.counted(plan.Sale.ID, "invalid_request", in.Now().Sub(start))
		return problem
	}
	if after, limited := in.overLimit(in.byCode, "code", string(order.Candidate), start); limited {
		return in.rateLimited(plan.Sale.ID, after, start)
	}
	a := in.drive(c, plan, order)
	end := in.Now()
	in.counted(plan.Sale.ID, string(a.Verdict), end.Sub(start))
	in.answer(c.Response(), plan.Sale.ID, &a, start, end)
	return nil
}

// noSale answers for a sale that this process does not know: there is none, or
// it could not be read.
func (in *Ingress) noSale() error {
	if in.plans.Complete() {
		return notFound()
	}
	return unavailable(gate.RefreshEvery)
}

func (in *Ingress) drive(c echo.Context, plan *booking.Plan, order booking.Order) booking.Answer {
	in.metrics.inFlight.Inc()
	defer in.metrics.inFlight.Dec() // after a panic too
	return in.driver.Book(c.Request().Context(), plan, order)
}

func (in *Ingress) answer(w http.ResponseWriter, saleID string, a *booking.Answer, start, now time.Time) {
	switch a.Verdict {
	case booking.Created:
		in.decoy.observe(a.PaymentURL, now.Sub(start))
		in.writeBooking(w, saleID, a, now)
	case booking.Repeated:
		in.writeBooking(w, saleID, a, now)
	default:
		in.writeRefusal(w, *a)
	}
}

func (in *Ingress) counted(saleID, outcome string, took time.Duration) {
	in.metrics.bookings.WithLabelValues(outcome).Inc()
	in.metrics.took.WithLabelValues(outcome).Observe(took.Seconds())
	in.metrics.tally.Answered(saleID, outcome, took)
}

func (in *Ingress) rateLimited(saleID string, after time.Duration, start time.Time) error {
	in.counted(saleID, string(codeRateLimited), in.Now().Sub(start))
	return tooMany(after)
}

func tooMany(after time.Duration) *Problem {
	p := newProblem(http.StatusTooManyRequests, codeRateLimited, "Too many requests",
		"Wait for the seconds in Retry-After. A booking that you hold is not affected.")
	p.retryAfter = after
	return p
}
