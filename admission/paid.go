package admission

import (
	"context"
	"errors"
)

// ErrMoved: what was to be put right is not as it was read any more.
var ErrMoved = errors.New("admission: it has moved on since it was read")

// PaidCounts are the numbers of paid seats that the public status is made of
// (protocol.md 3.13). They follow from the records and decide nothing else.
type PaidCounts struct {
	Total  int
	Levels map[string]int // by name
}

// PaidCorrector puts the numbers right where they differ from the records.
type PaidCorrector interface {
	// CorrectPaid puts want in the place of have, all of it or nothing, and returns
	// the sale's new version. ErrMoved: have is not what is there; a repeat of a
	// call that was done says so, too. ErrStaleGen: the primary has another
	// generation. want names the levels of have.
	CorrectPaid(ctx context.Context, saleID string, gen int64, have, want PaidCounts) (version int64, err error)
}
