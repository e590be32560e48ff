package reaper_test

import (
	"context"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/reaper"
)

// leaky is a Redis that has lost a free seat.
type leaky struct{ reaper.Redis }

func (l leaky) Status(ctx context.Context, sale string, levels []string) (admission.Status, error) {
	st, err := l.Redis.Status(ctx, sale, levels)
	if len(st.Levels) > 0 {
		st.Levels[0].Free--
	}
	return st, err
}
