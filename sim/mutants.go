package sim

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/admission/admissiontest"
	"github.com/holdfast/holdfast/events"
	"github.com/holdfast/holdfast/ingress/booking"
	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/lifecycle"
)

// Mutant leaves a rule of the protocol out. The simulation has to find each.
type Mutant string

// The mutants.
const (
	NoMutant Mutant = ""
	// mutantIgnoreWait takes an admission that was not acknowledged (R4).
	mutantIgnoreWait Mutant = "ignore_wait"
	// mutantUndoFirst undoes after an ambiguous enqueue without a tombstone (3A row 1).
	mutantUndoFirst Mutant = "undo_without_tombstone"
	// mutantSettleEarly clears the pending entry when the event is queued (3A row 13).
	mutantSettleEarly Mutant = "settle_at_enqueue"
	// mutantUndoUnacknowledged forgets an owed undo that no replica has (T5).
	mutantUndoUnacknowledged Mutant = "undo_unacknowledged"
	// mutantRedisFirst gives seats back before the ledger has released them (R1).
	mutantRedisFirst Mutant = "redis_first"
	// mutantPromoteAnyway takes a promotion that no replica has (R4, S8).
	mutantPromoteAnyway Mutant = "promote_unacknowledged"

	// What scripts of named seats may leave out (protocol.md 4, 3B.20).
	mutantPromoteExpired Mutant = "promote_expired"
	mutantPromotePart    Mutant = "promote_part"
	mutantKeepHold       Mutant = "promote_keeps_hold"
	mutantReleaseOther   Mutant = "release_by_candidate"
	mutantHoldPart       Mutant = "hold_free_part"
	mutantDropFirst      Mutant = "replace_drops_first"
	mutantExpiredRefuse  Mutant = "expired_refuse"
	mutantExtendBack     Mutant = "extend_back"
	mutantExtendForEver  Mutant = "extend_for_ever"
)

// scriptsWithout are the mutants of the simulated Redis itself.
var scriptsWithout = map[Mutant]admissiontest.Rules{
	mutantPromoteExpired: {PromoteExpired: true},
	mutantPromotePart:    {PromotePart: true},
	mutantKeepHold:       {PromoteKeepsHold: true},
	mutantReleaseOther:   {ReleaseByCandidate: true},
	mutantHoldPart:       {HoldFreePart: true},
	mutantDropFirst:      {DropFirst: true},
	mutantExpiredRefuse:  {ExpiredRefuse: true},
	mutantExtendBack:     {ExtendBack: true},
	mutantExtendForEver:  {ExtendForEver: true},
}

func (m Mutant) scripts() admissiontest.Rules { return scriptsWithout[m] }

// ofHolds says that only a sale with named seats can show it.
func (m Mutant) ofHolds() bool {
	return m.scripts() != admissiontest.Rules{} || m == mutantPromoteAnyway
}

// Mutants are all of them.
func Mutants() []Mutant {
	all := []Mutant{mutantIgnoreWait, mutantUndoFirst, mutantSettleEarly, mutantUndoUnacknowledged, mutantRedisFirst, mutantPromoteAnyway}
	return append(all, slices.Sorted(maps.Keys(scriptsWithout))...)
}

// admitted is what the caller of an admission hears.
func (m Mutant) admitted(r redis, q admission.Request, a admission.Answer, err error) (admission.Answer, error) {
	if m != mutantIgnoreWait || !errors.Is(err, admission.ErrUnacknowledged) {
		return a, err
	}
	return r.unacknowledged(q, a, err)
}

// promoted is what the caller of a promotion hears.
func (m Mutant) promoted(r redis, q admission.Request, a admission.Answer, err error) (admission.Answer, error) {
	if m != mutantPromoteAnyway || !errors.Is(err, admission.ErrUnacknowledged) {
		return a, err
	}
	return r.unacknowledged(q, a, err)
}

// unacknowledged is the answer of an admission as if a replica had it.
func (r redis) unacknowledged(q admission.Request, a admission.Answer, err error) (admission.Answer, error) {
	rec, missing := r.in.Record(context.Background(), q.Sale, q.BookingID)
	if missing != nil { // undone again
		return a, err
	}
	return admission.Answer{Outcome: admission.Admitted, BookingID: rec.BookingID, Tokens: rec.Tokens, Stage: rec.Stage, Driver: rec.Driver,
		AdmittedAt: rec.AdmittedAt, HoldUntil: rec.HoldUntil, Level: rec.Level, Record: &rec}, nil
}

// published is what happens when booking.held has been queued, or perhaps not.
func (m Mutant) published(ctx context.Context, p *process, e events.Event, err error) error {
	if err != nil {
		if m == mutantUndoFirst && e.Type == events.BookingHeld {
			_, _ = redis{p, p.town.redis}.Undo(ctx, admission.Undo{Sale: e.Sale, BookingID: e.BookingID, Candidate: e.Candidate,
				Level: e.Held.Level, Mode: admission.UndoAbort}) // a mutant does not care
		}
		return fmt.Errorf("%w: %w", events.ErrAmbiguous, err)
	}
	if m == mutantSettleEarly && e.Type == events.BookingHeld {
		_, _ = redis{p, p.town.redis}.Settle(ctx, e.Sale, e.BookingID, e.Candidate, false) // a mutant does not care
	}
	return nil
}

func (m Mutant) walks(s *lifecycle.Steps) booking.Walks {
	if m == mutantRedisFirst {
		return redisFirst{s}
	}
	return s
}

// redisFirst releases in Redis before it asks the ledger.
type redisFirst struct{ *lifecycle.Steps }

func (r redisFirst) Release(ctx context.Context, bookingID string, why ledger.Reason, actor ledger.Actor) (lifecycle.ReleaseOutcome, error) {
	if b, err := r.Store.Booking(ctx, bookingID); err == nil {
		_, _ = r.Redis.Undo(ctx, admission.Undo{Sale: b.Sale, BookingID: b.ID, Candidate: b.Candidate, Level: b.Level, Mode: admission.UndoRelease}) // a mutant does not care
	}
	return r.Steps.Release(ctx, bookingID, why, actor)
}
