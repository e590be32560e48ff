package reaper_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/reaper"
)

// former gives the sale's keys the form that they had in layout 1, without a number
// (admission/redis/layout.go).
func (w *town) former() {
	w.t.Helper()
	key := func(name string) string { return "{" + townSale + "}:adm:" + name }
	w.must(w.admin.HDel(w.ctx(), key("cfg"), "layout").Err())
	pending, err := w.admin.HGetAll(w.ctx(), key("pending")).Result()
	w.must(err)
	w.must(w.admin.Del(w.ctx(), key("pending"), key("owner:N1")).Err())
	for id, r := range pending {
		f := strings.Split(r, "|")
		w.must(w.admin.HSet(w.ctx(), key("bk"), id, r).Err())
		w.must(w.admin.HSet(w.ctx(), key("pending"), f[5], id+"|"+f[6]+"|"+f[10]).Err())
	}
	records, err := w.admin.HGetAll(w.ctx(), key("bk")).Result()
	w.must(err)
	for id, r := range records {
		w.must(w.admin.HSet(w.ctx(), key("seat"), strings.Split(r, "|")[14], id).Err())
	}
}

// TestAnotherBuildsSaleIsLeftAloneUntilRebuilt: passes over a sale that a build of
// another layout loaded end nobody's hold, free no seat and conclude nothing, and
// say why; a rebuild makes it ours, with every booking that the ledger has.
func TestAnotherBuildsSaleIsLeftAloneUntilRebuilt(t *testing.T) {
	t.Parallel()
	const n = 40
	w := newTown(t, n)
	w.hold(n / 2)
	_, err := w.reaper.Rebuilder.Rebuild(w.ctx(), townSale, reaper.RebuildOptions{})
	w.must(err)
	for i := n / 2; i < n*3/4; i++ { // a quarter more, whose events the ledger has by now
		t, err := ledger.Hold(w.admit("new", i), "worker", w.plan.OpensAt)
		w.must(err)
		w.must(w.store.Apply(w.ctx(), t))
	}
	w.former()
	w.open(w.pair.Primary.Addr(), 1)

	refused := func(what string, err error) {
		t.Helper()
		if !errors.Is(err, admission.ErrLayout) {
			t.Errorf("%s: %v", what, err)
		}
	}
	_, err = w.reaper.Sweeper.Sweep(w.ctx(), townSale)
	refused("sweep", err)
	_, err = w.reaper.Differ.Diff(w.ctx(), townSale)
	refused("diff", err)
	_, err = w.reaper.Repairer.Repair(w.ctx(), townSale, true)
	refused("repair", err)
	_, err = w.reaper.Auditor.Audit(w.ctx(), townSale)
	refused("audit", err)
	if live := w.live(); live != n*3/4 {
		t.Errorf("%d of %d bookings live in the ledger", live, n*3/4)
	}
	if len(w.alarms) != 1 || w.alarms[0].Kind != reaper.AlarmFrozen || !strings.Contains(w.alarms[0].Detail, "(no layout, this one has ") {
		t.Errorf("alarms %+v", w.alarms)
	}

	built, err := w.reaper.Rebuilder.Rebuild(w.ctx(), townSale, reaper.RebuildOptions{})
	w.must(err)
	if !built.Opened || built.Live != n*3/4 || !built.Diff.Clean() {
		t.Errorf("rebuild %+v", built)
	}
	w.clean()
	s, err := w.reaper.Sweeper.Sweep(w.ctx(), townSale)
	w.must(err)
	if s.Holds.Done != n/2 || s.Failed() > 0 { // those whose hold has ended
		t.Errorf("sweep %+v", s)
	}
	w.clean()
}

// live counts the ledger's live bookings.
func (w *town) live() (n int) {
	w.t.Helper()
	w.must(w.store.Scan(w.ctx(), townSale, ledger.Visitor{Booking: func(b ledger.Booking) error {
		if b.State.Live() {
			n++
		}
		return nil
	}}))
	return n
}
