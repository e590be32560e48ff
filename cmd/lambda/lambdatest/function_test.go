//go:build lambda

package lambdatest_test

import (
	"encoding/json"
	"strings"
	"syscall"
	"testing"
	"time"

	lambdaevents "github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"github.com/holdfast/holdfast/events"
	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/reaper"
	"github.com/holdfast/holdfast/wiring"
)

// TestWorkerHandlesABatch: a good event is written, one that nobody can read is
// parked and lost to nobody, one of a newer build comes again with all that is
// behind it, and another group is not held up.
func TestWorkerHandlesABatch(t *testing.T) {
	g := openGround(t, time.Minute)
	f := launch(t, wiring.FunctionWorker, g.env)
	t.Logf("cold start: %v", f.cold)
	one, two := g.admit(t, "candidate-1"), g.admit(t, "candidate-2")
	newer := strings.Replace(encode(t, one), `"v":1`, `"v":99`, 1)
	out := f.batch(t, 15*time.Second,
		record("1", one.Group(), encode(t, one)), record("2", one.Group(), newer), record("3", one.Group(), encode(t, one)),
		record("4", two.Group(), "poison"), record("5", two.Group(), encode(t, two)),
	)
	if diff := cmp.Diff([]string{"2", "3"}, out); diff != "" {
		t.Errorf("what comes again: %s", diff)
	}
	for _, e := range []events.Event{one, two} {
		if b, err := g.house.Store.Booking(t.Context(), e.BookingID); err != nil || b.State != ledger.Held {
			t.Errorf("the ledger has %v, %v", b.State, err)
		}
	}
	depth, err := g.house.Queue.Depth(t.Context())
	if err != nil || depth.Dead != 1 {
		t.Errorf("%d dead letters, %v: the poison has to be kept", depth.Dead, err)
	}
	if again := f.batch(t, 15*time.Second, record("6", one.Group(), encode(t, one))); len(again) != 0 {
		t.Errorf("a second delivery came again: %v", again)
	}
}

// TestWorkerGivesBackWhatTimeDoesNotReach: with less time left than the margin,
// everything is reported, nothing half done, and the answer is in time.
func TestWorkerGivesBackWhatTimeDoesNotReach(t *testing.T) {
	g := openGround(t, time.Minute)
	f := launch(t, wiring.FunctionWorker, g.env)
	e := g.admit(t, "candidate-1")
	const left = 1500 * time.Millisecond
	began := time.Now()
	if again := f.batch(t, left, record("1", e.Group(), encode(t, e))); !cmp.Equal(again, []string{"1"}) {
		t.Errorf("came again: %v", again)
	}
	if took := time.Since(began); took > left {
		t.Errorf("it took %v of %v: Lambda would have killed it", took, left)
	}
	if again := f.batch(t, 15*time.Second, record("1", e.Group(), encode(t, e))); len(again) != 0 {
		t.Errorf("the next delivery came again: %v", again)
	}
}

// TestSIGTERMLetsGoOfEverything: within the half second before the kill, the
// function closes its connections to Redis.
func TestSIGTERMLetsGoOfEverything(t *testing.T) {
	g := openGround(t, time.Minute)
	redis := g.redis(t)
	f := launch(t, wiring.FunctionWorker, g.env)
	if !f.WantsSIGTERM() {
		t.Fatal("the function did not register for SIGTERM")
	}
	e := g.admit(t, "candidate-1")
	f.batch(t, 15*time.Second, record("1", e.Group(), encode(t, e)))
	if g.connections(t, redis) == 0 {
		t.Fatal("the function has no connection that could be closed")
	}
	if err := f.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	await(t, 5*time.Second, "its connections to close", func() bool { return g.connections(t, redis) == 0 })
}

// TestSweepReportsAndMeasures: the scheduled function gives the seat of an
// unpaid booking back and writes the metrics that the alarms look at.
func TestSweepReportsAndMeasures(t *testing.T) {
	g := openGround(t, time.Second)
	worker, sweep := launch(t, wiring.FunctionWorker, g.env), launch(t, wiring.FunctionSweep, g.env)
	e := g.admit(t, "candidate-1")
	if again := worker.batch(t, 15*time.Second, record("1", e.Group(), encode(t, e))); len(again) != 0 {
		t.Fatalf("came again: %v", again)
	}
	await(t, time.Minute, "the seat to come back", func() bool {
		a, err := sweep.Invoke(t.Context(), wiring.ScheduleInput{}, 2*time.Minute)
		if err != nil || a.Failed {
			t.Fatalf("the sweep answered %s, %v", a.Body, err)
		}
		var r reaper.Report
		if err := json.Unmarshal(a.Body, &r); err != nil || r.Pass != reaper.PassSweep {
			t.Fatalf("the report is %s, %v", a.Body, err)
		}
		return g.used(t) == 0
	})
	await(t, 5*time.Second, "the line of metrics", func() bool {
		return strings.Contains(sweep.stdout.String(), `"Namespace":"Holdfast"`) && strings.Contains(sweep.stdout.String(), `"Passes":1`)
	})
}

// batch invokes the worker and returns the ids of what has to come again.
func (f *instance) batch(t *testing.T, timeout time.Duration, records ...lambdaevents.SQSMessage) []string {
	t.Helper()
	a, err := f.Invoke(t.Context(), lambdaevents.SQSEvent{Records: records}, timeout)
	if err != nil || a.Failed {
		t.Fatalf("the function answered %s, %v", a.Body, err)
	}
	var out lambdaevents.SQSEventResponse
	if err := json.Unmarshal(a.Body, &out); err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, item := range out.BatchItemFailures {
		ids = append(ids, item.ItemIdentifier)
	}
	return ids
}
