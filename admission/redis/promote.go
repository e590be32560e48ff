package redis

import (
	"context"
	"errors"
	"fmt"
	"strings"

	goredis "github.com/redis/go-redis/v9"

	"github.com/holdfast/holdfast/admission"
)

// Promote turns a soft hold into an admission (protocol.md 3.4 S8). It keeps the
// rules of Admit: the script's reply before WAIT, the same booking id again while
// the outcome is unknown, a quick undo of what the replicas did not acknowledge.
// The seats of an undone promotion are free: the hold is gone with it.
func (s *Store) Promote(ctx context.Context, r admission.Request, holdID string) (admission.Answer, error) {
	if validPromotion(&r, holdID) != nil {
		return admission.Answer{Outcome: admission.BadArgument, BookingID: r.BookingID}, nil
	}
	if !s.mayAdmit(r.Sale) {
		return admission.Answer{}, fmt.Errorf("%w: the replicas do not acknowledge", admission.ErrUnavailable)
	}
	var a admission.Answer
	attempts, acked := 0, false
	err := s.retry(ctx, saleKeys(r.Sale).cfg(), func(ctx context.Context, c *goredis.Conn) (err error) {
		attempts++
		if a, err = promoteOnce(ctx, c, &r, holdID); err != nil || !admitted(a) {
			return err
		}
		acked, err = s.acknowledged(ctx, c)
		return err
	})
	undo := []admission.Undo{{Sale: r.Sale, BookingID: r.BookingID, Candidate: r.Candidate, Level: r.Level, Mode: admission.UndoQuick, Driver: firstDriver}}
	switch {
	case errors.Is(err, admission.ErrUnavailable): // nothing ran
		return admission.Answer{}, err
	case err != nil:
		s.undoAll(ctx, undo)
		return admission.Answer{}, err
	case !admitted(a):
		if attempts > 1 && a.Outcome != admission.Same { // a copy of an earlier attempt may still be under way
			s.undoAll(ctx, undo)
		}
		return a, nil
	}
	s.waited(r.Sale, acked)
	if !acked {
		undo[0].Driver = a.Driver
		s.undoAll(ctx, undo)
		return admission.Answer{}, admission.ErrUnacknowledged
	}
	return a, nil
}

func admitted(a admission.Answer) bool {
	return a.Outcome == admission.Admitted || a.Outcome == admission.Replayed
}

func validPromotion(r *admission.Request, holdID string) error {
	var c check
	c.names(r.Sale, r.BookingID)
	c.ok(word(holdID, maxName) && holdID != r.BookingID, "hold id", holdID)
	c.ok(word(r.Candidate, maxHash), "candidate", r.Candidate)
	c.ok(word(r.Level, maxName), "level", r.Level)
	c.ok(wordOrNone(r.Key, maxHash), "key", r.Key)
	c.ok(wordOrNone(r.InputHash, maxHash), "input hash", r.InputHash)
	c.ok(wordOrNone(r.RosterVersion, maxName), "roster version", r.RosterVersion)
	c.ok(len(r.EmailHash) == emailHash && word(r.EmailHash, emailHash), "e-mail hash", r.EmailHash)
	return c.err
}

// promoteOnce runs the script, again with the hold's own level if it is another;
// r.Level is then that.
func promoteOnce(ctx context.Context, c doer, r *admission.Request, holdID string) (admission.Answer, error) {
	k := saleKeys(r.Sale)
	for range levelTries {
		raw, err := promoteScript.run(ctx, c, []string{k.cfg(), k.seen(), k.bk(), k.pending(), k.dead(), k.seat(), k.roster(), k.last(), k.soft(r.Level)},
			r.BookingID, holdID, r.Candidate, r.Level, r.Gen, r.Key, r.InputHash, r.RosterVersion, r.EmailHash)
		if err != nil {
			return admission.Answer{}, err
		}
		a, level, err := parsePromotion(r, raw)
		if err != nil || level == "" {
			return a, err
		}
		r.Level = level
	}
	return admission.Answer{}, malformed("promote %s: the hold changes its level all the time", r.BookingID)
}

// parsePromotion reads an answer, or the level that the hold has.
func parsePromotion(r *admission.Request, raw any) (a admission.Answer, level string, err error) {
	p := newReply("promote", raw)
	switch name := p.str(); name {
	case "OK":
		a.Outcome = admission.Admitted
	case "REPLAY":
		a.Outcome = admission.Replayed
	case "GONE":
		return admission.Answer{Outcome: admission.HoldGone, BookingID: r.BookingID}, "", p.end()
	case "LEVEL":
		if level = p.str(); !word(level, maxName) {
			return a, "", malformed("promote: level %q", level)
		}
		return a, level, p.end()
	default:
		a, err = parseAnswer(r, raw)
		return a, "", err
	}
	rec, err := p.record(r.BookingID)
	if err != nil {
		return a, "", err
	}
	p.num() // Redis TIME
	if a.Outcome == admission.Admitted {
		a.Version = p.num()
	}
	a.BookingID, a.Tokens, a.Stage, a.Driver = r.BookingID, rec.Tokens, rec.Stage, rec.Driver
	a.AdmittedAt, a.HoldUntil, a.Level, a.Record = rec.AdmittedAt, rec.HoldUntil, rec.Level, rec
	return a, "", p.end()
}

func joined(seats []string) string { return strings.Join(seats, ",") }
