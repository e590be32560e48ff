package load

import (
	"context"
	"sync"
)

// acked is a booking that an answer promised to a person.
type acked struct {
	id     string
	person int
}

func (r *run) remember(a acked) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.acked = append(r.acked, a)
}

// accountants is how many bookings are asked for at once.
const accountants = 16

// account asks what became of every booking that a client was told of: nobody
// who heard 201 may find that there was no such booking.
func (r *run) account(ctx context.Context) error {
	r.result.Acked = map[string]int{}
	todo := make(chan acked)
	var asking sync.WaitGroup
	for range accountants {
		asking.Go(func() {
			for a := range todo {
				b, err := r.client.booking(ctx, a)
				r.mu.Lock()
				if err != nil {
					r.result.Unaccounted = append(r.result.Unaccounted, err.Error())
				} else {
					r.result.Acked[b.State]++
				}
				r.mu.Unlock()
			}
		})
	}
	for _, a := range r.acked {
		todo <- a
	}
	close(todo)
	asking.Wait()
	return ctx.Err()
}
