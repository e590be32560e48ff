package sale_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/holdfast/holdfast/sale"
)

// protocol.md 3.8: the figures of a ten-minute hold.
func TestAgesOfATenMinuteHold(t *testing.T) {
	want := sale.Ages{
		RequestMax: 15 * time.Second, UnattachedMax: 2 * time.Minute, AttachedMax: 15 * time.Minute, ReleaseGrace: time.Minute,
		GateExtend: 2 * time.Minute, MessageMax: 5 * time.Minute, CommitExtend: 3 * time.Minute, URLMinLeft: time.Minute,
	}
	if diff := cmp.Diff(want, sale.DeriveAges(10*time.Minute)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	want.AttachedMax = 65 * time.Minute
	if diff := cmp.Diff(want, sale.DeriveAges(time.Hour)); diff != "" {
		t.Errorf("a longer hold (-want +got):\n%s", diff)
	}
}

func TestAgesShrinkWithTheHoldDownToTheirFloors(t *testing.T) {
	want := sale.Ages{
		RequestMax: 5 * time.Second, UnattachedMax: 12 * time.Second, AttachedMax: 90 * time.Second, ReleaseGrace: 6 * time.Second,
		GateExtend: 12 * time.Second, MessageMax: 30 * time.Second, CommitExtend: 18 * time.Second, URLMinLeft: 6 * time.Second,
	}
	if diff := cmp.Diff(want, sale.DeriveAges(time.Minute)); diff != "" {
		t.Errorf("one minute (-want +got):\n%s", diff)
	}
}

// 3B.24: whatever hold an operator writes, its derived ages pass the checks.
func TestDerivedAgesAreValidForEveryHold(t *testing.T) {
	s := spring()
	for hold := sale.MinHold; hold <= sale.MaxHold; hold = hold*11/10 + 7*time.Millisecond {
		s.Hold, s.SoftHoldMax, s.Ages = hold.Truncate(time.Millisecond), hold.Truncate(time.Millisecond), sale.Ages{}
		if err := s.WithDefaults().Validate(); err != nil {
			t.Fatalf("hold %v: %v", s.Hold, err)
		}
	}
}
