package reaper

import (
	"context"
	"errors"
	"fmt"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/ledger"
)

// noteReplicated is the kind of the note that tells, for one replication id,
// how much of its history every replica had when a sweep last looked. A
// promoted replica has at least that much. A primary that was started again
// from an old snapshot looks like a promoted replica (it keeps the id of the
// snapshot as its previous one), but has less.
func noteReplicated(replicationID string) string { return "replicated:" + replicationID }

const countOffset = "offset"

// noteReplicated takes down the offset that all replicas have acknowledged.
// Without a replica, or where the server reports no offset, there is nothing to
// say and the last note stays.
func (t *tools) noteReplicated(ctx context.Context, saleID string, h admission.Health) error {
	acked := h.Offset - h.ReplicaLagBytes
	if h.ConnectedReplicas == 0 || acked <= 0 {
		return nil
	}
	n := ledger.SweepNote{Kind: noteReplicated(h.ReplicationID), At: t.now(), Counts: map[string]int{countOffset: int(acked)}}
	if err := t.store.NoteSweep(ctx, saleID, n); err != nil {
		return fmt.Errorf("reaper: note how far the replicas of sale %s are: %w", saleID, err)
	}
	return nil
}

// olderThanReplicas reports whether a primary that claims to go on from the
// history last has less of it than every replica was seen to have.
func (t *tools) olderThanReplicas(ctx context.Context, saleID, last string, h admission.Health) (bool, error) {
	n, err := t.store.LastSweep(ctx, saleID, noteReplicated(last))
	if errors.Is(err, ledger.ErrNotFound) {
		return false, nil // never seen with a replica: nothing was promised on its word
	}
	if err != nil {
		return false, fmt.Errorf("reaper: read how far the replicas of sale %s were: %w", saleID, err)
	}
	return h.PreviousOffset <= int64(n.Counts[countOffset]), nil
}
