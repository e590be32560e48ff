package redis

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/holdfast/holdfast/admission"
)

// TestAttachTimes: each booking is held for as long as was asked, and never shorter
// than before, and each page is kept for its own time; one by one and in a batch.
func TestAttachTimes(t *testing.T) {
	for name, attach := range map[string]func(b *bench, list []admission.Attachment) ([]admission.AttachAnswer, []error){
		"single": func(b *bench, list []admission.Attachment) (answers []admission.AttachAnswer, errs []error) {
			for _, at := range list {
				a, err := b.store.Attach(b.ctx(), at)
				answers, errs = append(answers, a), append(errs, err)
			}
			return answers, errs
		},
		"vector": func(b *bench, list []admission.Attachment) ([]admission.AttachAnswer, []error) {
			return inOneBatch(b.t, NewCommitter(b.store, CommitOptions{}).attaches, b.sale, list)
		},
	} {
		t.Run(name, func(t *testing.T) { testAttachTimes(t, newBench(t), attach) })
	}
}

func testAttachTimes(t *testing.T, b *bench, attach func(b *bench, list []admission.Attachment) ([]admission.AttachAnswer, []error)) {
	var list []admission.Attachment
	var want, got []time.Time
	ask := func(until func(held time.Time) time.Time, stash time.Duration) {
		id := itoa(len(list) + 1)
		held := b.admit(b.req("b"+id, "c"+id)).HoldUntil
		at := b.attachment("b"+id, 1, "pay-"+id)
		at.HoldUntil, at.StashFor, at.URL = until(held), stash, "https://pay.example/"+id
		list = append(list, at)
		if at.HoldUntil.After(held) {
			held = at.HoldUntil
		}
		want = append(want, held)
	}
	ask(func(held time.Time) time.Time { return held.Add(-time.Minute) }, time.Hour)
	ask(func(held time.Time) time.Time { return held.Add(time.Minute) }, 2*time.Hour)
	ask(func(time.Time) time.Time { return time.UnixMilli(999_999_999_999).UTC() }, time.Hour) // a digit less
	ask(func(time.Time) time.Time { return time.Unix(-9, 0) }, 3*time.Hour)
	ask(func(time.Time) time.Time { return time.UnixMilli(10_000_000_000_000).UTC() }, time.Hour) // a digit more

	before := redisMillis(t, b)
	answers, errs := attach(b, list)
	after := redisMillis(t, b)
	for i, a := range answers {
		if errs[i] != nil || a.Outcome != admission.Attached {
			t.Fatalf("booking %d: %v, %v", i+1, a.Outcome, errs[i])
		}
		got = append(got, a.HoldUntil)
		rec, err := b.store.Record(b.ctx(), b.sale, list[i].BookingID)
		if err != nil || !rec.HoldUntil.Equal(a.HoldUntil) {
			t.Errorf("booking %d: held until %v, answered %v, %v", i+1, rec.HoldUntil, a.HoldUntil, err)
		}
		field := strings.Split(b.admin.HGet(b.ctx(), b.k.pending(), list[i].BookingID).Val(), "|")[4]
		kept := keptUntil(t, field).Add(-list[i].StashFor)
		if kept.Before(before) || kept.After(after) {
			t.Errorf("booking %d: the page was kept for %v from %v on, it was attached from %v to %v", i+1, list[i].StashFor, kept, before, after)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("held until (-want +got):\n%s", diff)
	}
}

// redisMillis is the server's clock, as scripts see it.
func redisMillis(t *testing.T, b *bench) time.Time {
	t.Helper()
	now, err := b.store.time(b.ctx(), b.k.cfg())
	if err != nil {
		t.Fatal(err)
	}
	return now.Truncate(time.Millisecond)
}

// keptUntil is the time in a record's field of the payment: its id, until when the
// page is kept, the page.
func keptUntil(t *testing.T, field string) time.Time {
	t.Helper()
	parts := strings.Split(field, " ")
	if len(parts) != 3 {
		t.Fatalf("payment %q", field)
	}
	var p fieldParser
	until := p.time(parts[1])
	if p.err != nil {
		t.Fatal(p.err)
	}
	return until
}
