package fifo_test

import (
	"testing"
	"time"

	"github.com/holdfast/holdfast/localstack/fifo"
)

func (k *kit) sendAs(group, dedup, body string) fifo.Sent {
	k.t.Helper()
	s, err := k.Send(q, fifo.SendInput{Group: group, DedupID: dedup, Body: body})
	k.must(err)
	return s
}

func TestRepeatGetsTheFirstsIdentity(t *testing.T) {
	k := newKit(t, nil)
	first := k.sendAs("A", "x", "one")
	if again := k.sendAs("B", "x", "two"); again != first {
		t.Fatalf("the repeat is %v, want %v", again, first)
	}
	k.expect(10, "one")
}

func TestWindowLastsFiveMinutesEvenAfterTheDelete(t *testing.T) {
	k := newKit(t, nil)
	k.sendAs("A", "x", "1")
	m := k.expect(10, "1")
	k.sendAs("A", "x", "in flight")
	k.must(k.Delete(q, m[0].Receipt))
	k.pass(5*time.Minute - time.Nanosecond)
	k.sendAs("A", "x", "just inside")
	k.expect(10, "")
	k.pass(time.Nanosecond)
	k.sendAs("A", "x", "outside")
	k.sendAs("A", "x", "inside the new window")
	k.expect(10, "outside")
}

func TestScopeOfDedupIDs(t *testing.T) {
	for scope, want := range map[bool]string{false: "a", true: "a b"} {
		k := newKit(t, func(c *fifo.Config) { c.GroupScope = scope })
		k.sendAs("A", "x", "a")
		k.sendAs("B", "x", "b")
		k.sendAs("A", "x", "c")
		k.expect(10, want)
	}
}

func TestContentStandsInForTheID(t *testing.T) {
	k := newKit(t, func(c *fifo.Config) { c.ContentDedup = true })
	k.sendAs("A", "", "p")
	k.sendAs("A", "", "p")
	k.sendAs("A", "", "q")
	k.sendAs("A", "own", "p")
	k.expect(10, "p q p")
}

func TestPurgeForgetsIDs(t *testing.T) {
	k := newKit(t, nil)
	k.sendAs("A", "x", "1")
	held := k.expect(1, "1")
	k.must(k.Purge(q))
	k.must(k.Delete(q, held[0].Receipt)) // gone is gone
	k.sendAs("A", "x", "2")
	k.expect(10, "2")
}
