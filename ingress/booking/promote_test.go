package booking_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/ingress/booking"
)

// promoter answers every promotion with an error.
type promoter struct {
	admission.SoftHolder
	err error
}

func (p promoter) Promote(context.Context, admission.Request, string) (admission.Answer, error) {
	return admission.Answer{}, p.err
}

// TestFailedPromotionIsUndoneOnce: what the adapter names it has dealt with, and to
// ask a silent Redis for the undo once more would make the candidate wait as long
// again. After an error that nobody names the script may have run.
func TestFailedPromotionIsUndoneOnce(t *testing.T) {
	for name, c := range map[string]struct {
		err   error
		undos int
	}{
		"unknown":        {fmt.Errorf("%w: i/o timeout", admission.ErrUnknown), 0},
		"unavailable":    {admission.ErrUnavailable, 0},
		"unacknowledged": {admission.ErrUnacknowledged, 0},
		"something else": {errors.New("malformed"), 1},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.driver.Soft = promoter{err: c.err}
			o := order("c1", "N1", "k")
			o.Count, o.HoldID = 0, "h1"
			w.want(w.driver.Book(t.Context(), w.plan, o), booking.Unavailable)
			if got := w.Redis.Calls("Undo"); got != c.undos {
				t.Errorf("%d undos, want %d", got, c.undos)
			}
		})
	}
}
