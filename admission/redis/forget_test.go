package redis

import (
	"context"
	"fmt"
	"net"
	"sync/atomic"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/localstack/redisproc"
)

// TestForgetRehearsal deletes every key of a rehearsal, none of the sale beside
// it, and refuses to delete that one.
func TestForgetRehearsal(t *testing.T) {
	real := newBench(t)
	must(t, first(real.store.Admit(real.ctx(), real.req("b1", "c1"))), admission.Admitted)
	before := real.dump()

	b := newBench(t)
	b.sale = "rehearsal-" + b.sale
	b.k = saleKeys(b.sale)
	b.install(func(*admission.Plan) {})
	b.roster("c1", "c2")
	must(t, first(b.store.Admit(b.ctx(), b.req("b2", "c1"))), admission.Admitted)
	b.put("set", b.k.was("b2"), "hold")
	if n, err := b.store.ForgetRehearsal(b.ctx(), b.sale); err != nil || n < 10 {
		t.Fatalf("%d keys, %v", n, err)
	}
	if left := b.dump(); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
	if n, err := b.store.ForgetRehearsal(b.ctx(), real.sale); err == nil || n != 0 {
		t.Errorf("a real sale: %d, %v", n, err)
	}
	after := real.dump()
	if len(after) != len(before) {
		t.Errorf("%d keys of the other sale, %d before", len(after), len(before))
	}
	for k, v := range before {
		if after[k] != v {
			t.Errorf("%s changed", k)
		}
	}
}

// TestForgetRehearsalThroughAFailover: the primary dies in the middle of the walk,
// and the cursor means nothing to the replica that took its place.
func TestForgetRehearsalThroughAFailover(t *testing.T) {
	servers := redisproc.TestPair(t)
	n := newNetwork()
	var primary atomic.Pointer[string]
	at := servers.Primary.Addr()
	primary.Store(&at)
	b := bareBench(t, servers, Config{WaitTimeout: 5 * time.Second, Dialer: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return n.dial(ctx, network, *primary.Load())
	}})
	b.sale = "rehearsal-failover"
	b.k = saleKeys(b.sale)
	b.install(func(*admission.Plan) {})
	for i := range 4 * scanPage {
		b.put("set", b.k.was(fmt.Sprint("b", i)), "hold")
	}
	if _, err := b.store.Prove(b.ctx(), b.sale); err != nil { // the replica has all of it
		t.Fatal(err)
	}
	heir := goredis.NewClient(&goredis.Options{Addr: servers.Replica.Addr(), MaxRetries: -1})
	defer heir.Close()
	n.obey(func(command string, nth int) fate {
		if command != "scan" || nth != 2 {
			return pass
		}
		if err := heir.Do(b.ctx(), "replicaof", "no", "one").Err(); err != nil {
			t.Error(err)
		}
		next := servers.Replica.Addr()
		primary.Store(&next)
		return loseReply
	})
	if removed, err := b.store.ForgetRehearsal(b.ctx(), b.sale); err != nil || removed < 4*scanPage {
		t.Errorf("%d keys, %v", removed, err)
	}
	if left, err := heir.Keys(b.ctx(), string(b.k)+"*").Result(); err != nil || len(left) > 0 {
		t.Errorf("%d keys are left, %v", len(left), err)
	}
}
