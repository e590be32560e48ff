package redis

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/holdfast/holdfast/admission"
)

// homeless are the bookings of newHomes, by what was done with them: pending or
// settled; admitted, attached, paid, or taken over by a second driver; the named
// ones were holds.
var homeless = []string{"pending", "pending-attached", "settled", "settled-attached", "paid", "pending-resumed", "settled-resumed", "pending-named", "settled-named"}

// newHomes has a booking in every state in which a script may find one.
func newHomes(t *testing.T, deadline time.Time) *bench {
	b := newBench(t)
	settle := func(id, c string, paid bool) {
		if _, err := b.store.Settle(b.ctx(), b.sale, id, c, paid); err != nil {
			t.Fatal(err)
		}
	}
	for i, id := range homeless {
		c := "c" + itoa(i+1)
		r := b.req(id, c)
		switch {
		case i >= 7:
			r.Level = "N"
			b.soft("hold-"+c, c, "N", deadline, "N"+itoa(i-6))
			if a, err := b.store.Promote(b.ctx(), r, "hold-"+c); err != nil || a.Outcome != admission.Admitted {
				t.Fatalf("%s: %+v, %v", id, a, err)
			}
		case i >= 4:
			r.Level = "B"
			fallthrough
		default:
			b.admit(r)
		}
		switch id {
		case "pending-attached", "settled-attached", "paid":
			b.attach(id, 1, "pay-1")
		case "pending-resumed", "settled-resumed":
			b.resume(id)
		}
		switch id {
		case "settled", "settled-attached", "settled-resumed", "settled-named", "paid":
			settle(id, c, id == "paid")
		}
	}
	return b
}

func (b *bench) resume(id string) {
	b.t.Helper()
	if _, err := b.store.Resume(b.ctx(), b.sale, id, idk1, inh1, 0); err != nil {
		b.t.Fatal(err)
	}
}

// homes says where each booking's record is, its stage and its driver.
func (b *bench) homes() map[string]string {
	at := map[string]string{}
	for name, key := range map[string]string{"pending": b.k.pending(), "bk": b.k.bk()} {
		for id, raw := range b.admin.HGetAll(b.ctx(), key).Val() {
			at[id] += name + " " + raw[:1] + raw[2:3]
		}
	}
	return at
}

// TestEveryScriptKnowsBothHomes: whatever changes a record finds it in pending and
// in bk, and leaves it where it belongs. The vector forms do what the single forms
// do in sequence, for a booking that is twice in a batch, too.
func TestEveryScriptKnowsBothHomes(t *testing.T) {
	acts := []struct {
		name         string
		single, many func(b *bench) (answers []any)
		want         []string // of homeless
		holds        bool     // the holds of the named ones are there again
	}{
		{"attach", (*bench).attachEach, (*bench).attachMany,
			[]string{"pending E1", "pending E1", "bk E1", "bk E1", "bk P1", "pending A2", "bk A2", "pending E1", "bk E1"}, false},
		{"settle", settleEach(false, false), settleMany(false, false),
			[]string{"bk A1", "bk E1", "bk A1", "bk E1", "bk P1", "bk A2", "bk A2", "bk A1", "bk A1"}, false},
		{"settle paid", settleEach(true, true), settleMany(true, true),
			[]string{"bk P1", "bk P1", "bk P1", "bk P1", "bk P1", "bk P2", "bk P2", "bk P1", "bk P1"}, false},
		{"settle, then paid", settleEach(false, true), settleMany(false, true),
			[]string{"bk P1", "bk P1", "bk P1", "bk P1", "bk P1", "bk P2", "bk P2", "bk P1", "bk P1"}, false},
		{"quick undo", (*bench).undoEach, (*bench).undoMany,
			[]string{"", "pending E1", "", "bk E1", "bk P1", "pending A2", "bk A2", "", ""}, false},
		{"demote", (*bench).demoteEach, nil,
			[]string{"", "pending E1", "", "bk E1", "bk P1", "pending A2", "bk A2", "", ""}, true},
		{"resume", (*bench).resumeEach, nil,
			[]string{"pending A2", "pending E1", "bk A2", "bk E1", "bk P1", "pending A3", "bk A3", "pending A2", "bk A2"}, false},
	}
	for _, act := range acts {
		t.Run(act.name, func(t *testing.T) {
			deadline := time.Now().Add(time.Hour)
			one := newHomes(t, deadline)
			answers, at := act.single(one), map[string]string{}
			for i, id := range homeless {
				if act.want[i] != "" {
					at[id] = act.want[i]
				}
				if act.holds && i >= 7 {
					at["hold-c"+itoa(i+1)] = "bk S1"
				}
			}
			if diff := cmp.Diff(at, one.homes()); diff != "" {
				t.Errorf("homes (-want +got):\n%s", diff)
			}
			one.conserved()
			if act.many == nil {
				return
			}
			many := newHomes(t, deadline)
			if diff := cmp.Diff(answers, act.many(many)); diff != "" {
				t.Errorf("answers (-single +vector):\n%s", diff)
			}
			want, got := one.dump(), many.dump()
			if strings.HasPrefix(act.name, "settle") { // a batch raises it once
				delete(want, "adm:cfg ver")
				delete(got, "adm:cfg ver")
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("keys (-single +vector):\n%s", diff)
			}
		})
	}
}

// attachments are two of each booking, with one payment's id each.
func (b *bench) attachments() (list []admission.Attachment) {
	for _, id := range homeless {
		list = append(list, b.attachment(id, 1, "pay-2"), b.attachment(id, 1, "pay-3"))
	}
	return list
}

func (b *bench) attachEach() (answers []any) {
	for _, a := range b.attachments() {
		got, err := b.store.Attach(b.ctx(), a)
		answers = append(answers, got.Outcome, got.PaymentID, err)
	}
	return answers
}

func (b *bench) attachMany() (answers []any) {
	got, errs := inOneBatch(b.t, NewCommitter(b.store, CommitOptions{}).attaches, b.sale, b.attachments())
	for i, a := range got {
		answers = append(answers, a.Outcome, a.PaymentID, errs[i])
	}
	return answers
}

// settlements are two of each booking, one after the other.
func settlements(paid ...bool) (list []settlement) {
	for _, id := range homeless {
		for _, p := range paid {
			list = append(list, settlement{id, p})
		}
	}
	return list
}

func settleEach(paid ...bool) func(*bench) []any {
	return func(b *bench) (answers []any) {
		for _, s := range settlements(paid...) {
			went, err := b.store.Settle(b.ctx(), b.sale, s.bookingID, "c1", s.paid)
			answers = append(answers, went, err)
		}
		return answers
	}
}

func settleMany(paid ...bool) func(*bench) []any {
	return func(b *bench) (answers []any) {
		got, errs := inOneBatch(b.t, NewCommitter(b.store, CommitOptions{}).settles, b.sale, settlements(paid...))
		for i, went := range got {
			answers = append(answers, went, errs[i])
		}
		return answers
	}
}

// undos are two quick ones of each booking, by its first driver.
func (b *bench) undos(hold bool) (list []admission.Undo) {
	for i, id := range homeless {
		u := admission.Undo{Sale: b.sale, BookingID: id, Candidate: "c" + itoa(i+1), Level: "A", Mode: admission.UndoQuick, Driver: 1}
		if i >= 4 {
			u.Level = "B"
		}
		if i >= 7 {
			u.Level = "N"
			if hold {
				u.HoldID = "hold-" + u.Candidate
			}
		}
		list = append(list, u, u)
	}
	return list
}

func (b *bench) undoEach() []any { return b.undoOneByOne(false) }

func (b *bench) demoteEach() []any { return b.undoOneByOne(true) }

func (b *bench) undoOneByOne(hold bool) []any {
	b.t.Helper()
	for _, u := range b.undos(hold) {
		if _, err := b.store.Undo(b.ctx(), u); err != nil {
			b.t.Fatal(err)
		}
	}
	return nil
}

func (b *bench) undoMany() []any {
	b.store.undoAll(context.WithoutCancel(b.ctx()), b.undos(false))
	return nil
}

func (b *bench) resumeEach() []any {
	for _, id := range homeless {
		b.resume(id)
	}
	return nil
}
