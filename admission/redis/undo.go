package redis

import (
	"context"

	goredis "github.com/redis/go-redis/v9"

	"github.com/holdfast/holdfast/admission"
)

// Undo gives a booking's seats back (protocol.md 3.4 S2). Abort and release wait
// for the replicas and say in Acknowledged whether all have it; a quick undo does
// not wait, its loss is the reaper's to heal.
func (s *Store) Undo(ctx context.Context, u admission.Undo) (admission.UndoAnswer, error) {
	var c check
	c.names(u.Sale, u.BookingID)
	c.ok(word(u.Level, maxName), "level", u.Level)
	c.ok(wordOrNone(u.HoldID, maxName), "hold id", u.HoldID)
	c.ok(u.Mode == admission.UndoQuick || u.Mode == admission.UndoAbort || u.Mode == admission.UndoRelease, "mode", string(u.Mode))
	if c.err != nil {
		return admission.UndoAnswer{}, c.err
	}
	var answer admission.UndoAnswer
	err := s.retry(ctx, saleKeys(u.Sale).cfg(), func(ctx context.Context, conn *goredis.Conn) error {
		var err error
		if u.HoldID != "" && u.Mode == admission.UndoQuick {
			var done bool
			if answer, done, err = demoteOnce(ctx, conn, u); err != nil || done {
				return err
			}
		}
		if answer, err = undoOnce(ctx, conn, u); err != nil {
			return err
		}
		if answer.Seats > 0 {
			s.freed(u.Sale)
		}
		if u.Mode == admission.UndoQuick || answer.Outcome != admission.Undone && answer.Outcome != admission.Gone {
			return nil
		}
		answer.Acknowledged, err = s.acknowledged(ctx, conn)
		return err
	})
	return answer, err
}

// undoOnce runs the script, again with the record's own level if it is another.
func undoOnce(ctx context.Context, c doer, u admission.Undo) (admission.UndoAnswer, error) {
	k := saleKeys(u.Sale)
	for range 2 {
		raw, err := undoScript.run(ctx, c, k.admit(u.Level),
			u.BookingID, u.Level, string(u.Mode), u.Driver)
		if err != nil {
			return admission.UndoAnswer{}, err
		}
		answer, level, err := parseUndo(raw)
		if err != nil || level == "" {
			return answer, err
		}
		u.Level = level
	}
	return admission.UndoAnswer{}, malformed("undo of %s: the record's level changed between two calls", u.BookingID)
}

// parseUndo reads an undo's answer, or the level that the record has.
func parseUndo(raw any) (a admission.UndoAnswer, level string, err error) {
	p := newReply("undo", raw)
	switch name := p.str(); name {
	case "UNDONE":
		a.Outcome, a.Seats, a.Version = admission.Undone, int(p.num()), p.num()
	case "GONE":
		a.Outcome = admission.Gone
	case "ARMED":
		a.Outcome = admission.Armed
	case "SUPERSEDED":
		a.Outcome = admission.Superseded
	case "LEVEL":
		level = p.str()
	default:
		return a, "", p.unknown(name)
	}
	return a, level, p.end()
}

// undoAll quick-undoes bookings of one sale in one script, whatever became of
// the caller (protocol.md 3.11). It is best effort: what it misses has a pending
// entry, which the reaper finds. ARMED and SUPERSEDED are left alone, those
// bookings have gone on.
func (s *Store) undoAll(ctx context.Context, list []admission.Undo) {
	if len(list) == 0 {
		return
	}
	ctx, cancel := detached(ctx)
	defer cancel()
	k := saleKeys(list[0].Sale)
	var levels levelIndex
	var args []any
	for _, u := range list {
		args = append(args, u.BookingID, levels.of(u.Level), u.Driver)
	}
	all := levels.keys(k, k.cfg(), k.seen(), k.bk(), k.pending(), k.dead(), k.total(), k.seat())
	var version int64
	err := s.retry(ctx, k.cfg(), func(ctx context.Context, c *goredis.Conn) error {
		raw, err := undoManyScript.run(ctx, c, all, levels.head(args)...)
		if err != nil {
			return err
		}
		version, err = parseUndoMany(len(list), raw)
		return err
	})
	if err != nil {
		s.cfg.Log.Warn("quick undo failed, the reaper will return the seats", "sale", list[0].Sale, "bookings", len(list), "error", err)
		return
	}
	s.undone(list[0].Sale, version)
}

// undoLater is undoAll for callers who don't wait for it; Close does.
func (s *Store) undoLater(ctx context.Context, list []admission.Undo) {
	if len(list) > 0 {
		s.undoing.Go(func() { s.undoAll(ctx, list) })
	}
}

// parseUndoMany checks the answers and returns the highest version among them.
func parseUndoMany(n int, raw any) (int64, error) {
	p := newReply("undo_many", raw)
	var version int64
	for range n {
		a, _, err := parseUndo(p.next("answer"))
		if err != nil {
			return 0, err
		}
		version = max(version, a.Version)
	}
	return version, p.end()
}
