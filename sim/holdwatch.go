package sim

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/admission/admissiontest"
)

// holdWatch holds every script to what a soft hold is worth (protocol.md 4),
// whatever the script does inside: it looks at the holds before and after it. A
// live hold ends by its own id, or by its own candidate's next choice, and by
// nothing else; nobody has half a group; a hold past its deadline refuses nobody
// and is no booking any more.
type holdWatch struct {
	town   *town
	broken []error
	count  map[string]int
	ids    map[string]bool // every hold and booking that ever was: no viewer may see one
}

// look is one script under watch. It is nil in a sale without named seats.
type look struct {
	watch  *holdWatch
	now    int64
	before map[string]admissiontest.SoftHold
}

func (h *holdWatch) begin() *look {
	if !h.town.seated() {
		return nil
	}
	return &look{watch: h, now: moment(), before: h.town.redis.SoftHolds(theSale)}
}

func (l *look) breaks(format string, args ...any) {
	l.watch.broken = append(l.watch.broken, fmt.Errorf("%w: %s", errBroken, fmt.Sprintf(format, args...)))
}

// others holds the script to leave every live hold as it was, but those that may
// change.
func (l *look) others(script string, mayChange func(id string, h admissiontest.SoftHold) bool) map[string]admissiontest.SoftHold {
	after := l.watch.town.redis.SoftHolds(theSale)
	for _, id := range slices.Sorted(maps.Keys(l.before)) {
		was, is := l.before[id], after[id]
		if was.Until <= l.now || mayChange(id, was) {
			continue
		}
		if is.Until == 0 || is.Until < was.Until || !slices.Equal(is.Seats, was.Seats) {
			l.breaks("%s took from live hold %s: it had %v until %d, and has %v until %d", script, id, was.Seats, was.Until, is.Seats, is.Until)
		}
	}
	return after
}

func nothing(string, admissiontest.SoftHold) bool { return false }

// nobodys is a script that may end no live hold.
func (l *look) nobodys(script string) {
	if l != nil {
		l.others(script, nothing)
	}
}

// ended is a script that may end the hold of this id.
func (l *look) ended(id, script string) {
	if l != nil {
		l.others(script, func(other string, _ admissiontest.SoftHold) bool { return other == id })
	}
}

// held is S6.
func (l *look) held(q admission.HoldRequest, a admission.HoldAnswer, err error) {
	if l == nil || err != nil {
		return
	}
	l.watch.ids[q.HoldID] = true
	l.tell("hold", q.Change, a.Outcome)
	if a.Outcome == admission.Taken {
		l.refusedBy(a.Taken)
	}
	if a.Outcome != admission.Admitted {
		l.nobodys("a hold that was refused")
		return
	}
	after := l.others("Hold", func(_ string, h admissiontest.SoftHold) bool { return h.Candidate == q.Candidate })
	h := after[q.HoldID]
	if !slices.Equal(slices.Sorted(slices.Values(h.Seats)), slices.Sorted(slices.Values(q.Seats))) {
		l.breaks("hold %s asked for %v and has %v", q.HoldID, q.Seats, h.Seats)
	}
	l.lifeOf(q.HoldID, h, q.Max.Milliseconds())
}

// lifeOf bounds a deadline: never beyond the longest life from the first hold.
func (l *look) lifeOf(id string, h admissiontest.SoftHold, most int64) {
	if h.Until > h.First+most {
		l.breaks("hold %s began at %d and lasts until %d, at most %d ms are allowed", id, h.First, h.Until, most)
	}
}

// extended is S7.
func (l *look) extended(e admission.Extension, a admission.HoldAnswer) {
	if l == nil {
		return
	}
	l.tell("extension", false, a.Outcome)
	after := l.others("Extend", nothing)
	if a.Outcome == admission.Admitted {
		l.lifeOf(e.HoldID, after[e.HoldID], e.Max.Milliseconds())
	}
}

// promoted is S8: all of the group or none, and none that was too late.
func (l *look) promoted(q admission.Request, holdID string, a admission.Answer, err error) {
	if l == nil || err != nil && !errors.Is(err, admission.ErrUnacknowledged) {
		return
	}
	l.watch.ids[q.BookingID] = true
	moved := a.Outcome == admission.Admitted || err != nil // undone with the promotion, if no replica has it
	after := l.others("Promote", func(id string, h admissiontest.SoftHold) bool {
		return moved && id == holdID && h.Candidate == q.Candidate
	})
	if err == nil {
		l.tell("promotion", false, a.Outcome)
	}
	if a.Outcome != admission.Admitted {
		return
	}
	was := l.before[holdID]
	if was.Until <= l.now {
		l.breaks("hold %s ran out at %d and became booking %s at %d", holdID, was.Until, q.BookingID, l.now)
	}
	if _, still := after[holdID]; still {
		l.breaks("hold %s is booking %s, and still a hold", holdID, q.BookingID)
	}
	if a.Record == nil || !slices.Equal(a.Record.Tokens, was.Seats) {
		l.breaks("hold %s had %v, booking %s of it is %+v", holdID, was.Seats, q.BookingID, a.Record)
	}
	for _, seat := range was.Seats {
		if owner := l.watch.town.redis.SeatOwner(theSale, seat); owner != q.BookingID {
			l.breaks("seat %s of hold %s went to %q, not to its booking %s", seat, holdID, owner, q.BookingID)
		}
	}
}

// refusedBy: what a refusal names is somebody's, and not by a hold that is over.
func (l *look) refusedBy(seats []string) {
	if l == nil {
		return
	}
	for _, seat := range seats {
		owner := l.watch.town.redis.SeatOwner(theSale, seat)
		if h, soft := l.before[owner]; soft && h.Until <= l.now {
			l.breaks("seat %s was refused for hold %s, which ran out at %d", seat, owner, h.Until)
		}
	}
}

// edited is an edit of the plan: what it drops is nobody's.
func (l *look) edited(e admission.SeatEdit, a admission.SeatEditAnswer) {
	if l == nil {
		return
	}
	l.others("EditSeats", nothing)
	if e.Op != admission.MissingSeats {
		l.watch.count["edit of seats "+string(e.Op)]++
	}
	if e.Op != admission.DropSeats || a.Held != nil {
		return
	}
	for _, seat := range e.Seats {
		if owner := l.watch.town.redis.SeatOwner(theSale, seat); owner != "" {
			l.breaks("seat %s was dropped, and is %s's", seat, owner)
		}
	}
}

// tell counts the answers of the scripts.
func (l *look) tell(what string, change bool, o admission.Outcome) {
	if change {
		what = "change of a " + what
	}
	l.watch.count[what+" "+o.String()]++
}

// next is the first broken promise that has not been told.
func (h *holdWatch) next() error {
	if len(h.broken) == 0 {
		return nil
	}
	err := h.broken[0]
	h.broken = nil
	return err
}
