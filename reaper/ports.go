package reaper

import (
	"context"
	"time"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/events"
	"github.com/holdfast/holdfast/lifecycle"
	"github.com/holdfast/holdfast/payment"
)

// Redis is what the passes need of admission.
type Redis interface {
	lifecycle.Redis
	admission.Sweepable
	admission.Capper
	admission.SeatEditor
	admission.FreeScanner
	admission.StatusReader
	admission.Marker
	admission.PaidCorrector
	admission.Loader
}

// StatusPublisher repairs and republishes a sale's status document, for a
// publisher that died (protocol.md 3.13). *status.Publisher is one.
type StatusPublisher interface {
	Publish(ctx context.Context, saleID string) (published bool, err error)
}

// Replayer handles the events that were put aside while a sale was frozen
// (protocol.md 3.6). *workers.Handler is one.
type Replayer interface {
	ReplayParked(ctx context.Context, saleID string) (done int, err error)
}

// QueueAges says how old the oldest message is that workers see (protocol.md
// 3.8, breaker). known is false when no worker has told for a while. How it
// travels between processes: see NotedAges.
type QueueAges interface {
	OldestMessage(ctx context.Context, saleID string) (age time.Duration, known bool, err error)
}

// QueueDepth counts what lies in the queues of the deployment.
type QueueDepth interface {
	Depth(ctx context.Context) (events.Depth, error)
}

// Redriver moves dead letters back into the queue, as far as it can at once.
type Redriver interface {
	RedriveDead(ctx context.Context) error
}

// SeatScanner walks the parts of a sale in Redis that admission.Sweepable does
// not show. Pages may repeat an element; an error means the walk is incomplete.
// Without one, the audit takes both maps from the records and says so.
type SeatScanner interface {
	ScanSeats(ctx context.Context, saleID string, each func(token, bookingID string) error) error
	ScanCandidates(ctx context.Context, saleID string, each func(candidate, bookingID string) error) error
}

// CapturedLister is a gateway that can list the payments it has captured for a
// sale, refunded ones too. Not every gateway can.
type CapturedLister interface {
	ListCaptured(ctx context.Context, saleID string, each func(payment.Payment) error) error
}

// Metrics hears of every pass, also of one that failed (with what it had by
// then). It must not block and must bear calls from many goroutines.
type Metrics interface {
	Swept(r SweepResult, err error)
	Diffed(r DiffResult, err error)
	Audited(r AuditResult, err error)
	Rebuilt(r RebuildResult, err error)
}

type noMetrics struct{}

func (noMetrics) Swept(SweepResult, error)     {}
func (noMetrics) Diffed(DiffResult, error)     {}
func (noMetrics) Audited(AuditResult, error)   {}
func (noMetrics) Rebuilt(RebuildResult, error) {}
