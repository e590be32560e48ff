package reaper_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/admission/admissiontest"
	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/reaper"
)

// TestFailoversInARow: Redis names one predecessor. What two failovers between
// two sweeps leave behind is a stranger with the right mark, or with none.
func TestFailoversInARow(t *testing.T) {
	const zeros = "0000000000000000000000000000000000000000"
	twice := func(r *rig) { r.promote("two", true); r.promote("three", true) }
	for name, c := range map[string]struct {
		befall func(*rig)
		want   reaper.Replication
	}{
		"two, with all that was acknowledged": {twice, reaper.ReplicationFailover},
		"four":                                {func(r *rig) { twice(r); r.promote("four", true); r.promote("five", true) }, reaper.ReplicationFailover},
		"two, and a snapshot older than the mark": {func(r *rig) {
			r.Redis.Rewind(2) // the mark, and what came after it
			twice(r)
		}, reaper.ReplicationLost},
		"one, of a replica older than the mark": {func(r *rig) { r.Redis.Rewind(2); r.promote("two", true) }, reaper.ReplicationLost},
		"one, of a replica with the mark":       {func(r *rig) { r.Redis.Rewind(1); r.promote("two", true) }, reaper.ReplicationFailover},
		"an append-only file with the mark": {func(r *rig) {
			r.promote("two", false)
			r.health.PreviousReplication = zeros
		}, reaper.ReplicationLost},
		"a history that ends too soon": {func(r *rig) {
			twice(r)
			r.health.PreviousOffset = 100 // a promoted replica would say 101
		}, reaper.ReplicationLost},
		"a history that goes on": {func(r *rig) {
			twice(r)
			r.health.PreviousOffset = 101
		}, reaper.ReplicationFailover},
		"emptied": {func(r *rig) { r.Redis.Flush(); twice(r) }, reaper.ReplicationLost},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.health.ConnectedReplicas, r.health.Offset = 1, 110
			r.health.ReplicaLagBytes = 10
			r.sweep()
			r.ghost("c1") // a write after the mark
			c.befall(r)
			if r.health.PreviousOffset == 0 {
				r.health.PreviousOffset = 200
			}
			if res := r.sweep(); res.Replication != c.want || res.Frozen != (c.want == reaper.ReplicationLost) {
				t.Errorf("the sweep saw %s, frozen %v; want %s", res.Replication, res.Frozen, c.want)
			}
		})
	}
}

// TestNoMarkNoStranger: before the first sweep nothing is known of a stranger.
func TestNoMarkNoStranger(t *testing.T) {
	r := newRig(t)
	r.promote("two", true)
	r.promote("three", true)
	if res := r.sweep(); res.Replication != reaper.ReplicationLost {
		t.Errorf("the sweep saw %s", res.Replication)
	}
}

// TestOnlyAcknowledgedMarksCount: a mark that no replica has is lost with the
// primary, and the failovers after it are failovers.
func TestOnlyAcknowledgedMarksCount(t *testing.T) {
	r := newRig(t)
	r.sweep()
	r.Redis.Fault = func(op string) admissiontest.Fault {
		if op == "SetMark" {
			return admissiontest.ShortWait
		}
		return admissiontest.NoFault
	}
	r.sweep()
	if r.Redis.Failover(1) != 1 {
		t.Fatal("the second mark was acknowledged")
	}
	r.promote("two", true)
	r.promote("three", true)
	if res := r.sweep(); res.Replication != reaper.ReplicationFailover {
		t.Errorf("the sweep saw %s", res.Replication)
	}
}

// TestDeposedPrimaryFreezesNothing: a primary that was deposed wakes up beside its
// successor and answers a reaper that still has a connection to it. It has no
// replica; with one it would be the primary, and the loss one.
func TestDeposedPrimaryFreezesNothing(t *testing.T) {
	for name, c := range map[string]struct {
		replicas admissiontest.Fault
		frozen   bool
	}{"without a replica": {admissiontest.ShortWait, false}, "with one": {admissiontest.NoFault, true}} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.sweep()
			r.promote("two", true)
			r.sweep()
			r.Redis.Rewind(1) // the successor's mark
			r.health = admission.Health{ReplicationID: "one"}
			r.Redis.Fault = func(op string) admissiontest.Fault {
				if op == "SetMark" {
					return c.replicas
				}
				return admissiontest.NoFault
			}
			res, err := r.Sweeper.Sweep(t.Context(), saleID)
			if res.Frozen != c.frozen || (err == nil) != c.frozen || !c.frozen && res.Replication != reaper.ReplicationDeposed {
				t.Errorf("the sweep saw %s, frozen %v, %v", res.Replication, res.Frozen, err)
			}
		})
	}
}

// TestEmptyPrimaryFreezesNothing: behind an address that never changes a primary
// without the sale, or with one of an older generation, answers beside its
// successor. Nobody follows it; with a replica it would be the primary, and the
// sale lost.
func TestEmptyPrimaryFreezesNothing(t *testing.T) {
	empty := func(r *rig) { r.Redis.Flush() }
	for name, c := range map[string]struct {
		befall   func(*rig)
		replicas admissiontest.Fault
		frozen   bool
	}{
		"empty":                                    {empty, admissiontest.ShortWait, false},
		"empty, with a replica":                    {empty, admissiontest.NoFault, true},
		"of an older generation":                   {func(*rig) {}, admissiontest.ShortWait, false},
		"of an older generation, with a replica":   {func(*rig) {}, admissiontest.NoFault, true},
		"empty, under the id that was last seen":   {func(r *rig) { empty(r); r.health.ReplicationID = "one" }, admissiontest.ShortWait, false},
		"emptied, under the id that was last seen": {func(r *rig) { empty(r); r.health.ReplicationID = "one" }, admissiontest.NoFault, true},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.sweep()
			r.Control(func(c *ledger.Control) { c.Gen++ })
			r.health = admission.Health{ReplicationID: "stranger"}
			c.befall(r)
			r.Redis.Fault = func(op string) admissiontest.Fault {
				if op == "SetMark" {
					return c.replicas
				}
				return admissiontest.NoFault
			}
			res, err := r.Sweeper.Sweep(t.Context(), saleID)
			if res.Frozen != c.frozen || (err == nil) != c.frozen || (res.Replication == reaper.ReplicationDeposed) == c.frozen {
				t.Errorf("the sweep saw %s, frozen %v, %v", res.Replication, res.Frozen, err)
			}
		})
	}
}

// TestEmptyPrimaryGoesWhileItIsAsked: what answers the mark has the sale, so the
// loss that was seen a moment before was another one's.
func TestEmptyPrimaryGoesWhileItIsAsked(t *testing.T) {
	r := newRig(t)
	r.sweep()
	sleepy, h := r.slow()
	h.missing = 1
	res, err := sleepy.Sweeper.Sweep(t.Context(), saleID)
	r.must(err)
	if res.Frozen || res.Replication != reaper.ReplicationSame {
		t.Errorf("the sweep saw %s, frozen %v", res.Replication, res.Frozen)
	}
}

// TestRebuiltSaleHasMarksOfItsOwn: what was known of the lost Redis says nothing
// of the one that was made anew.
func TestRebuiltSaleHasMarksOfItsOwn(t *testing.T) {
	r := newRig(t)
	r.sweep()
	r.loseRedis()
	r.sweep()
	r.rebuild()
	r.sweep()
	r.promote("two", true)
	r.promote("three", true)
	if res := r.sweep(); res.Replication != reaper.ReplicationFailover {
		t.Errorf("the sweep saw %s", res.Replication)
	}
}

// TestNoteOfAnOldGenerationIsLate: a reaper slept between its mark and its note
// while the sale was frozen and rebuilt. Its note does not come over that of the
// new Redis.
func TestNoteOfAnOldGenerationIsLate(t *testing.T) {
	r := newRig(t)
	r.sweep()
	sleepy, h := r.slow()
	h.after = func() error {
		r.loseRedis()
		r.sweep()
		r.rebuild() // ends with a diff, which sets the first mark
		return nil
	}
	_, err := sleepy.Sweeper.Sweep(t.Context(), saleID)
	r.must(err)
	r.promote("two", true)
	r.promote("three", true)
	if res := r.sweep(); res.Replication != reaper.ReplicationFailover {
		t.Errorf("the sweep saw %s", res.Replication)
	}
}

// hooked lets a test act just before a reaper looks at Redis, and just before and
// after it sets the mark.
type hooked struct {
	reaper.Redis
	health admission.HealthReader
	look   func()
	before func()
	after  func() error

	missing int // so many looks find no sale
}

func (h *hooked) Status(ctx context.Context, saleID string, levels []string) (admission.Status, error) {
	if h.missing > 0 {
		h.missing--
		return admission.Status{}, admission.ErrNotFound
	}
	return h.Redis.Status(ctx, saleID, levels)
}

func (h *hooked) Health(ctx context.Context, saleID string) (admission.Health, error) {
	seen, err := h.health.Health(ctx, saleID)
	if act := h.look; act != nil {
		h.look = nil
		act()
	}
	return seen, err
}

func (h *hooked) SetMark(ctx context.Context, m admission.Mark) (admission.MarkAnswer, error) {
	if act := h.before; act != nil {
		h.before = nil
		act()
	}
	a, err := h.Redis.SetMark(ctx, m)
	if h.after != nil && err == nil {
		err = h.after()
	}
	return a, err
}

// slow is a second reaper, whose mark the test can hold up.
func (r *rig) slow() (*reaper.Reaper, *hooked) {
	r.t.Helper()
	h := &hooked{Redis: r.Redis, health: r}
	made, err := reaper.New(reaper.Options{Steps: r.Steps, Redis: h, Health: h, Parked: r.handler, Ages: r.ages, Queue: r.queue, Dead: r.queue, Wait: r.wait, Parallel: 4})
	r.must(err)
	return made, h
}

// TestReaperDiesBeforeItsMarkIsNoted: Redis is one mark ahead of the ledger; the
// next sweep takes that one, so that it is never two.
func TestReaperDiesBeforeItsMarkIsNoted(t *testing.T) {
	r := newRig(t)
	r.sweep()
	dying, h := r.slow()
	h.after = func() error { return errors.New("dead") }
	for range 3 {
		if _, err := dying.Sweeper.Sweep(t.Context(), saleID); err == nil {
			t.Fatal("it lived")
		}
	}
	r.promote("two", true)
	r.promote("three", true)
	if res := r.sweep(); res.Replication != reaper.ReplicationFailover {
		t.Errorf("the sweep saw %s", res.Replication)
	}
}

// TestReaperThatSlept: others moved the mark on, once or often, while it slept
// between reading the ledger and asking Redis. It freezes nothing, and its note
// does not come over theirs.
func TestReaperThatSlept(t *testing.T) {
	for name, sweeps := range map[string]int{"one mark": 1, "three marks": 3} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.sweep()
			sleepy, h := r.slow()
			h.before = func() {
				for range sweeps {
					r.sweep()
				}
			}
			r.promote("two", true) // so that the sleeper judges a failover
			res, err := sleepy.Sweeper.Sweep(t.Context(), saleID)
			r.must(err)
			if res.Frozen {
				t.Fatalf("it froze the sale: %+v", res)
			}
			r.promote("three", true)
			r.promote("four", true)
			if res := r.sweep(); res.Replication != reaper.ReplicationFailover {
				t.Errorf("the sweep saw %s", res.Replication)
			}
		})
	}
}

// TestReaperThatSleptThroughFailovers: others took one failover in, or two, and
// noted how far the new replicas are, which is further than the history that the
// sleeper sees ends.
func TestReaperThatSleptThroughFailovers(t *testing.T) {
	for name, failovers := range map[string][]string{"one": {"two"}, "two": {"two", "three"}} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			fail := func(id string, until int64) {
				r.promote(id, true)
				r.health.ConnectedReplicas, r.health.PreviousOffset, r.health.Offset = 1, until, until+100
			}
			r.health.ConnectedReplicas, r.health.Offset = 1, 100
			r.sweep()
			fail("two", 150)
			sleepy, h := r.slow()
			h.look = func() {
				for i, id := range failovers {
					if i > 0 {
						fail(id, int64(150*(i+1)))
					}
					r.sweep()
					r.sweep()
				}
			}
			res, err := sleepy.Sweeper.Sweep(t.Context(), saleID)
			r.must(err)
			if res.Frozen {
				t.Errorf("it froze the sale: %+v, %s", res, r.Alarms())
			}
		})
	}
}

// TestReaperThatSleptThroughALoss: an old snapshot, with the mark that the
// sleeper knows, took the place of the primary, whose marks went on. What the
// sleeper knows is no proof any more.
func TestReaperThatSleptThroughALoss(t *testing.T) {
	for name, promoted := range map[string]bool{"sees the stranger": true, "sees the old primary": false} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.sweep()
			sleepy, h := r.slow()
			h.before = func() {
				for range 3 {
					r.sweep()
				}
				r.Redis.Rewind(3)
				r.health.PreviousReplication, r.health.ReplicationID = "one", "snapshot"
			}
			if promoted {
				r.promote("two", true)
				h.before = func() {
					r.health.ReplicationID, r.health.PreviousReplication = "one", "" // as the others still see it
					for range 3 {
						r.sweep()
					}
					r.Redis.Rewind(3)
					r.health.ReplicationID, r.health.PreviousReplication = "two", "one"
				}
			}
			_, err := sleepy.Sweeper.Sweep(t.Context(), saleID)
			r.must(err)
			r.sweep()
			c, err := r.Store.Control(t.Context(), saleID)
			r.must(err)
			if !c.Frozen || !strings.Contains(r.Alarms(), string(reaper.AlarmDataLoss)) {
				t.Errorf("the snapshot was taken for a replica: frozen %v, alarms %q", c.Frozen, r.Alarms())
			}
		})
	}
}

// TestMarksKeepTheirOrder: the note of a mark is not later than the next one's,
// whatever the clocks of two reapers say.
func TestMarksKeepTheirOrder(t *testing.T) {
	r := newRig(t)
	var notes []ledger.SweepNote
	for i := range 4 {
		r.Advance(-time.Duration(i) * time.Hour)
		r.sweep()
		n, err := r.Store.LastSweep(t.Context(), saleID, reaper.NoteMark)
		r.must(err)
		if i > 0 && (!n.At.After(notes[i-1].At) || n.Mark == notes[i-1].Mark) {
			t.Errorf("mark %+v does not follow %+v", n, notes[i-1])
		}
		notes = append(notes, n)
	}
}
