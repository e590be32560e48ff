package fifo_test

import (
	"errors"
	"testing"
	"time"

	"github.com/holdfast/holdfast/localstack/fifo"
)

func TestHandleLivesAsLongAsTheDelivery(t *testing.T) {
	k := newKit(t, visibility(10*time.Second))
	k.send("A", "1")
	old := k.expect(1, "1")[0].Receipt
	k.pass(9 * time.Second)
	k.must(k.ChangeVisibility(q, old, 10*time.Second))
	k.pass(10*time.Second - 1)
	k.expect(1, "")
	k.pass(1)
	for name, err := range map[string]error{"delete": k.Delete(q, old), "change": k.ChangeVisibility(q, old, time.Second)} {
		if !errors.Is(err, map[string]error{"delete": fifo.ErrReceiptExpired, "change": fifo.ErrNotInFlight}[name]) {
			t.Errorf("%s after the time ran out: %v", name, err)
		}
	}
	m := k.expect(1, "1")
	if m[0].Receives != 2 || m[0].Receipt == old {
		t.Errorf("second delivery: %+v", m[0])
	}
	if err := k.Delete(q, old); !errors.Is(err, fifo.ErrReceiptExpired) {
		t.Errorf("the first receiver deletes what the second one holds: %v", err)
	}
	k.must(k.Delete(q, m[0].Receipt))
	k.must(k.Delete(q, m[0].Receipt)) // twice is ok
	k.must(k.Delete(q, old))          // and so is a handle of what is gone
	if err := k.ChangeVisibility(q, old, 0); !errors.Is(err, fifo.ErrNotInFlight) {
		t.Errorf("change of a deleted message: %v", err)
	}
}

func TestForeignHandlesAreRefused(t *testing.T) {
	k := newKit(t, nil)
	k.must(k.CreateQueue("other.fifo", nil))
	k.send("A", "1")
	good := k.expect(1, "1")[0].Receipt
	forged := []byte(good)
	if forged[14] != 'A' { // within the message's number, and valid base64 either way
		t.Fatalf("the layout of handles has changed: %s", good)
	}
	forged[14] = 'B'
	for name, err := range map[string]error{
		"empty":       k.Delete(q, ""),
		"garbage":     k.Delete(q, "garbage"),
		"forged":      k.Delete(q, string(forged)),
		"shortened":   k.Delete(q, good[:len(good)-4]),
		"other queue": k.Delete("other.fifo", good),
		"change":      k.ChangeVisibility(q, "garbage", 0),
	} {
		if !errors.Is(err, fifo.ErrReceiptInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	k.must(k.DeleteQueue(q))
	k.must(k.CreateQueue(q, nil))
	if err := k.Delete(q, good); !errors.Is(err, fifo.ErrReceiptInvalid) {
		t.Errorf("a handle outlived its queue: %v", err)
	}
}

func TestRetentionDropsMessagesWhereverTheyAre(t *testing.T) {
	k := newKit(t, func(c *fifo.Config) { c.Retention = 14 * 24 * time.Hour; c.VisibilityTimeout = 12 * time.Hour })
	k.send("A", "1")
	k.pass(time.Hour)
	k.send("A", "2")
	k.pass(14*24*time.Hour - 2*time.Hour)
	k.expect(1, "1") // in flight beyond its end
	k.pass(time.Hour)
	k.expect(10, "2")
	st, err := k.Stats(q)
	k.must(err)
	if st.InFlight != 1 || st.Visible != 0 {
		t.Fatalf("left: %+v", st)
	}
}

func TestZeroVisibilityIsVisibleAtOnce(t *testing.T) {
	k := newKit(t, visibility(0))
	k.send("A", "1", "2")
	k.expect(10, "1 2")
	k.expect(10, "1 2")
	st, err := k.Stats(q)
	k.must(err)
	if st.Visible != 2 || st.InFlight != 0 {
		t.Fatalf("%+v", st)
	}
}

func TestAttemptIDReturnsTheSameDelivery(t *testing.T) {
	k := newKit(t, visibility(time.Minute))
	k.send("A", "1", "2")
	k.send("B", "3")
	try := func(want string) []fifo.Message {
		t.Helper()
		m, err := k.Receive(q, fifo.ReceiveInput{Max: 2, AttemptID: "try"}).Answer()
		k.must(err)
		if bodies(m) != want {
			t.Fatalf("received %q, want %q", bodies(m), want)
		}
		return m
	}
	first := try("1 2")
	k.pass(50 * time.Second)
	again := try("1 2")
	if again[0].Receipt != first[0].Receipt || again[0].Receives != 1 {
		t.Fatalf("the repeat is another delivery: %+v", again[0])
	}
	k.pass(50 * time.Second) // only alive because the repeat hid them anew
	k.must(k.Delete(q, first[0].Receipt))
	try("2")
	k.must(k.Delete(q, first[1].Receipt))
	try("3")
	k.pass(5 * time.Minute)
	try("3") // an attempt that is too old, and expired: a new delivery
}

func TestAttemptIDMayBeUsedAnew(t *testing.T) {
	k := newKit(t, visibility(time.Hour))
	k.send("A", "1")
	try := func(want string) []fifo.Message {
		t.Helper()
		m, err := k.Receive(q, fifo.ReceiveInput{Max: 1, AttemptID: "try"}).Answer()
		k.must(err)
		if bodies(m) != want {
			t.Fatalf("received %q, want %q", bodies(m), want)
		}
		return m
	}
	k.must(k.Delete(q, try("1")[0].Receipt))
	k.pass(4 * time.Minute)
	k.send("A", "2")
	try("2")
	k.pass(4 * time.Minute) // the first use is forgotten, the second is not
	try("2")
	k.pass(time.Minute)
	try("")
}
