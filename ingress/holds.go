package ingress

import (
	"context"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/ingress/booking"
	"github.com/holdfast/holdfast/sale"
)

// holdFor bounds what a hold may take of its caller's patience.
const holdFor = 5 * time.Second

// bestTries is how often the best seats are chosen anew when somebody was faster.
const bestTries = 5

// holdDoc is a soft hold as its owner sees it.
type holdDoc struct {
	HoldID    string      `json:"hold_id"`
	Sale      string      `json:"sale"`
	Level     string      `json:"level"`
	Seats     []string    `json:"seats"`
	Price     *sale.Money `json:"price"`
	HoldUntil *Instant    `json:"hold_until"`
	MaxUntil  *Instant    `json:"max_until"`
	Now       *Instant    `json:"now"`
}

// hold is POST /sales/{sale}/holds: it takes named seats for a candidate who is
// choosing. It passes the same gates as a booking: honeypot, limits, form, roster.
func (in *Ingress) hold(c echo.Context) error {
	plan, ok := in.plans.Plan(c.Param("sale"))
	if !ok || len(plan.Halls) == 0 {
		return notFound()
	}
	b, err := readHold(c.Request())
	if err != nil {
		return invalid(Field{"body", err.Error()})
	}
	if b.trapped() {
		return in.decoyHold(c, plan, b)
	}
	if after, limited := in.overClientLimit(c.Request(), in.Now()); limited {
		return tooMany(after)
	}
	r, hall, problem := in.holdRequest(plan, b, c.Request())
	if problem != nil {
		return problem
	}
	if after, limited := in.overLimit(in.byCode, "code", r.Candidate, in.Now()); limited {
		return tooMany(after)
	}
	if early := in.tooEarly(plan); early != nil {
		return early
	}
	if r.HoldID, err = in.Hasher.BookingID(in.Rand); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.Request().Context()), holdFor)
	defer cancel()
	a, problem, err := in.take(ctx, plan, hall, b, r)
	switch {
	case err != nil:
		return err
	case problem != nil:
		return problem
	}
	status := http.StatusCreated
	if a.Outcome == admission.Same {
		status = http.StatusOK
	}
	return in.writeHold(c, status, plan, a)
}

// holdRequest checks every field, and hashes what is secret. The problem names
// all faults at once.
func (in *Ingress) holdRequest(plan *booking.Plan, b *holdBody, r *http.Request) (admission.HoldRequest, *sale.Hall, *Problem) {
	for _, f := range []struct{ name, value string }{{"code", b.Code}, {"email", b.Email}, {"level", b.Level}} {
		if hasControl(f.value) {
			b.fault(f.name, "has control characters")
		}
	}
	code, err := sale.NormaliseCode(b.Code)
	if err != nil {
		b.fault("code", err.Error())
	}
	email, err := sale.ParseEmail(b.Email)
	if err != nil {
		b.fault("email", err.Error())
	}
	hall := plan.Halls[b.Level]
	switch {
	case hall == nil:
		b.fault("level", "is not a level with named seats of this sale")
	case (b.Best == nil) == (b.Seats == nil):
		b.fault("seats", "must be a list of names, or best must say how many; one of them")
	case b.Best != nil:
		b.wish(hall, plan.Sale.MaxSeats)
	default:
		b.names(plan.Sale.MaxSeats)
	}
	key, ok := idempotencyKey(r.Header)
	if !ok {
		b.fault("Idempotency-Key", "must be one header of 1 to 255 visible ASCII characters")
	}
	q := admission.HoldRequest{Sale: plan.Sale.ID, Level: b.Level, Gen: plan.Gen, Seats: b.Seats, For: b.life(plan), Max: plan.Sale.SoftHoldMax}
	if len(b.faults) > 0 {
		return q, nil, invalid(b.faults...)
	}
	q.Candidate, q.EmailHash = string(in.Hasher.Code(code)), string(in.Hasher.Email(email))
	if key != "" { // another domain than a booking's: one key may serve both
		q.Key = in.Hasher.Input("idempotency key of a hold", plan.Sale.ID, q.Candidate, key)
	}
	q.InputHash = in.Hasher.Input("hold", plan.Sale.ID, q.Level, q.EmailHash, b.fingerprint())
	return q, hall, nil
}

// tooEarly refuses by the local snapshot what the script would refuse for seconds
// to come; nobody holds anything yet, so nobody is refused who holds.
func (in *Ingress) tooEarly(plan *booking.Plan) *Problem {
	if plan.Frozen || !in.plans.Fresh(plan) {
		return unavailable(2 * time.Second)
	}
	if left := plan.Sale.OpensAt.Sub(in.Now().Add(plan.ClockAhead)); plan.Empty && left > 2*time.Second {
		return in.closedProblem(plan.Sale.OpensAt, left)
	}
	return nil
}

func (in *Ingress) closedProblem(opensAt time.Time, left time.Duration) *Problem {
	r := refusals[booking.Closed]
	p := newProblem(r.status, Code(booking.Closed), r.title, r.detail)
	p.OpensAt, p.retryAfter = instant(opensAt), max(left, time.Minute)
	if left > 0 {
		p.retryAfter = left + time.Second
	}
	return p
}

// take asks for the seats. The best ones are chosen from the map, which is a
// moment old: if somebody was faster they are chosen again from a new one.
func (in *Ingress) take(ctx context.Context, plan *booking.Plan, hall *sale.Hall, b *holdBody, q admission.HoldRequest) (admission.HoldAnswer, *Problem, error) {
	taken := map[string]bool{}
	for attempt := 1; ; attempt++ {
		if b.Best != nil {
			names, err := in.best(ctx, plan, hall, b, taken)
			if err != nil {
				return admission.HoldAnswer{}, nil, err
			}
			if names == nil {
				return admission.HoldAnswer{}, noneTogether(b.Best.Count), nil
			}
			q.Seats = names
		}
		price, err := hall.Amount(q.Seats)
		if err != nil {
			return admission.HoldAnswer{}, invalid(Field{"seats", err.Error()}), nil
		}
		q.AmountMinor, q.Currency = price.AmountMinor, price.Currency
		a, err := in.askHold(ctx, plan, q)
		if err != nil {
			return a, nil, err
		}
		if a.Outcome == admission.Taken && b.Best != nil && attempt < bestTries {
			for _, s := range a.Taken {
				taken[s] = true
			}
			continue
		}
		if a.Outcome == admission.Admitted || a.Outcome == admission.Same {
			return a, nil, nil
		}
		return a, in.holdRefused(ctx, plan, hall, q, a), nil
	}
}

func (in *Ingress) best(ctx context.Context, plan *booking.Plan, hall *sale.Hall, b *holdBody, taken map[string]bool) ([]string, error) {
	v, err := in.seats.View(ctx, plan)
	if err != nil {
		return nil, err
	}
	names, _ := hall.Best(b.wish(hall, plan.Sale.MaxSeats), func(s string) bool { return v.Free(s) && !taken[s] })
	return names, nil
}

func noneTogether(n int) *Problem {
	p := newProblem(http.StatusConflict, Code(booking.SeatTaken), "There are not so many free seats side by side",
		"Ask for fewer, for another section or price, or choose single seats from the map.")
	p.Numbers = map[string]int{"wanted": n}
	return p
}

// askHold asks the script; if only expired holds of other levels use up the
// sale's total, once more after they are gone.
func (in *Ingress) askHold(ctx context.Context, plan *booking.Plan, q admission.HoldRequest) (admission.HoldAnswer, error) {
	a, err := in.driver.Soft.Hold(ctx, q)
	if err == nil && a.Outcome == admission.SoldOut && in.driver.LapseAll(ctx, plan) {
		a, err = in.driver.Soft.Hold(ctx, q)
	}
	if err == nil && a.Version > 0 {
		in.Status.Changed(q.Sale, a.Version)
	}
	return a, err
}
