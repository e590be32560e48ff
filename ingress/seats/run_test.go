package seats_test

import (
	"bytes"
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/ingress/booking"
	"github.com/holdfast/holdfast/ingress/seats"
)

// twoSales are a hall, and another sale with the same plan whose primary can be
// frozen: what asks it waits for as long as it may.
type twoSales struct {
	*town
	other  booking.Plan
	frozen chan struct{}
}

func (w *twoSales) Sales() []string { return []string{"hall", "other"} }

func (w *twoSales) Plan(id string) (*booking.Plan, bool) {
	if id == "other" {
		return &w.other, true
	}
	return w.plan, true
}

func (w *twoSales) SeatVersion(ctx context.Context, sale string) (gen, version int64, err error) {
	if sale == "other" {
		select {
		case <-w.frozen:
			<-ctx.Done()
			return 0, 0, ctx.Err()
		default:
		}
	}
	return w.redis.SeatVersion(ctx, "hall")
}

func (w *twoSales) Seats(ctx context.Context, _ string, levels []string) (admission.SeatMap, error) {
	return w.redis.Seats(ctx, "hall", levels)
}

// TestAFrozenSaleHoldsUpItsOwnViewersOnly: each sale may be on a primary of its own.
func TestAFrozenSaleHoldsUpItsOwnViewersOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &twoSales{town: newTown(t, 60), frozen: make(chan struct{})}
		w.other = *w.plan
		w.other.Sale.ID = "other"
		hub := seats.New(seats.Options{Plans: w, Redis: w, Soft: w.redis, Now: time.Now, Log: slog.New(slog.DiscardHandler)})
		ctx, stop := context.WithCancel(t.Context())
		defer time.Sleep(3 * time.Second) // in the bubble: a reading ends by its own limit
		defer stop()
		for _, p := range []*booking.Plan{&w.other, w.plan} {
			s, err := hub.Subscribe(ctx, p, "")
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			<-s.Events() // the map
			if p != w.plan {
				continue
			}
			go hub.Run(ctx)
			close(w.frozen)
			time.Sleep(2 * seats.PollEvery) // in the bubble: a pass has met the frozen one
			w.hold(7)
			select {
			case delta := <-s.Events():
				if !bytes.Contains(delta, []byte(`"S7"`)) {
					t.Errorf("got %s", delta)
				}
			case <-time.After(2 * seats.PollEvery):
				t.Error("a viewer waits for a sale that it does not watch")
			}
		}
	})
}
