package fifo_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/holdfast/holdfast/events"
	"github.com/holdfast/holdfast/events/fifo"
	"github.com/holdfast/holdfast/localstack/fault"
)

// bury publishes events of one candidate and lets the queue give them up.
func bury(t *testing.T, c *cloud, candidate string, bids ...string) {
	t.Helper()
	p := publisher(t, c, fifo.PublisherConfig{QueueURL: c.queues.URL})
	for _, bid := range bids {
		if err := p.Publish(t.Context(), held(candidate, bid)); err != nil {
			t.Fatal(err)
		}
	}
	consumer := fifo.NewConsumer(c, c.queues.URL, time.Second)
	for i := range 4 { // MaxReceives is 2
		if _, err := consumer.Receive(t.Context(), fmt.Sprint(candidate, i), 0); err != nil {
			t.Fatal(err)
		}
		c.forward(2 * time.Second)
	}
}

func deadLetters(t *testing.T, c *cloud) []fifo.DeadLetter {
	t.Helper()
	letters, err := fifo.NewAdmin(c, c.queues).DeadLetters(t.Context(), 100)
	if err != nil {
		t.Fatal(err)
	}
	return letters
}

func TestDeadLettersShowWhyAndStay(t *testing.T) {
	c := newCloud(t, fifo.Names{MaxReceives: 2})
	bury(t, c, "c1", "B1", "B2")
	parker := fifo.NewParker(c, c.queues.DeadURL)
	meta := events.Meta{MessageID: "m-7", Group: "c2"}
	for range 2 { // the second after a lost answer: one copy
		if err := parker.Park(t.Context(), "no event", meta, "undecodable"); err != nil {
			t.Fatal(err)
		}
	}
	for round := range 2 { // looking must not lose or hide anything
		var got []string
		for _, d := range deadLetters(t, c) {
			got = append(got, fmt.Sprintf("%s %s %s decoded=%v", d.Meta.Group, d.Reason, d.Event.BookingID, d.Undecodable == nil))
		}
		want := []string{"c1 retries_exhausted B1 decoded=true", "c1 retries_exhausted B2 decoded=true", "c2 undecodable  decoded=false"}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("round %d (-want +got):\n%s", round, d)
		}
	}
	if d := c.depth(t); d != (events.Depth{Dead: 3}) {
		t.Errorf("depth %+v, want 3 dead, none hidden", d)
	}
	if letters, err := fifo.NewAdmin(c, c.queues).DeadLetters(t.Context(), 1); err != nil || len(letters) != 1 {
		t.Errorf("limit 1: %d letters, %v", len(letters), err)
	}
}

func bookings(t *testing.T, messages []events.Message) (bids []string) {
	t.Helper()
	for _, m := range messages {
		e, err := events.Decode([]byte(m.Body))
		if err != nil {
			t.Fatal(err)
		}
		bids = append(bids, e.BookingID)
	}
	return bids
}

func TestRedriveByTask(t *testing.T) {
	c := newCloud(t, fifo.Names{MaxReceives: 2})
	bury(t, c, "c1", "B1", "B2")
	done, err := fifo.NewAdmin(c, c.queues).Redrive(t.Context(), 0, nil)
	if err != nil || done.Task == "" {
		t.Fatalf("%+v, %v; want a task", done, err)
	}
	if d := cmp.Diff([]string{"B1", "B2"}, bookings(t, c.drain(t))); d != "" {
		t.Error(d)
	}
}

// Within the deduplication window of the first sending, the copies must not be
// taken for repeats; and a letter that dies again can be redriven again.
func TestRedriveOneByOne(t *testing.T) {
	c := newCloud(t, fifo.Names{MaxReceives: 2})
	admin := fifo.NewAdmin(c, c.queues)
	bury(t, c, "c1", "B1", "B2", "B3")
	var heard []int
	done, err := admin.Redrive(t.Context(), 2, func(n int) { heard = append(heard, n) })
	if err != nil || done != (fifo.Redriven{Moved: 2}) || !cmp.Equal([]int{1, 2}, heard) {
		t.Fatalf("%+v, %v, progress %v; want 2 moved", done, err, heard)
	}
	if d := c.depth(t); d.Visible != 2 || d.Dead != 1 {
		t.Errorf("depth %+v", d)
	}
	bury(t, c, "c1") // B1 and B2 die again
	if d := c.depth(t); d.Visible != 0 || d.Dead != 3 {
		t.Errorf("depth %+v", d)
	}
	if done, err := admin.Redrive(t.Context(), 3, nil); err != nil || done.Moved != 3 {
		t.Fatalf("%+v, %v", done, err)
	}
	if got := bookings(t, c.drain(t)); len(got) != 3 {
		t.Errorf("got %v, want all three", got)
	}
}

func TestRedriveFallsBackWhereThereAreNoTasks(t *testing.T) {
	c := newCloud(t, fifo.Names{MaxReceives: 2})
	bury(t, c, "c1", "B1")
	done, err := fifo.NewAdmin(noTasks{c}, c.queues).Redrive(t.Context(), 0, nil)
	if err != nil || done != (fifo.Redriven{Moved: 1}) {
		t.Errorf("%+v, %v", done, err)
	}
	if d := c.depth(t); d.Visible != 1 || d.Dead != 0 {
		t.Errorf("depth %+v", d)
	}
}

// A copy whose letter could not be deleted is repeated, never lost.
func TestInterruptedRedriveLosesNothing(t *testing.T) {
	c := newCloud(t, fifo.Names{MaxReceives: 2})
	bury(t, c, "c1", "B1", "B2")
	admin := fifo.NewAdmin(c, c.queues)
	c.faults.Once(fault.Point{Op: "DeleteMessageBatch"}, fault.FailEntries(0))
	done, err := admin.Redrive(t.Context(), 10, nil)
	if err == nil || done != (fifo.Redriven{Held: 2}) {
		t.Fatalf("%+v, %v; want both held and the error", done, err)
	}
	if d := c.depth(t); d.Dead != 2 || d.DeadInFlight != 0 {
		t.Errorf("depth %+v; want both visible to the next attempt", d)
	}
	if done, err := admin.Redrive(t.Context(), 10, nil); err != nil || done.Moved != 2 {
		t.Fatalf("%+v, %v", done, err)
	}
	if d := cmp.Diff([]string{"B1", "B2"}, bookings(t, c.drain(t))); d != "" {
		t.Error(d)
	}
}

func TestEnsureQueuesIsRepeatable(t *testing.T) {
	c := newCloud(t, fifo.Names{MaxReceives: 2})
	again, err := fifo.EnsureQueues(t.Context(), c, fifo.Names{MaxReceives: 7, Visibility: time.Minute})
	if err != nil || again != c.queues {
		t.Fatalf("%+v, %v", again, err)
	}
	found, err := fifo.FindQueues(t.Context(), c, fifo.Names{})
	if err != nil || found != c.queues {
		t.Errorf("%+v, %v", found, err)
	}
	if _, err := fifo.FindQueues(t.Context(), c, fifo.Names{Queue: "none.fifo"}); err == nil || !strings.Contains(err.Error(), "none.fifo") {
		t.Errorf("a missing queue: %v", err)
	}
	attributes := c.attributes(t, c.queues.URL)
	for name, want := range map[string]string{
		"FifoThroughputLimit": "perMessageGroupId", "DeduplicationScope": "messageGroup",
		"VisibilityTimeout": "60", "MessageRetentionPeriod": "1209600",
	} {
		if attributes[name] != want {
			t.Errorf("%s is %q, want %q", name, attributes[name], want)
		}
	}
	if p := attributes["RedrivePolicy"]; !strings.Contains(p, `"7"`) && !strings.Contains(p, ":7") {
		t.Errorf("redrive policy %s, want maxReceiveCount 7", p)
	}
}
