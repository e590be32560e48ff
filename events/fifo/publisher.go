package fifo

import (
	"container/list"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/holdfast/holdfast/events"
)

// PublisherConfig configures a Publisher; only QueueURL is required.
type PublisherConfig struct {
	QueueURL string
	// InFlight is how many batches may be on their way at once; 8 if 0.
	InFlight int
	// MaxWaiting bounds the events that wait for a batch; beyond it Publish
	// refuses at once with events.ErrNotQueued. 4096 if 0.
	MaxWaiting int
	// GiveUp is how long an event is tried again, 5 s if 0 (protocol.md 3.5
	// step 5). An earlier deadline of the caller's context counts.
	GiveUp time.Duration
	// AttemptTimeout bounds one call, 2 s if 0: shorter than GiveUp, so that a
	// lost answer leaves time for another try.
	AttemptTimeout time.Duration
	// OnBatch, if set, is told about each call; it must be quick.
	OnBatch func(BatchReport)
	// Now is the clock of BatchReport; time.Now if nil.
	Now func() time.Time
}

// BatchReport says how one call went; the last four add up to Entries.
type BatchReport struct {
	Entries                             int
	Enqueued, Refused, NotSent, Unknown int
	Took                                time.Duration
}

func (c PublisherConfig) withDefaults() PublisherConfig {
	if c.InFlight <= 0 {
		c.InFlight = 8
	}
	if c.MaxWaiting <= 0 {
		c.MaxWaiting = 4096
	}
	if c.GiveUp <= 0 {
		c.GiveUp = 5 * time.Second
	}
	if c.AttemptTimeout <= 0 {
		c.AttemptTimeout = 2 * time.Second
	}
	if c.OnBatch == nil {
		c.OnBatch = func(BatchReport) {}
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	return c
}

// Publisher queues events, many callers in one request. An event that comes while
// few batches are under way goes at once, alone; under load those that came
// meanwhile share the next request, which leaves when an earlier one is answered
// or, up to InFlight, when it is full. There is no timer: nobody waits for a batch
// to fill while nothing is under way.
//
// Events of one group are sent in the order of the calls, never two of them at
// once: an entry that fails alone can't be overtaken by its successor
// (protocol.md 1.5, SendMessageBatch). It is safe for concurrent use.
type Publisher struct {
	client Sender
	cfg    PublisherConfig
	work   context.Context // ends what is under way
	abort  context.CancelFunc
	flying sync.WaitGroup

	mu      sync.Mutex
	closed  bool
	leaders int
	resting int             // of the leaders those that wait before another attempt
	waiting *list.List      // of *sending, oldest first
	busy    map[string]bool // groups that a leader holds an event of
}

var _ events.Publisher = (*Publisher)(nil)

// NewPublisher returns a publisher that works until Close. ctx lends its values
// to the calls and, when it ends, cuts them off as a late Close would: pass one
// that outlives the requests, not the signal's.
func NewPublisher(ctx context.Context, client Sender, cfg PublisherConfig) *Publisher {
	p := &Publisher{client: client, cfg: cfg.withDefaults(), waiting: list.New(), busy: map[string]bool{}}
	p.work, p.abort = context.WithCancel(ctx)
	return p
}

var (
	errClosed = errors.New("the publisher is closed")
	errFull   = errors.New("too many events wait to be sent; the queue is slow or unreachable")
	errCutOff = errors.New("the publisher was stopped before the queue answered")
)

// Publish queues e and returns nil when SQS has it. Other answers wrap
// events.ErrInvalid (never worth a retry), events.ErrNotQueued (certain: it is
// not queued) or events.ErrAmbiguous (it may be). Within the caller's deadline
// and GiveUp it tries again by itself, always under the same deduplication id.
func (p *Publisher) Publish(ctx context.Context, e events.Event) error {
	body, err := events.Encode(e)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, p.cfg.GiveUp)
	defer cancel()
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("%w: %w", events.ErrNotQueued, err)
	}
	s := &sending{body: string(body), group: e.Group(), dedupID: e.DedupID(), done: make(chan error, 1)}
	if err := p.enqueue(s); err != nil {
		return fmt.Errorf("%w: %w", events.ErrNotQueued, err)
	}
	select {
	case err := <-s.done:
		return err
	case <-ctx.Done():
		return p.leave(s, ctx.Err())
	}
}

// Close refuses new events, waits until those that were accepted are sent or
// given up by their callers, and returns nil. If ctx ends first it cuts the
// rest off, whose callers then hear what is certain about them, and returns
// ctx's error. Either way nothing of the publisher runs on. Safe to call again.
func (p *Publisher) Close(ctx context.Context) error {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	defer p.abort()
	idle := make(chan struct{})
	go func() {
		p.flying.Wait()
		close(idle)
	}()
	select {
	case <-idle:
		return nil
	case <-ctx.Done():
		p.abort()
		<-idle
		return fmt.Errorf("close the event publisher: %w; callers of unsent events were told", ctx.Err())
	}
}
