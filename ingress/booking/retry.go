package booking

import (
	"context"
	"math/rand/v2"
	"time"
)

// Pauses between repeats of a step whose outcome is unknown.
const (
	firstPause = 25 * time.Millisecond
	maxPause   = time.Second
)

// unlimited leaves the end of a retry to its context.
const unlimited = 0

// retry calls f until it succeeds, final says that no repeat can help, it was
// called tries times, or ctx ends. It returns the last error of f.
func retry(ctx context.Context, tries int, f func(context.Context) error, final func(error) bool) error {
	pause := firstPause
	for n := 1; ; n++ {
		err := f(ctx)
		if err == nil || final(err) || n == tries || ctx.Err() != nil {
			return err
		}
		t := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			t.Stop()
			return err
		case <-t.C:
		}
		pause = min(2*pause, maxPause)
	}
}

// jitter spreads d, whole seconds, over d to 2 d, so that those who were refused
// together do not come back together. Retry-After has only seconds: a spread of
// less than some of them would be rounded away.
func jitter(d time.Duration) time.Duration {
	return d + time.Second*time.Duration(rand.Int64N(int64(d/time.Second)+1))
}
