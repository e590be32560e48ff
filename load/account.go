package load

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"
)

// acked is a booking that an answer promised to a person, with its named seats.
type acked struct {
	id     string
	person int
	seats  []string
}

func (r *run) remember(a acked) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.acked = append(r.acked, a)
}

// accountants is how many bookings are asked for at once.
const accountants = 16

// askAgain is how long an unfinished booking is left alone.
const askAgain = 2 * time.Second

// account asks what became of every booking that a client was told of: nobody
// who heard 201 may find that there was no such booking. While one is held and
// there is time left, it is asked for again.
func (r *run) account(ctx context.Context) error {
	ended := map[string]Booking{}
	open := slices.Clone(r.acked)
	for {
		var failed []string
		open, failed = r.askAll(ctx, open, ended)
		if len(open) == 0 || time.Now().After(r.until) || r.Rest != nil || !pause(ctx, askAgain) {
			r.result.Unaccounted = failed
			break
		}
	}
	r.result.Acked = map[string]int{}
	for _, b := range ended {
		r.result.Acked[b.State]++
	}
	if r.hall != nil {
		r.hall.settled(r.acked, ended)
	}
	return ctx.Err()
}

// askAll asks for all bookings at once, as fast as accountants can, and returns
// those that have not come to their end.
func (r *run) askAll(ctx context.Context, all []acked, ended map[string]Booking) (open []acked, failed []string) {
	todo := make(chan acked)
	var mu sync.Mutex
	var asking sync.WaitGroup
	for range accountants {
		asking.Go(func() {
			for a := range todo {
				b, err := r.client.booking(ctx, a)
				mu.Lock()
				switch {
				case err != nil:
					open, failed = append(open, a), append(failed, err.Error())
				case b.State == "held":
					open = append(open, a)
					fallthrough
				default:
					ended[a.id] = b
				}
				mu.Unlock()
			}
		})
	}
	for _, a := range all {
		todo <- a
	}
	close(todo)
	asking.Wait()
	return open, failed
}

// settled compares the seats of the bookings that ended paid with what was
// promised, and with each other.
func (h *hall) settled(all []acked, ended map[string]Booking) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, a := range all {
		b := ended[a.id]
		if b.State != "paid" {
			continue
		}
		h.out.Groups++
		if !sameSeats(a.seats, b.Seats) {
			h.out.Half = append(h.out.Half, fmt.Sprintf("booking %s was promised %v and has %v", a.id, a.seats, b.Seats))
		}
		for _, s := range b.Seats {
			if other := h.sold[s]; other != "" {
				h.out.Twice = append(h.out.Twice, fmt.Sprintf("seat %s is paid in bookings %s and %s", s, other, a.id))
			}
			h.sold[s] = a.id
		}
	}
}

// sameSeats compares two groups, whatever their order.
func sameSeats(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}
