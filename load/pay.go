package load

import (
	"context"
	"net/url"
	"strconv"
	"time"
)

// decide lets the holder of a new booking pay soon, late, fail or walk away.
func (r *run) decide(ctx context.Context, b Booking) {
	if b.PaymentURL == "" {
		return
	}
	r.mu.Lock()
	x, soon := r.rng.Float64(), time.Duration(r.rng.Int64N(int64(max(r.Paying.Within, 1))))
	r.mu.Unlock()
	switch {
	case x < r.Paying.Abandon:
		r.count(&r.result.Abandoned)
	case x < r.Paying.Abandon+r.Paying.Late:
		r.count(&r.result.Late)
		r.press(ctx, b, soon, url.Values{"action": {"late"}, "after_s": {strconv.Itoa(2)}})
	case x < r.Paying.Abandon+r.Paying.Late+r.Paying.Fail:
		r.count(&r.result.Failed)
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

func (r *run) press(ctx context.Context, b Booking, after time.Duration, form url.Values) {
	for try := range pressTries {
		if !pause(ctx, after+time.Duration(try)*time.Second) {
			return
		}
		if err := r.client.press(ctx, b.PaymentURL, form); err == nil {
			r.count(&r.result.Pressed)
			return
		}
		after = 0
	}
	r.count(&r.result.PressErrors)
}
