package reaper

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/holdfast/holdfast/ledger"
)

// NoteQueue is the kind of the sweep note in which workers tell how old the
// oldest message is that they see: the ledger is the one thing that worker and
// reaper share whatever they run on.
const NoteQueue = "queue"

// NotedFor is for how long a note about an age holds against smaller ages of
// other workers, and after what time without any note nobody knows the age.
// Workers note every few seconds.
const NotedFor = time.Minute

const countOldest = "oldest_ms"

// NotedAges carries ages from workers to reapers in the ledger's sweep notes.
// Mains of workers call Note for every sale, every few seconds, with what their
// poller or batches see.
type NotedAges struct {
	Store ledger.ControlStore
	Now   func() time.Time
	// Queue, if set, tells a queue that waits for workers who are all gone from
	// one that is empty.
	Queue QueueDepth
}

// Note tells the age that this worker sees. Of several workers the greatest age
// stays for NotedFor: a smaller one does not replace it.
func (n *NotedAges) Note(ctx context.Context, saleID string, oldest time.Duration) error {
	now := n.Now()
	last, err := n.Store.LastSweep(ctx, saleID, NoteQueue)
	if err != nil && !errors.Is(err, ledger.ErrNotFound) {
		return fmt.Errorf("reaper: read the queue note of sale %s: %w", saleID, err)
	}
	if err == nil && now.Sub(last.At) < NotedFor && notedAge(last) > oldest {
		return nil
	}
	note := ledger.SweepNote{Kind: NoteQueue, At: now, Counts: map[string]int{countOldest: int(oldest.Milliseconds())}}
	if err := n.Store.NoteSweep(ctx, saleID, note); err != nil {
		return fmt.Errorf("reaper: note the queue's age for sale %s: %w", saleID, err)
	}
	return nil
}

// OldestMessage implements QueueAges. When all workers have fallen silent while
// messages wait, the oldest is at least as old as their silence.
func (n *NotedAges) OldestMessage(ctx context.Context, saleID string) (time.Duration, bool, error) {
	last, err := n.Store.LastSweep(ctx, saleID, NoteQueue)
	if errors.Is(err, ledger.ErrNotFound) {
		return 0, false, nil
	}
	if err != nil {
		return 0, false, fmt.Errorf("reaper: read the queue note of sale %s: %w", saleID, err)
	}
	silence := n.Now().Sub(last.At)
	if silence <= 2*NotedFor {
		return notedAge(last), true, nil
	}
	if n.Queue == nil {
		return 0, false, nil
	}
	d, err := n.Queue.Depth(ctx)
	if err != nil {
		return 0, false, fmt.Errorf("reaper: ask for the queue's depth: %w", err)
	}
	if d.Visible == 0 {
		return 0, false, nil
	}
	return silence, true, nil
}

func notedAge(n ledger.SweepNote) time.Duration {
	return time.Duration(n.Counts[countOldest]) * time.Millisecond
}
