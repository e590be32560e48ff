package lifecycle

import (
	"context"
	"errors"
	"fmt"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/ledger"
)

// RestoreLost puts a live booking that Redis has lost back into it (S4), but
// only on proof, the sandwich of protocol.md 3.8.5b: the ledger says live,
// Redis says missing, the ledger still says live. RELEASED is terminal, so the
// booking was live in between and R1 says that Redis must have held it. It
// reports whether Redis holds it now. What stands in its way (another owner, no
// free seat) is an alarm and left to the diff.
func (s *Steps) RestoreLost(ctx context.Context, bookingID string) (bool, error) {
	b, live, err := s.live(ctx, bookingID)
	if err != nil || !live {
		return false, err
	}
	if frozen, err := s.Frozen(ctx, b.Sale); err != nil || frozen {
		return false, err // the rebuild seeds it
	}
	_, err = s.Redis.Record(ctx, b.Sale, bookingID)
	if err == nil {
		return true, nil
	}
	if !errors.Is(err, admission.ErrNotFound) {
		return false, fmt.Errorf("lifecycle: look for booking %s in Redis: %w", bookingID, err)
	}
	if b, live, err = s.live(ctx, bookingID); err != nil || !live {
		return false, err
	}
	ans, err := s.Redis.Reseed(ctx, b.Sale, RecordOf(b))
	if err != nil {
		return false, fmt.Errorf("lifecycle: reseed booking %s: %w", bookingID, err)
	}
	s.Notify(b.Sale, ans.Version)
	switch ans.Outcome {
	case admission.Reseeded, admission.ReseedHave:
		return true, nil
	case admission.ReseedDead: // released since the second look
		return false, nil
	}
	s.Alarm(Alarm{AlarmReseed, b.Sale, bookingID, fmt.Sprintf("reseed outcome %d, in the way: %q", ans.Outcome, ans.Other)})
	return false, nil
}

// live reads a booking and says whether it is live.
func (s *Steps) live(ctx context.Context, bookingID string) (ledger.Booking, bool, error) {
	b, err := s.Store.Booking(ctx, bookingID)
	if errors.Is(err, ledger.ErrNotFound) {
		return b, false, nil
	}
	if err != nil {
		return b, false, fmt.Errorf("lifecycle: read booking %s: %w", bookingID, err)
	}
	return b, b.State.Live(), nil
}
