package redis

import (
	"context"
	"fmt"
	"strings"
	"time"

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
// Each request is delivered exactly once, and not looked at after that.
func (s *Store) commit(ctx context.Context, reqs []*admission.Request, deliver deliverer) {
	b := &batch{store: s, sale: reqs[0].Sale, reqs: reqs, deliver: deliver}
	if !s.mayAdmit(b.sale) {
		for i := range reqs {
			deliver(i, admission.Answer{}, fmt.Errorf("%w: the primary or its replicas are silent", admission.ErrUnavailable))
		}
		return
	}
	b.open = make([]int, len(reqs))
	for i := range reqs {
		b.open[i] = i
	}
	b.drive(ctx)
}

// batch is the state of one commit.
type batch struct {
	store   *Store
	sale    string
	reqs    []*admission.Request
	deliver deliverer
	open    []int // requests without a final answer
	ran     bool  // an earlier attempt may have run without our knowing
	undo    []admission.Undo
}

func (b *batch) drive(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	key, began := saleKeys(b.sale).cfg(), time.Now()
	var err error
	for attempt := 1; ; attempt++ {
		err = b.store.onWire(ctx, key, func(w *wire) error { return b.attempt(ctx, w) })
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
	// A caller in a hurry is not a silent server.
	b.abandon(ctx, err, isSilence(err) && time.Since(began) >= b.store.cfg.readTimeout())
}

// attempt sends the open requests once. An error means that those still open
// have no answer yet.
func (b *batch) attempt(ctx context.Context, w *wire) error {
	sent := b.reqs
	if len(b.open) < len(b.reqs) {
		sent = make([]*admission.Request, len(b.open))
		for j, i := range b.open {
			sent[j] = b.reqs[i]
		}
	}
	if err := b.store.laidOut(w, b.sale, sent); err != nil {
		return err
	}
	answers, err := b.store.admit(w, sent)
	if err != nil {
		return err
	}
	won := b.refuse(answers)
	w.late = len(won) == 0
	if len(won) == 0 {
		b.store.refused(ctx, b.sale)
		return nil
	}
	acked, err := w.acknowledged(ctx, b.store.ask(), b.store.cfg.readTimeout())
	if err != nil {
		return err
	}
	b.store.waited(b.sale, acked)
	winners := b.open
	b.open = nil
	if acked {
		b.promise(winners, won)
		return nil
	}
	w.doubtful = true
	b.withdraw(ctx, winners, won)
	return nil
}

func (s *Store) admit(w *wire, reqs []*admission.Request) ([]admission.Answer, error) {
	if len(reqs) > 1 {
		return s.admitMany(w, reqs)
	}
	a, err := s.admitOne(w, reqs[0])
	return []admission.Answer{a}, err
}

// refuse delivers the answers that need no acknowledgement, leaves the winners
// open and returns their answers. A refusal after an attempt that may have run is
// followed by a quick undo: it bars a copy that is still under way (protocol.md 3.4).
func (b *batch) refuse(answers []admission.Answer) (won []admission.Answer) {
	winners := b.open[:0]
	won = answers[:0]
	for j, i := range b.open {
		a := answers[j]
		switch a.Outcome {
		case admission.Admitted, admission.Replayed:
			winners, won = append(winners, i), append(won, a)
			continue
		case admission.Same:
		default:
			if b.ran {
				b.owe(i, firstDriver)
			}
		}
		b.deliver(i, a, nil)
	}
	b.open = winners
	return won
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

// abandon ends a commit whose outcome could not be learned. Of a silent server the
// callers hear before the undo: they have waited as long as one may be silent, and
// the undo asks the same one once more.
func (b *batch) abandon(ctx context.Context, cause error, silent bool) {
	verdict := admission.ErrUnavailable
	if b.ran {
		verdict = admission.ErrUnknown
		for _, i := range b.open {
			b.owe(i, firstDriver)
		}
	}
	if silent {
		b.store.silent(b.sale)
		b.store.undoLater(ctx, b.undo)
	} else {
		b.store.undoAll(ctx, b.undo)
	}
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
