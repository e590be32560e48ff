package load

import (
	"context"
	"errors"
	"net/url"
	"strconv"
	"time"
)

// lateSpread is by how many seconds after the hold's end late money comes at
// most: some of it before the release and some after.
const lateSpread = 15

// decide lets the holder of a new booking pay soon, late, fail or walk away.
// Whoever came back for a seat that was given up pays soon, or a rehearsal
// would never come to rest.
func (r *run) decide(ctx context.Context, k Kind, b Booking) {
	if b.PaymentURL == "" {
		return
	}
	r.mu.Lock()
	x, soon := r.rng.Float64(), time.Duration(r.rng.Int64N(int64(max(r.Paying.Within, 1))))
	r.mu.Unlock()
	if k == Retry {
		x = 1
	}
	switch {
	case x < r.Paying.Abandon:
		r.count(&r.result.Abandoned)
	case x < r.Paying.Abandon+r.Paying.Late:
		r.count(&r.result.Late)
		r.press(ctx, b, soon, url.Values{"action": {"late"}, "after_s": {strconv.Itoa(1 + int(x*1e6)%lateSpread)}})
	case x < r.Paying.Abandon+r.Paying.Late+r.Paying.Fail:
		r.count(&r.result.Failed)
		if r.hall != nil {
			r.hall.failing(b.ID)
		}
		r.press(ctx, b, soon, url.Values{"action": {"fail"}})
	default:
		r.press(ctx, b, soon, url.Values{"action": {"pay"}})
	}
}

func (r *run) count(n *int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	*n++
}

// pressTries bounds how often a person presses a button that does not answer.
const pressTries = 5

// press presses the button of the gateway's page, and then goes back to the shop.
// The two are different acts: the gateway has to answer, and with its answer the
// payment is on its way; the shop may be down in that moment, and its page is
// loaded again, as people do.
//
// A page that is over answers too: after the end of the hold, or where an earlier
// press went through and only its answer was lost.
func (r *run) press(ctx context.Context, b Booking, after time.Duration, form url.Values) {
	held := time.Now().Add(b.HoldUntil.Sub(b.Now))
	for try := range pressTries {
		if !pause(ctx, after+time.Duration(try)*time.Second) {
			return
		}
		back, err := r.client.press(ctx, b.PaymentURL, form)
		switch {
		case err == nil:
			r.count(&r.result.Pressed)
			r.comeHome(ctx, back)
			return
		case errors.Is(err, errPageOver) && (try > 0 || time.Now().After(held)):
			r.count(&r.result.PageOver)
			return
		}
		after = 0
	}
	r.count(&r.result.PressErrors)
}

// reloads bounds how often a person loads the shop's return page again.
const reloads = 10

// comeHome opens the return page until it is there. Nothing depends on it but
// what the person sees: the gateway tells the shop of the payment by itself.
func (r *run) comeHome(ctx context.Context, page string) {
	for try := range reloads {
		if r.client.visit(ctx, page) == nil {
			return
		}
		if !pause(ctx, time.Duration(min(try+1, 3))*500*time.Millisecond) {
			return
		}
	}
	r.count(&r.result.NotHome)
}
