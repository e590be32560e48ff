package redis

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/localstack/redisproc"
)

func TestOpenRefusesWhatIsUnclear(t *testing.T) {
	for name, cfg := range map[string]Config{
		"no address":             {Replicas: 1},
		"two addresses":          {Addrs: []string{"a:1", "b:1"}, Replicas: 1},
		"cluster with sentinels": {Addrs: []string{"a:1"}, Cluster: true, MasterName: "m", Replicas: 1},
		"no replica required":    {Addrs: []string{"a:1"}},
		"negative replicas":      {Addrs: []string{"a:1"}, Replicas: -1},
	} {
		if s, err := Open(cfg); err == nil {
			s.Close()
			t.Errorf("%s: opened", name)
		}
	}
}

func TestUnacknowledgedIsLogged(t *testing.T) {
	var log bytes.Buffer
	b := bareBench(t, pair, Config{AllowUnacknowledged: true, Log: slog.New(slog.NewTextHandler(&log, nil))})
	if !strings.Contains(log.String(), "not acknowledged by any replica") {
		t.Errorf("log: %s", log.String())
	}
	b.install(func(*admission.Plan) {})
	b.roster("c1")
	b.admit(b.req("b1", "c1"))
}

// go-redis must not run a script again behind our back, nor give up before WAIT.
func TestClientOptions(t *testing.T) {
	b := bareBench(t, pair, Config{WaitTimeout: 200 * time.Millisecond})
	opt := b.store.client.(*goredis.Client).Options()
	if opt.MaxRetries != 0 || !opt.ContextTimeoutEnabled || opt.ReadTimeout != 600*time.Millisecond { // -1 reads back as 0
		t.Errorf("retries %d, context %t, read %v", opt.MaxRetries, opt.ContextTimeoutEnabled, opt.ReadTimeout)
	}
}

func TestCheckServer(t *testing.T) {
	b := ownBench(t)
	if err := b.store.CheckServer(b.ctx(), b.sale); err != nil {
		t.Fatalf("a safe server: %v", err)
	}
	h, err := b.store.Health(b.ctx(), b.sale)
	if err != nil || h.Role != "master" || h.ConnectedReplicas != 1 || len(h.ReplicationID) != 40 || h.Version == "" || h.UsedMemory == 0 {
		t.Fatalf("%+v, %v", h, err)
	}
	two := bareBench(t, b.pair, Config{Replicas: 2})
	replica := bareBench(t, b.pair, Config{Addrs: []string{b.pair.Replica.Addr()}})
	none := bareBench(t, b.pair, Config{AllowUnacknowledged: true})
	b.put("config", "set", "maxmemory-policy", "allkeys-lru")
	for name, c := range map[string]struct {
		b    *bench
		want []string
	}{
		"eviction":           {b, []string{"allkeys-lru"}},
		"too few replicas":   {two, []string{"1 of 2", "allkeys-lru"}},
		"a replica":          {replica, []string{"not a primary"}},
		"none required":      {none, []string{"allkeys-lru"}},
		"nothing to excuse":  {none, []string{"noeviction"}},
		"says what to do":    {replica, []string{"use Sentinel"}},
		"one line for each":  {two, []string{"\n"}},
		"too few, what then": {two, []string{"no admission could be acknowledged"}},
	} {
		err := c.b.store.CheckServer(b.ctx(), b.sale)
		var unsafe *UnsafeError
		if !errors.As(err, &unsafe) {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, w := range c.want {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%s: %q lacks %q", name, err, w)
			}
		}
	}
}

// Two replicas with one configured: the other could be promoted (scenario 11).
func TestCheckServerRefusesMoreReplicas(t *testing.T) {
	b := ownBench(t)
	redisproc.Test(t, redisproc.Options{ReplicaOf: b.pair.Primary.Addr()})
	if err := redisproc.AwaitReplicas(b.ctx(), b.pair.Primary.Addr(), 2); err != nil {
		t.Fatal(err)
	}
	if err := b.store.CheckServer(b.ctx(), b.sale); err == nil || !strings.Contains(err.Error(), "2 replicas are online, 1 are configured") {
		t.Fatalf("%v", err)
	}
}

func TestCluster(t *testing.T) {
	b := bareBench(t, pair, Config{})
	cl, err := redisproc.StartCluster(b.ctx(), 2, true)
	if err != nil {
		t.Fatal(err)
	}
	redisproc.StopAfter(t, append(append([]*redisproc.Server{}, cl.Primaries...), cl.Replicas...)...)
	store, err := Open(Config{Addrs: cl.Addrs(), Cluster: true, Replicas: 1, WaitTimeout: 1500 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	b.store = store
	for i := range 8 { // sales on both nodes; every script declares its keys
		b.sale = "spread" + itoa(i)
		b.k = saleKeys(b.sale)
		b.install(func(*admission.Plan) {})
		b.roster("c1", "c2", "c3")
		if err := store.CheckServer(b.ctx(), b.sale); err != nil {
			t.Fatal(err)
		}
		for j, f := range forms {
			if a, err := f.admit(b, b.req("b"+itoa(j+1), "c"+itoa(j+1))); err != nil || a.Outcome != admission.Admitted {
				t.Fatalf("%s in %s: %v, %v", f.name, b.sale, a.Outcome, err)
			}
		}
		b.attach("b1", 1, "pay-1")
		b.undo("b1", "A", admission.UndoRelease, 0)
		b.store.undoAll(b.ctx(), []admission.Undo{{Sale: b.sale, BookingID: "b2", Level: "A", Driver: 1}, {Sale: b.sale, BookingID: "b3", Level: "B", Driver: 1}})
		if _, err := store.AcquireExecute(b.ctx(), b.sale, "p", "b1", time.Minute); err != nil {
			t.Fatal(err)
		}
		st, err := store.Status(b.ctx(), b.sale, []string{"A", "B"})
		if err != nil || st.Used != 1 {
			t.Fatalf("%+v, %v", st, err)
		}
	}
}

func TestSentinelFailover(t *testing.T) {
	b := ownBench(t)
	trio, err := redisproc.StartSentinels(b.ctx(), b.pair, 3)
	if err != nil {
		t.Fatal(err)
	}
	redisproc.StopAfter(t, trio...)
	b.store = bareBench(t, b.pair, Config{Addrs: trio.Addrs(), MasterName: redisproc.SentinelName}).store
	b.admit(b.req("b1", "c1"))
	if err := b.pair.Primary.Kill(); err != nil {
		t.Fatal(err)
	}
	// Until a replica is back there is nobody to acknowledge: 503, by design.
	await(t, func() bool {
		_, err := b.store.Record(b.ctx(), b.sale, "b1")
		return err == nil
	})
	short := bareBench(t, b.pair, Config{Addrs: trio.Addrs(), MasterName: redisproc.SentinelName, WaitTimeout: 50 * time.Millisecond})
	if _, err := short.store.Admit(b.ctx(), b.req("b2", "c2")); !errors.Is(err, admission.ErrUnacknowledged) {
		t.Errorf("admitted by a primary without a replica: %v", err)
	}
	next := redisproc.Test(t, redisproc.Options{ReplicaOf: b.pair.Replica.Addr()})
	if err := redisproc.AwaitReplicas(b.ctx(), b.pair.Replica.Addr(), 1); err != nil {
		t.Fatalf("%v (%s)", err, next.Addr())
	}
	b.admit(b.req("b3", "c3"))
	if a, err := b.store.Admit(b.ctx(), b.req("b1", "c1")); err != nil || a.Outcome != admission.Replayed {
		t.Errorf("an acknowledged booking after the failover: %v, %v", a.Outcome, err)
	}
}
