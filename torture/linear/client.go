package linear

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"golang.org/x/time/rate"

	"github.com/holdfast/holdfast/admission"
)

// pace is how many operations a second one client asks for: histories stay
// short enough to be judged, and long enough to be interesting.
const pace = 40

// client is one of those who book, give back and look at one sale.
type client struct {
	id      int
	sale    *bench
	rng     *rand.Rand
	minted  int
	holding []Op // admissions of its own that it may give back
	unsure  []Op // admissions of its own without an outcome
}

// run asks until ctx ends. Every call gets to its end: an operation that the
// test cut short would tell nothing about the product.
func (c *client) run(ctx context.Context) {
	limit := rate.NewLimiter(pace, 1)
	for limit.Wait(ctx) == nil {
		c.next(context.WithoutCancel(ctx))
	}
}

func (c *client) next(ctx context.Context) {
	switch x := c.rng.Float64(); {
	case len(c.unsure) > 0 && x < .3:
		c.resolve(ctx)
	case len(c.holding) > 0 && x < .6:
		i := c.rng.IntN(len(c.holding))
		o := c.holding[i]
		c.holding = append(c.holding[:i], c.holding[i+1:]...)
		c.release(ctx, o, admission.UndoRelease)
	case x < .8:
		c.admit(ctx, c.wish())
	case x < .9:
		c.sale.count(ctx, c.id)
	default:
		if o, ok := c.sale.anyBooking(c.rng); ok {
			c.sale.look(ctx, c.id, o)
		}
	}
}

// wish is a new attempt of one of few candidates for a seat of one of two levels.
func (c *client) wish() Op {
	c.minted++
	o := Op{Client: c.id, Kind: Admit, Booking: fmt.Sprintf("b%d-%d", c.id, c.minted), Candidate: candidates[c.rng.IntN(len(candidates))], Level: counted}
	if c.rng.IntN(2) == 0 {
		o.Level, o.Seat = seated, seatNames[c.rng.IntN(len(seatNames))]
	}
	return o
}

func (c *client) admit(ctx context.Context, o Op) Result {
	switch o = c.sale.admit(ctx, o); o.Result {
	case Held:
		c.holding = append(c.holding, o)
	case Unsure:
		c.unsure = append(c.unsure, o)
	}
	return o.Result
}

// release gives a booking back. Without an acknowledged answer it is still owed
// (protocol.md 3.3 T5), and asked for again.
func (c *client) release(ctx context.Context, held Op, mode admission.UndoMode) {
	if o := c.sale.release(ctx, held, mode); !o.settles() {
		c.holding = append(c.holding, held)
	}
}

// resolve asks again with the same booking id, as a page that retries does, or
// gives the booking back unseen, as the reaper does.
func (c *client) resolve(ctx context.Context) {
	o := c.unsure[0]
	c.unsure = c.unsure[1:]
	if c.rng.IntN(2) == 0 {
		c.release(ctx, o, admission.UndoAbort)
		return
	}
	c.replay(ctx, o)
}

// replay asks again for what has no outcome. A refusal to look is none either: a
// booking that was forgotten over it would keep its seat for ever.
func (c *client) replay(ctx context.Context, o Op) {
	again := c.admit(ctx, Op{Client: c.id, Kind: Admit, Booking: o.Booking, Candidate: o.Candidate, Level: o.Level, Seat: o.Seat})
	if again == Refused {
		c.unsure = append(c.unsure, o)
	}
}

func (b *bench) admit(ctx context.Context, o Op) Op {
	o = b.history.Do(o, func(o *Op) {
		r := admission.Request{Sale: b.id, BookingID: o.Booking, Candidate: o.Candidate, Level: o.Level, Gen: gen, Key: "key-" + o.Booking, InputHash: "input",
			EmailHash: emailHash, AmountMinor: 100, Currency: "EUR", Count: 1}
		if o.Seat != "" {
			r.Seats = []string{o.Seat}
		}
		a, err := b.door.Admit(ctx, r)
		o.Result = result(a, err)
		o.Other = a.BookingID
		if o.Result == Held {
			o.Token = a.Tokens[0]
		}
	})
	b.tally(o)
	return o
}

var byOutcome = map[admission.Outcome]Result{
	admission.Admitted: Held, admission.Replayed: Held, admission.LevelFull: Full, admission.SoldOut: SoldOut,
	admission.Taken: Taken, admission.Duplicate: Duplicate, admission.Dead: Barred,
}

func result(a admission.Answer, err error) Result {
	if errors.Is(err, admission.ErrUnavailable) {
		return Refused
	}
	if err != nil {
		return Unsure
	}
	r, known := byOutcome[a.Outcome]
	if !known {
		panic(fmt.Sprintf("linear: admission answered %v, which these sales never earn", a.Outcome))
	}
	return r
}

func (b *bench) release(ctx context.Context, held Op, mode admission.UndoMode) Op {
	o := b.history.Do(Op{Client: held.Client, Kind: Release, Booking: held.Booking, Candidate: held.Candidate, Level: held.Level}, func(o *Op) {
		a, err := b.store.Undo(ctx, admission.Undo{Sale: b.id, BookingID: o.Booking, Candidate: o.Candidate, Level: o.Level, Mode: mode})
		switch {
		case errors.Is(err, admission.ErrUnavailable):
			o.Result = Refused
		case err != nil || !a.Acknowledged:
			o.Result = Unsure
		case a.Outcome == admission.Undone:
			o.Result = Freed
		case a.Outcome == admission.Gone:
			o.Result = Gone
		default:
			panic(fmt.Sprintf("linear: a release answered %v, which these sales never earn", a.Outcome))
		}
	})
	b.tally(o)
	return o
}

func (b *bench) look(ctx context.Context, client int, of Op) {
	b.tally(b.history.Do(Op{Client: client, Kind: Look, Booking: of.Booking}, func(o *Op) {
		r, err := b.store.Record(ctx, b.id, o.Booking)
		switch {
		case errors.Is(err, admission.ErrNotFound):
			o.Result = Missing
		case err == nil:
			o.Result, o.Token = Present, r.Tokens[0]
		}
	}))
}

func (b *bench) count(ctx context.Context, client int) {
	b.tally(b.history.Do(Op{Client: client, Kind: Count}, func(o *Op) {
		if s, err := b.store.Status(ctx, b.id, levels); err == nil {
			o.Result, o.Used = Counted, s.Used
		}
	}))
}
