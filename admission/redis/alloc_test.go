//go:build !race

package redis

import (
	"context"
	"testing"

	"github.com/holdfast/holdfast/admission"
)

// What a process allocates per admission and per batched read, without what the
// caller itself makes. Lower them whenever they fall.
const (
	maxLoneAllocs  = 20 // one request by itself: batch, leader, answer
	maxGroupAllocs = 1  // each of 128 that share a batch
)

func TestAllocationsOfAnAdmission(t *testing.T) {
	b := newBench(t)
	const runs = 50
	if _, err := b.store.SetCap(b.ctx(), admission.CapChange{Sale: b.sale, Gen: gen, Level: "A", Cap: 1000, First: 6}); err != nil {
		t.Fatal(err)
	}
	group := NewCommitter(b.store, CommitOptions{})
	ctx := context.Background()
	// Refusals of the roster: as long a way as an admission's, repeatable at will.
	lone := testing.AllocsPerRun(runs, func() {
		r := b.req("b0", "stranger")
		if a, err := group.Admit(ctx, r); err != nil || a.Outcome != admission.UnknownCode {
			t.Errorf("%v, %v", a.Outcome, err)
		}
	})
	t.Logf("alone: %.0f", lone)
	if lone > maxLoneAllocs {
		t.Errorf("an admission alone allocates %.0f times, want at most %d", lone, maxLoneAllocs)
	}

	const size = 128
	calls := make([]*call[admission.Request, admission.Answer], size)
	for i := range calls {
		calls[i] = &call[admission.Request, admission.Answer]{ask: b.req("b"+itoa(i), "s"+itoa(i)), done: make(chan struct{}, 1)}
	}
	batch := testing.AllocsPerRun(runs, func() {
		for _, c := range calls {
			c.state.Store(sent)
		}
		group.commit(ctx, b.sale, calls)
		for _, c := range calls {
			<-c.done
		}
	})
	t.Logf("in a batch of %d: %.2f", size, batch/size)
	if batch/size > maxGroupAllocs {
		t.Errorf("an admission in a batch of %d allocates %.2f times, want at most %d", size, batch/size, maxGroupAllocs)
	}
}
