package fault_test

import (
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/holdfast/holdfast/localstack/fault"
)

func TestScriptFiresAfterAndOnlySoOften(t *testing.T) {
	var s fault.Script
	s.Inject(fault.Point{Op: "SendMessage"}, 1, 2, fault.Verdict{Kind: fault.Throttle})
	var got []fault.Kind
	for _, op := range []string{"SendMessage", "DeleteMessage", "SendMessage", "SendMessage", "SendMessage"} {
		got = append(got, s.Decide(fault.Point{Service: "sqs", Op: op, Resource: "q"}).Kind)
	}
	want := []fault.Kind{fault.None, fault.None, fault.Throttle, fault.Throttle, fault.None}
	if d := cmp.Diff(want, got); d != "" {
		t.Fatal(d)
	}
	if s.Fired(fault.Throttle) != 2 {
		t.Fatalf("fired %d, want 2", s.Fired(fault.Throttle))
	}
	s.Inject(fault.Point{}, 0, -1, fault.SlowBy(time.Second))
	s.Heal()
	if v := s.Decide(fault.Point{}); v != (fault.Verdict{}) {
		t.Fatalf("healed script still says %v", v.Kind)
	}
}

func TestVerdicts(t *testing.T) {
	for k, want := range map[fault.Kind]error{
		fault.None: nil, fault.LoseAnswer: nil, fault.Duplicate: nil, fault.Slow: nil, fault.Partial: nil,
		fault.Throttle: fault.ErrThrottled, fault.FailBefore: fault.ErrFailed, fault.Conflict: fault.ErrConflict,
	} {
		if got := (fault.Verdict{Kind: k}).Refusal(); !errors.Is(got, want) {
			t.Errorf("%v refuses with %v, want %v", k, got, want)
		}
	}
	v := fault.FailEntries(0, 3)
	if !v.Fails(0) || v.Fails(1) || !v.Fails(3) {
		t.Errorf("entries %b", v.Entries)
	}
}

func TestRandomRepeatsWithItsSeed(t *testing.T) {
	draw := func(seed uint64) (out []fault.Kind) {
		p := fault.NewRandom(rand.NewPCG(seed, 0),
			fault.Chance{P: 0.3, V: fault.Verdict{Kind: fault.Throttle}},
			fault.Chance{P: 0.3, V: fault.Verdict{Kind: fault.LoseAnswer}})
		for range 200 {
			out = append(out, p.Decide(fault.Point{}).Kind)
		}
		return out
	}
	if d := cmp.Diff(draw(7), draw(7)); d != "" {
		t.Fatalf("same seed, other faults: %s", d)
	}
	count := map[fault.Kind]int{}
	for _, k := range draw(7) {
		count[k]++
	}
	if count[fault.None] == 0 || count[fault.Throttle] == 0 || count[fault.LoseAnswer] == 0 {
		t.Fatalf("each outcome must occur: %v", count)
	}
}
