package poller_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/holdfast/holdfast/events"
	engine "github.com/holdfast/holdfast/localstack/fifo"
	"github.com/holdfast/holdfast/workers/poller"
)

// A stopped poller finishes and deletes what it took, and takes no more.
func TestStopFinishesWhatWasTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, func(context.Context, string, events.Meta) error {
			time.Sleep(3 * time.Second)
			return nil
		}, nil)
		r.send("c1", "B1", "B2")
		synctest.Wait()
		r.stop()
		synctest.Wait()
		r.send("c2", "B3")
		<-r.ended
		if d := cmp.Diff([]string{"B1", "B2"}, r.seen("")); d != "" {
			t.Error(d)
		}
		if r.left(queue) != 1 {
			t.Errorf("%d left, want only the one that came too late", r.left(queue))
		}
		r.quit()
	})
}

// What takes longer than Grace is cut off and given back at once.
func TestStopIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, func(ctx context.Context, _ string, _ events.Meta) error {
			<-ctx.Done()
			return ctx.Err()
		}, func(c *poller.Config) { c.Grace, c.EventTimeout = 4*time.Second, time.Hour })
		r.send("c1", "B1", "B2")
		synctest.Wait()
		stopped := time.Now()
		r.stop()
		<-r.ended
		if took := time.Since(stopped); took != 4*time.Second {
			t.Errorf("stopping took %v, want the grace", took)
		}
		stats, err := r.cloud.Stats(queue)
		if err != nil || stats.Visible != 2 {
			t.Errorf("%+v, %v; want both visible to the next worker", stats, err)
		}
		if d := cmp.Diff([]string{"B1"}, r.seen("")); d != "" {
			t.Error(d)
		}
		r.quit()
	})
}

// A handler that finishes late has finished; its successor is not begun.
func TestNothingIsBegunAfterTheGrace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, func(context.Context, string, events.Meta) error {
			time.Sleep(6 * time.Second)
			return nil
		}, func(c *poller.Config) { c.Grace = 4 * time.Second })
		r.send("c1", "B1", "B2")
		synctest.Wait()
		r.stop()
		<-r.ended
		stats, err := r.cloud.Stats(queue)
		if err != nil || stats.Visible != 1 || stats.InFlight != 0 {
			t.Errorf("%+v, %v; want B1 deleted and B2 given back", stats, err)
		}
		if d := cmp.Diff([]string{"B1"}, r.seen("")); d != "" {
			t.Error(d)
		}
		r.quit()
	})
}

// deafSource is a queue that has stopped answering.
type deafSource struct{ source }

func (deafSource) Delete(ctx context.Context, handles []string) []error {
	<-ctx.Done()
	return make([]error, len(handles))
}

func TestStopIsBoundedWhenTheQueueIsDeaf(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, done, func(c *poller.Config) {
			c.Source, c.Pollers, c.Grace = deafSource{c.Source.(source)}, 1, 4*time.Second
		})
		for range 12 { // more than its deleter gets through at five seconds a call
			r.send("c1", "B1", "B2", "B3", "B4", "B5", "B6", "B7", "B8", "B9", "B10")
			r.send("c2", "X1", "X2", "X3", "X4", "X5", "X6", "X7", "X8", "X9", "X10")
		}
		synctest.Wait()
		stopped := time.Now()
		r.stop()
		<-r.ended
		if took := time.Since(stopped); took > 9*time.Second {
			t.Errorf("stopping took %v, want at most the grace and five seconds", took)
		}
		r.quit()
	})
}

// lateSource takes messages although its caller has gone: the answer of a poll
// that the stop cut off.
type lateSource struct{ source }

func (s lateSource) Receive(ctx context.Context, attempt string, wait time.Duration) ([]events.Message, error) {
	if wait == 0 {
		return s.source.Receive(ctx, attempt, wait)
	}
	<-ctx.Done()
	if _, err := s.source.Receive(context.WithoutCancel(ctx), attempt, 0); err != nil {
		return nil, err
	}
	return nil, ctx.Err()
}

func TestStopGivesBackWhatACutOffPollTook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, done, func(c *poller.Config) { c.Source = lateSource{c.Source.(source)} })
		r.send("c1", "B1")
		synctest.Wait()
		r.stop()
		<-r.ended
		stats, err := r.cloud.Stats(queue)
		if err != nil || stats.Visible != 1 || stats.InFlight != 0 {
			t.Errorf("%+v, %v; want the message visible at once", stats, err)
		}
		r.quit()
	})
}

// The breaker (protocol.md 3.8) needs the age of what the workers see.
func TestOldestAge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, failTimes("B1", 1), func(c *poller.Config) {
			c.Backoff = func(int) time.Duration { return 100 * time.Second }
		})
		defer r.quit()
		if a := r.poller.OldestAge(); a != 0 {
			t.Errorf("age of nothing: %v", a)
		}
		r.send("c1", "B1")
		pass(101 * time.Second) // failed at 0 s, done at 100 s
		if a := r.poller.OldestAge(); a != 100*time.Second {
			t.Errorf("age %v, want the 100 s at its last delivery", a)
		}
		pass(3 * time.Minute)
		if a := r.poller.OldestAge(); a != 0 {
			t.Errorf("age %v, long after", a)
		}
	})
}

func TestOldestAgeCountsWhatIsInWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, func(context.Context, string, events.Meta) error {
			time.Sleep(10 * time.Minute)
			return nil
		}, func(c *poller.Config) { c.EventTimeout = time.Hour })
		defer r.quit()
		r.send("c1", "B1")
		pass(6 * time.Minute)
		if a := r.poller.OldestAge(); a != 6*time.Minute {
			t.Errorf("age %v, want 6m", a)
		}
		pass(5 * time.Minute)
	})
}

func TestNewSaysWhatIsMissing(t *testing.T) {
	_, err := poller.New(poller.Config{Source: source{engine.New(engine.Options{})}})
	if err == nil || !strings.Contains(err.Error(), "Handler") || !strings.Contains(err.Error(), "Parker") {
		t.Errorf("got %v", err)
	}
	p, err := poller.New(poller.Config{Handler: handlerFunc(nil), Parker: parkerFunc(nil)})
	if p != nil || err == nil || !strings.Contains(err.Error(), "Source") {
		t.Errorf("got %v, %v", p, err)
	}
}
