package linear

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/holdfast/holdfast/admission"
)

// shut is a door behind which nobody looks.
type shut struct{}

func (shut) Admit(context.Context, admission.Request) (admission.Answer, error) {
	return admission.Answer{}, admission.ErrUnavailable
}

// TestARefusedReplayStaysOpen: the first attempt may have a seat, and somebody
// has to give it back.
func TestARefusedReplayStaysOpen(t *testing.T) {
	c := &client{rng: rand.New(rand.NewPCG(1, 1)), sale: &bench{id: "s", door: shut{}, history: NewHistory(time.Now()), seen: func(Op) {}}}
	o := c.wish()
	if c.replay(t.Context(), o); len(c.unsure) != 1 || c.unsure[0].Booking != o.Booking {
		t.Errorf("without an outcome: %+v, want %s", c.unsure, o.Booking)
	}
}
