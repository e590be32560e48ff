package redis

import (
	"context"
	"errors"
	"net"
	"sync/atomic"
	"testing"

	"github.com/holdfast/holdfast/admission"
)

// Wires log in as the rest of the client does, by password or as a user.
func TestWiresLogIn(t *testing.T) {
	b := ownBench(t)
	b.put("acl", "setuser", "gate", "on", ">secret", "~*", "+@all")
	b.put("config", "set", "requirepass", "word")
	for name, cfg := range map[string]Config{"password": {Password: "word"}, "user": {Username: "gate", Password: "secret"}} {
		cfg.Addrs = []string{b.pair.Primary.Addr()}
		store := bareBench(t, b.pair, cfg).store
		if a, err := store.Admit(b.ctx(), b.req("b-"+name, "c-"+name)); err != nil || a.Outcome != admission.UnknownCode {
			t.Errorf("%s: %v, %v", name, a.Outcome, err)
		}
	}
	for name, cfg := range map[string]Config{"none": {}, "wrong": {Password: "other"}} {
		cfg.Addrs = []string{b.pair.Primary.Addr()}
		store := bareBench(t, b.pair, cfg).store
		if a, err := store.Admit(b.ctx(), b.req("b-"+name, "c1")); !errors.Is(err, admission.ErrUnavailable) {
			t.Errorf("%s: %v, %v; want a refusal before anything ran", name, a.Outcome, err)
		}
	}
}

// A wire is used again after a refusal, and never again after a lost reply.
func TestWiresAreKeptWhileTheyAreGood(t *testing.T) {
	b, n := netBench(t)
	dialled := func() int { n.mu.Lock(); defer n.mu.Unlock(); return n.n }
	if _, err := b.store.Admit(b.ctx(), b.req("b1", "c1")); err != nil {
		t.Fatal(err)
	}
	before := dialled()
	for range 3 {
		if _, err := b.store.Admit(b.ctx(), b.req("b2", "stranger")); err != nil {
			t.Fatal(err)
		}
	}
	if dialled() != before {
		t.Errorf("%d connections for four admissions in a row", 1+dialled()-before)
	}
	n.obey(func(c string, nth int) fate {
		if c == "evalsha" && nth == 1 {
			return loseReply
		}
		return pass
	})
	if _, err := b.store.Admit(b.ctx(), b.req("b3", "c3")); err != nil {
		t.Fatal(err)
	}
	if dialled() != before+1 {
		t.Errorf("%d new connections after a lost reply, want 1", dialled()-before)
	}
}

// Close leaves no connection open, and none can be opened after it.
func TestCloseClosesWires(t *testing.T) {
	var open atomic.Int64
	b := bareBench(t, pair, Config{Dialer: func(ctx context.Context, network, addr string) (net.Conn, error) {
		var d net.Dialer
		c, err := d.DialContext(ctx, network, addr)
		if err == nil {
			open.Add(1)
			c = &closingConn{Conn: c, open: &open}
		}
		return c, err
	}})
	b.install(func(*admission.Plan) {})
	if _, err := b.store.Admit(b.ctx(), b.req("b1", "c1")); err != nil {
		t.Fatal(err)
	}
	if err := b.store.Close(); err != nil {
		t.Fatal(err)
	}
	if n := open.Load(); n != 0 {
		t.Errorf("%d connections are still open", n)
	}
	if a, err := b.store.Admit(b.ctx(), b.req("b2", "c2")); err == nil {
		t.Errorf("a closed store admits: %v", a.Outcome)
	}
}

type closingConn struct {
	net.Conn
	open   *atomic.Int64
	closed atomic.Bool
}

func (c *closingConn) Close() error {
	if c.closed.CompareAndSwap(false, true) {
		c.open.Add(-1)
	}
	return c.Conn.Close()
}
