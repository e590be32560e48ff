package redis

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/holdfast/holdfast/admission"
)

// Promote turns a soft hold into an admission (protocol.md 3.4 S8). It keeps the
// rules of Admit: the script's reply before WAIT, the same booking id again while
// the outcome is unknown, a quick undo of what the replicas did not acknowledge.
// The seats of an undone promotion are the hold's again, as long as it had time:
// its owner tries again, and nobody was faster.
func (s *Store) Promote(ctx context.Context, r admission.Request, holdID string) (admission.Answer, error) {
	if validPromotion(&r, holdID) != nil {
		return admission.Answer{Outcome: admission.BadArgument, BookingID: r.BookingID}, nil
	}
	if !s.mayAdmit(r.Sale) {
		return admission.Answer{}, fmt.Errorf("%w: the replicas do not acknowledge", admission.ErrUnavailable)
	}
	var a admission.Answer
	attempts, acked, began := 0, false, time.Now()
	err := s.retry(ctx, saleKeys(r.Sale).cfg(), func(ctx context.Context, c *goredis.Conn) (err error) {
		attempts++
		if a, err = promoteOnce(ctx, c, &r, holdID); err != nil || !admitted(a) {
			return err
		}
		acked, err = s.acknowledged(ctx, c)
		return err
	})
	undo := admission.Undo{Sale: r.Sale, BookingID: r.BookingID, Candidate: r.Candidate, Level: r.Level, Mode: admission.UndoQuick, Driver: firstDriver, HoldID: holdID}
	switch {
	case err != nil:
		s.abandon(ctx, undo, err, isSilence(err) && time.Since(began) >= s.cfg.readTimeout())
		return admission.Answer{}, err
	case !admitted(a):
		if attempts > 1 && a.Outcome != admission.Same { // a copy of an earlier attempt may still be under way
			s.demote(ctx, undo)
		}
		return a, nil
	}
	s.waited(r.Sale, acked)
	if !acked {
		undo.Driver = a.Driver
		s.demote(ctx, undo)
		return admission.Answer{}, admission.ErrUnacknowledged
	}
	return a, nil
}

// abandon ends a promotion whose outcome could not be learned. Of a silent server
// the caller hears before the undo, as from a batch (see batch.abandon).
func (s *Store) abandon(ctx context.Context, u admission.Undo, err error, silent bool) {
	if silent {
		s.silent(u.Sale)
	}
	switch {
	case errors.Is(err, admission.ErrUnavailable), errors.Is(err, admission.ErrLayout): // nothing ran
	case silent:
		s.undoing.Go(func() { s.demote(ctx, u) })
	default:
		s.demote(ctx, u)
	}
}

// demote undoes a promotion, whatever became of the caller. It is best effort, as
// every quick undo: what it misses has a pending entry, which the reaper finds.
func (s *Store) demote(ctx context.Context, u admission.Undo) {
	ctx, cancel := detached(ctx)
	defer cancel()
	a, err := s.Undo(ctx, u)
	if err != nil {
		s.cfg.Log.Warn("promotion not undone, the reaper will return the seats", "sale", u.Sale, "booking_id", u.BookingID, "error", err)
		return
	}
	s.undone(u.Sale, a.Version)
}

// demoteOnce runs demote.lua, again with the record's own level if it is another.
// done is false if it had nothing to do.
func demoteOnce(ctx context.Context, c doer, u admission.Undo) (a admission.UndoAnswer, done bool, err error) {
	k := saleKeys(u.Sale)
	for range levelTries {
		raw, err := demoteScript.run(ctx, c, []string{k.cfg(), k.seen(), k.bk(), k.pending(), k.dead(), k.seat(), k.soft(u.Level), k.was(u.BookingID)},
			u.BookingID, u.HoldID, u.Level, u.Driver)
		if err != nil {
			return a, false, err
		}
		p := newReply("demote", raw)
		switch name := p.str(); name {
		case "BACK":
			a.Outcome, a.Version = admission.Undone, p.num()
			return a, true, p.end()
		case "NONE":
			return a, false, p.end()
		case "ARMED":
			a.Outcome = admission.Armed
			return a, true, p.end()
		case "SUPERSEDED":
			a.Outcome = admission.Superseded
			return a, true, p.end()
		case "LEVEL":
			if u.Level = p.str(); !word(u.Level, maxName) {
				return a, false, malformed("demote: level %q", u.Level)
			}
		default:
			return a, false, p.unknown(name)
		}
	}
	return a, false, malformed("demote of %s: the record's level changes all the time", u.BookingID)
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
		raw, err := promoteScript.run(ctx, c, []string{k.cfg(), k.seen(), k.bk(), k.pending(), k.dead(), k.seat(), k.roster(), k.last(), k.soft(r.Level), k.was(r.BookingID)},
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
