package operator_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/holdfast/holdfast/admission/admissiontest"
	"github.com/holdfast/holdfast/reaper"
	"github.com/holdfast/holdfast/sale"
)

// inOrder are the hall's free seats in the order that Redis has them in.
func (b *bench) inOrder() []admissiontest.TokenDump {
	b.t.Helper()
	return b.World.Redis.Dump(exam).Levels["N2"].Free
}

// The file says the order of seats, by score or else by place. It is the same in
// Redis whether the plan was installed so, edited into it, or rebuilt from the
// ledger.
func TestSeatsAreInOneOrderHoweverTheyCame(t *testing.T) {
	b, plan := hall(t)
	edited := withSeats(plan, "A5", "B1", "A1", "A2", "B2", "A3")
	edited.Levels[1].Seats[0].Score, edited.Levels[1].Seats[5].Score = 6, 1 // A3 first, A5 last
	b.must(b.apply(edited))
	want := []admissiontest.TokenDump{{Score: 1, Name: "A3"}, {Score: 2, Name: "B1"}, {Score: 3, Name: "A1"}, {Score: 4, Name: "A2"},
		{Score: 5, Name: "B2"}, {Score: 6, Name: "A5"}}
	if diff := cmp.Diff(want, b.inOrder()); diff != "" {
		t.Errorf("edited (-want +got):\n%s", diff)
	}
	b.World.Redis.Flush()
	_, err := b.healers().Rebuilder.Rebuild(b.ctx, exam, reaper.RebuildOptions{})
	b.must(err)
	if diff := cmp.Diff(want, b.inOrder()); diff != "" {
		t.Errorf("rebuilt (-want +got):\n%s", diff)
	}
	fresh := newBench(t)
	edited.Levels[1].Kind = sale.KindSeated
	fresh.must(fresh.apply(edited))
	if diff := cmp.Diff(want, fresh.inOrder()); diff != "" {
		t.Errorf("installed (-want +got):\n%s", diff)
	}
}
