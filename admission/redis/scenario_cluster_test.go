package redis

import (
	"io/fs"
	"strings"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/localstack/redisproc"
)

// TestEveryScriptOnACluster runs every script on a cluster of two nodes, each with
// its replica, where a key that is not declared, or has another hash tag, is an
// error. A script that no step below runs fails the test.
func TestEveryScriptOnACluster(t *testing.T) {
	b := bareBench(t, pair, Config{})
	cl, err := redisproc.StartCluster(b.ctx(), 2, true)
	if err != nil {
		t.Fatal(err)
	}
	redisproc.StopAfter(t, append(append([]*redisproc.Server{}, cl.Primaries...), cl.Replicas...)...)
	if b.store, err = Open(Config{Addrs: cl.Addrs(), Cluster: true, Replicas: 1, WaitTimeout: 1500 * time.Millisecond}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.store.Close() })
	sales := map[string]int{}
	for i := range 6 {
		b.sale = "every" + itoa(i)
		b.k = saleKeys(b.sale)
		sales[b.nodeOf(b.k.cfg())]++
		b.installHall(30)
		for _, step := range clusterSteps {
			if err := step.do(b); err != nil {
				t.Errorf("%s: %s: %v", b.sale, step.name, err)
			}
		}
	}
	if len(sales) != 2 {
		t.Errorf("the sales are on %v: both nodes are wanted", sales)
	}
	b.everyScriptRan(cl)
}

// clusterSteps run every script once, in an order in which each has something to do.
var clusterSteps = []struct {
	name string
	do   func(b *bench) error
}{
	{"admit, both forms", func(b *bench) error {
		for i, f := range forms {
			if a, err := f.admit(b, b.req("b"+itoa(i), "c"+itoa(i+1))); err != nil || a.Outcome != admission.Admitted {
				b.t.Errorf("%s: %v, %v", f.name, a.Outcome, err)
			}
		}
		return nil
	}},
	{"resume", func(b *bench) error {
		_, err := b.store.Resume(b.ctx(), b.sale, "b0", idk1, inh1, time.Hour)
		return err
	}},
	{"attach, settle", func(b *bench) error {
		b.attach("b0", 1, "pay-0")
		_, err := b.store.Settle(b.ctx(), b.sale, "b0", "c1", false)
		return err
	}},
	{"attach, settle in a group", func(b *bench) error {
		group := NewCommitter(b.store, CommitOptions{})
		if _, err := group.Attach(b.ctx(), b.attachment("b1", 1, "pay-1")); err != nil {
			return err
		}
		_, err := group.Settle(b.ctx(), b.sale, "b1", "c2", true)
		return err
	}},
	{"undo, both forms", func(b *bench) error {
		b.undo("b0", "A", admission.UndoRelease, 0)
		b.store.undoAll(b.ctx(), []admission.Undo{{Sale: b.sale, BookingID: "b2", Level: "A", Driver: 1}})
		return nil
	}},
	{"reseed", func(b *bench) error {
		a, err := b.store.Reseed(b.ctx(), b.sale, b.live("b9", "c9", "A-5"))
		if err == nil && a.Outcome != admission.Reseeded {
			b.t.Errorf("reseed: %+v", a)
		}
		return err
	}},
	{"caps", func(b *bench) error {
		_, err := b.store.SetCap(b.ctx(), admission.CapChange{Sale: b.sale, Gen: gen, Level: "A", Cap: 7, First: 6})
		return err
	}},
	{"hold, extend, promote, demote", func(b *bench) error {
		b.hold(b.wish("h1", "c4", "H1", "H2"), admission.Admitted)
		if _, err := b.store.Extend(b.ctx(), admission.Extension{Sale: b.sale, HoldID: "h1", Level: "H", Gen: gen, For: time.Minute, Max: time.Hour}); err != nil {
			return err
		}
		b.promote(b.book("b4", "c4"), "h1", admission.Admitted)
		_, err := b.store.Undo(b.ctx(), admission.Undo{Sale: b.sale, BookingID: "b4", Candidate: "c4", Level: "H", Mode: admission.UndoQuick, Driver: 1, HoldID: "h1"})
		return err
	}},
	{"lapse", func(b *bench) error { _, _, err := b.store.Lapse(b.ctx(), b.sale, "H", 10); return err }},
	{"seat plan", func(b *bench) error { b.edit(admission.DropSeats, "H19", "H20"); return nil }},
	{"map, status", func(b *bench) error {
		if _, err := b.store.Seats(b.ctx(), b.sale, []string{"H", "K"}); err != nil {
			return err
		}
		_, err := b.store.Status(b.ctx(), b.sale, []string{"A", "H"})
		return err
	}},
	{"control, mark", func(b *bench) error {
		if _, err := b.store.SetOpen(b.ctx(), b.sale, gen, true); err != nil {
			return err
		}
		_, err := b.store.SetMark(b.ctx(), admission.Mark{Sale: b.sale, Gen: gen, Next: "m1"})
		return err
	}},
	{"paid", func(b *bench) error {
		st, err := b.store.Status(b.ctx(), b.sale, nil)
		if err != nil {
			return err
		}
		_, err = b.store.CorrectPaid(b.ctx(), b.sale, gen, admission.PaidCounts{Total: st.Paid}, admission.PaidCounts{Total: st.Paid})
		return err
	}},
	{"execute guard", func(b *bench) error {
		if _, err := b.store.AcquireExecute(b.ctx(), b.sale, "p", "b1", time.Minute); err != nil {
			return err
		}
		return b.store.ReleaseExecute(b.ctx(), b.sale, "p", "b1")
	}},
	{"token", func(b *bench) error {
		gateway := "gw" + b.sale
		if _, _, err := b.store.AcquireTokenLease(b.ctx(), gateway, "me", time.Minute); err != nil {
			return err
		}
		if err := b.store.StoreToken(b.ctx(), gateway, "me", "token", time.Minute); err != nil {
			return err
		}
		_, _, err := b.store.Token(b.ctx(), gateway)
		return err
	}},
}

// nodeOf is the node that has the key.
func (b *bench) nodeOf(key string) string {
	b.t.Helper()
	c, err := b.store.pin(b.ctx(), key)
	if err != nil {
		b.t.Fatal(err)
	}
	defer c.Close()
	id, err := c.Do(b.ctx(), "cluster", "myid").Text()
	if err != nil {
		b.t.Fatal(err)
	}
	return id
}

// everyScriptRan asks the primaries for every file of the lua folder, with its
// guard: a server knows those scripts that it has run.
func (b *bench) everyScriptRan(cl *redisproc.Cluster) {
	b.t.Helper()
	files, err := fs.Glob(sources, "lua/*.lua")
	if err != nil || len(files) < 25 {
		b.t.Fatalf("%d scripts, %v", len(files), err)
	}
	known := map[string]bool{}
	for _, s := range cl.Primaries {
		c := goredis.NewClient(&goredis.Options{Addr: s.Addr(), MaxRetries: -1})
		for _, f := range files {
			has, err := c.ScriptExists(b.ctx(), asItRuns(b.t, strings.TrimSuffix(strings.TrimPrefix(f, "lua/"), ".lua")).sha).Result()
			if err != nil {
				b.t.Fatal(err)
			}
			known[f] = known[f] || has[0]
		}
		if err := c.Close(); err != nil {
			b.t.Error(err)
		}
	}
	for _, f := range files {
		if !known[f] {
			b.t.Errorf("%s ran on no node", f)
		}
	}
}
