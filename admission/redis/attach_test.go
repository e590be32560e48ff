package redis

import (
	"errors"
	"testing"
	"time"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/localstack/redisproc"
)

// Whoever asks for the acknowledgement of an attach gets it for what is attached
// already, too, its own payment or another one: a replica that does not have that
// may be promoted (protocol.md R4).
func TestFoundAttachIsAcknowledged(t *testing.T) {
	b := ownBench(t)
	quick := bareBench(t, b.pair, Config{WaitTimeout: 50 * time.Millisecond}).store
	b.admit(b.req("b1", "c1"))
	if err := b.pair.Replica.Pause(); err != nil {
		t.Fatal(err)
	}
	if a := b.attach("b1", 1, "pay-1"); a.Outcome != admission.Attached { // nobody waits for it
		t.Fatalf("%+v", a)
	}
	for _, pid := range []string{"pay-1", "pay-2"} {
		at := b.attachment("b1", 1, pid)
		if a, err := quick.Attach(b.ctx(), at); err != nil || a.PaymentID != "pay-1" {
			t.Errorf("%s, not asked for: %+v, %v", pid, a, err)
		}
		at.Acknowledge = true
		if a, err := quick.Attach(b.ctx(), at); !errors.Is(err, admission.ErrUnacknowledged) {
			t.Errorf("%s: %+v, %v: the replica is frozen", pid, a, err)
		}
	}
	if err := b.pair.Replica.Resume(); err != nil {
		t.Fatal(err)
	}
	if err := redisproc.AwaitReplicas(b.ctx(), b.pair.Primary.Addr(), 1); err != nil {
		t.Fatal(err)
	}
	at := b.attachment("b1", 1, "pay-2")
	at.Acknowledge = true
	if a, err := b.store.Attach(b.ctx(), at); err != nil || a.Outcome != admission.AlreadyAttached {
		t.Errorf("the replica is back: %+v, %v", a, err)
	}
}
