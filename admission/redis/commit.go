package redis

import (
	"context"
	"fmt"
	"strings"

	goredis "github.com/redis/go-redis/v9"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/sale"
)

// firstDriver is the driver number of a fresh admission (protocol.md 3.2 bk, d).
const firstDriver = 1

// A deliverer takes the final answer to request i. It returns false if nobody
// waits for it any more; an admission that nobody took is undone.
type deliverer func(i int, a admission.Answer, err error) bool

// commit drives requests of one sale to their final answers: one script, one
// WAIT for its winners, refusals answered before it (protocol.md 3.5, 3.11). An
// unknown outcome is resolved by the same requests with the same booking ids.
// Each request is delivered exactly once.
func (s *Store) commit(ctx context.Context, reqs []*admission.Request, deliver deliverer) {
	b := &batch{store: s, reqs: reqs, deliver: deliver}
	if !s.mayAdmit(reqs[0].Sale) {
		for i := range reqs {
			deliver(i, admission.Answer{}, fmt.Errorf("%w: the replicas do not acknowledge", admission.ErrUnavailable))
		}
		return
	}
	for i := range reqs {
		b.open = append(b.open, i)
	}
	b.drive(ctx)
}

// batch is the state of one commit.
type batch struct {
	store   *Store
	reqs    []*admission.Request
	deliver deliverer
	open    []int // requests without a final answer
	ran     bool  // an earlier attempt may have run without our knowing
	undo    []admission.Undo
}

func (b *batch) drive(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var err error
	for attempt := 1; ; attempt++ {
		err = b.store.once(ctx, saleKeys(b.reqs[0].Sale).cfg(), func(ctx context.Context, c *goredis.Conn) error {
			return b.attempt(ctx, c)
		})
		if err == nil {
			b.store.undoAll(ctx, b.undo)
			return
		}
		b.ran = b.ran || !notRun(err)
		if attempt == tries || !worthRetry(err) || !b.store.rest(ctx, attempt) {
			break
		}
		b.store.moved(ctx, err)
	}
	b.abandon(ctx, err)
}

// attempt sends the open requests once. An error means that those still open
// have no answer yet.
func (b *batch) attempt(ctx context.Context, c doer) error {
	sent := make([]*admission.Request, len(b.open))
	for j, i := range b.open {
		sent[j] = b.reqs[i]
	}
	answers, err := b.store.admit(ctx, c, sent)
	if err != nil {
		return err
	}
	winners, won := b.refuse(answers)
	b.open = winners
	if len(winners) == 0 {
		return nil
	}
	acked, err := b.store.acknowledged(ctx, c)
	if err != nil {
		return err
	}
	b.store.waited(b.reqs[0].Sale, acked)
	if acked {
		b.promise(winners, won)
	} else {
		b.withdraw(ctx, winners, won)
	}
	b.open = nil
	return nil
}

func (s *Store) admit(ctx context.Context, c doer, reqs []*admission.Request) ([]admission.Answer, error) {
	if len(reqs) > 1 {
		return s.admitMany(ctx, c, reqs)
	}
	a, err := s.admitOne(ctx, c, reqs[0])
	return []admission.Answer{a}, err
}

// refuse delivers the answers that need no acknowledgement and returns the
// winners with their answers. A refusal after an attempt that may have run is
// followed by a quick undo: it bars a copy that is still under way (protocol.md 3.4).
func (b *batch) refuse(answers []admission.Answer) (winners []int, won []admission.Answer) {
	for j, i := range b.open {
		switch answers[j].Outcome {
		case admission.Admitted, admission.Replayed:
			winners, won = append(winners, i), append(won, answers[j])
			continue
		case admission.Same:
		default:
			if b.ran {
				b.owe(i, firstDriver)
			}
		}
		b.deliver(i, answers[j], nil)
	}
	return winners, won
}

// promise delivers acknowledged admissions. One that nobody waits for any more
// is given back.
func (b *batch) promise(winners []int, won []admission.Answer) {
	for j, i := range winners {
		if !b.deliver(i, won[j], nil) {
			b.owe(i, won[j].Driver)
		}
	}
}

// withdraw undoes what the replicas did not acknowledge, then says so.
func (b *batch) withdraw(ctx context.Context, winners []int, won []admission.Answer) {
	for j, i := range winners {
		b.owe(i, won[j].Driver)
	}
	b.store.undoAll(ctx, b.undo)
	b.undo = nil
	for _, i := range winners {
		b.deliver(i, admission.Answer{}, admission.ErrUnacknowledged)
	}
}

// abandon ends a commit whose outcome could not be learned.
func (b *batch) abandon(ctx context.Context, cause error) {
	verdict := admission.ErrUnavailable
	if b.ran {
		verdict = admission.ErrUnknown
		for _, i := range b.open {
			b.owe(i, firstDriver)
		}
	}
	b.store.undoAll(ctx, b.undo)
	for _, i := range b.open {
		b.deliver(i, admission.Answer{}, fmt.Errorf("%w: %w", verdict, cause))
	}
}

// owe notes a quick undo of request i, if this process is its only driver.
func (b *batch) owe(i, driver int) {
	r := b.reqs[i]
	if shared(r) {
		return
	}
	b.undo = append(b.undo, admission.Undo{Sale: r.Sale, BookingID: r.BookingID, Candidate: r.Candidate,
		Level: r.Level, Mode: admission.UndoQuick, Driver: driver})
}

// shared says that the booking id is not ours alone: two workers on one message
// derive the same one, and the other may have gone on to the ledger. A quick
// undo would pull the seat from under it, so the pending entry is left to the
// reaper, and the redelivery to a replay (protocol.md 3.6, 3.7).
func shared(r *admission.Request) bool {
	return r.RosterVersion == admission.ProvenRoster || strings.HasPrefix(r.BookingID, latePrefix)
}

var latePrefix = sale.LateBookingID("")
