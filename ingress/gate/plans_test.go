package gate

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/ledger"
)

// TestUnknownSalesOfAnIncompleteList: as long as a sale could not be read, one
// that is not here may be that one.
func TestUnknownSalesOfAnIncompleteList(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	source := &halfRead{broken: true}
	p := NewPlans(source, silent{}, func() time.Time { return now }, slog.New(slog.DiscardHandler))
	if p.Complete() {
		t.Error("complete before anything was read")
	}
	if err := p.Refresh(t.Context()); err == nil || p.Complete() {
		t.Errorf("complete although a sale could not be read: %v", err)
	}
	source.broken = false
	if err := p.Refresh(t.Context()); err != nil || !p.Complete() {
		t.Errorf("not complete after a faultless refresh: %v", err)
	}
	if now = now.Add(MaxAge); p.Complete() {
		t.Error("complete for ever")
	}
}

// halfRead is a ledger of one sale that can't always be read.
type halfRead struct{ broken bool }

func (h *halfRead) Sales(context.Context) ([]string, error) { return []string{"spring"}, nil }

func (h *halfRead) Control(context.Context, string) (ledger.Control, error) {
	if h.broken {
		return ledger.Control{}, errors.New("throttled")
	}
	return ledger.Control{Sale: "spring", Gen: 1}, nil
}

// silent is a Redis that does not answer.
type silent struct{}

func (silent) Status(context.Context, string, []string) (admission.Status, error) {
	return admission.Status{}, errors.New("no answer")
}
