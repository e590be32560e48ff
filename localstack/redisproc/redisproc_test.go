package redisproc

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"
)

func client(t *testing.T, s *Server) *goredis.Client {
	t.Helper()
	c := goredis.NewClient(&goredis.Options{Addr: s.Addr(), MaxRetries: -1, ContextTimeoutEnabled: true})
	t.Cleanup(func() { c.Close() })
	return c
}

func deadline(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), startPatience)
	t.Cleanup(cancel)
	return ctx
}

func TestPairReplicates(t *testing.T) {
	ctx := deadline(t)
	pair := TestPair(t)
	conn := client(t, pair.Primary).Conn()
	defer conn.Close()
	if err := conn.Set(ctx, "k", "v", 0).Err(); err != nil {
		t.Fatal(err)
	}
	if n, err := conn.Wait(ctx, 1, 5*time.Second).Result(); err != nil || n != 1 {
		t.Fatalf("WAIT = %d, %v; want the one replica", n, err)
	}
	if v, err := client(t, pair.Replica).Get(ctx, "k").Result(); err != nil || v != "v" {
		t.Fatalf("replica has %q, %v", v, err)
	}
	policy, err := client(t, pair.Primary).ConfigGet(ctx, "maxmemory-policy").Result()
	if err != nil || policy["maxmemory-policy"] != "noeviction" {
		t.Fatalf("policy %v, %v", policy, err)
	}
}

func TestPausedReplicaAcknowledgesNothing(t *testing.T) {
	ctx := deadline(t)
	pair := TestPair(t)
	conn := client(t, pair.Primary).Conn()
	defer conn.Close()
	if err := pair.Replica.Pause(); err != nil {
		t.Fatal(err)
	}
	conn.Set(ctx, "k", "v", 0)
	if n, err := conn.Wait(ctx, 1, 50*time.Millisecond).Result(); err != nil || n != 0 {
		t.Fatalf("WAIT = %d, %v; want 0 while the replica is frozen", n, err)
	}
	if err := pair.Replica.Resume(); err != nil {
		t.Fatal(err)
	}
	if n, err := conn.Wait(ctx, 1, 5*time.Second).Result(); err != nil || n != 1 {
		t.Fatalf("WAIT = %d, %v; want 1 after the replica woke", n, err)
	}
}

func TestRestartKeepsWhatWasPersisted(t *testing.T) {
	ctx := deadline(t)
	s := Test(t, Options{AppendOnly: true, Args: []string{"--appendfsync", "always"}})
	if err := client(t, s).Set(ctx, "k", "v", 0).Err(); err != nil {
		t.Fatal(err)
	}
	if err := s.Restart(ctx); err == nil {
		t.Fatal("Restart of a running server went through")
	}
	if err := s.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := s.Restart(ctx); err != nil {
		t.Fatal(err)
	}
	if v, err := client(t, s).Get(ctx, "k").Result(); err != nil || v != "v" {
		t.Fatalf("after restart %q, %v", v, err)
	}
}

func TestPrimaryIsNeverRestartedEmpty(t *testing.T) {
	ctx := deadline(t)
	t.Run("without persistence", func(t *testing.T) {
		s := Test(t, Options{})
		if err := s.Kill(); err != nil {
			t.Fatal(err)
		}
		if err := s.Restart(ctx); !errors.Is(err, ErrEmptied) {
			t.Fatalf("Restart = %v, want ErrEmptied", err)
		}
	})
	t.Run("with its files removed, unless asked", func(t *testing.T) {
		dir := t.TempDir()
		first := Test(t, Options{Dir: dir, AppendOnly: true})
		if err := first.Stop(); err != nil {
			t.Fatal(err)
		}
		if err := os.RemoveAll(filepath.Join(dir, "appendonlydir")); err != nil {
			t.Fatal(err)
		}
		if _, err := Start(ctx, Options{Dir: dir, AppendOnly: true}); !errors.Is(err, ErrEmptied) {
			t.Fatalf("Start = %v, want ErrEmptied", err)
		}
		Test(t, Options{Dir: dir, AppendOnly: true, AllowEmpty: true})
	})
}

func TestNotInstalledIsOneClearLine(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, err := Start(t.Context(), Options{})
	if !errors.Is(err, ErrNotInstalled) || strings.Contains(err.Error(), "\n") {
		t.Fatalf("Start = %v, want ErrNotInstalled in one line", err)
	}
}

func TestFailedStartShowsTheLog(t *testing.T) {
	_, err := Start(deadline(t), Options{Args: []string{"--no-such-option", "1"}})
	if err == nil || !strings.Contains(err.Error(), "no-such-option") {
		t.Fatalf("Start = %v, want the server's own words", err)
	}
}

// TestAnotherServersPortIsNoStart: where somebody else's server is listening, its
// answers are not taken for ours.
func TestAnotherServersPortIsNoStart(t *testing.T) {
	other := Test(t, Options{})
	s, err := Start(deadline(t), Options{Port: other.Port()})
	if !errors.Is(err, errEnded) {
		t.Fatalf("Start on a taken port = %v, %v; want an error", s, err)
	}
}

// parentEnv makes the test binary play the parent that is killed.
const parentEnv = "REDISPROC_TEST_PARENT"

func TestChildDiesWithItsParent(t *testing.T) {
	if os.Getenv(parentEnv) != "" {
		s, err := Start(t.Context(), Options{Dir: os.Getenv(parentEnv)})
		if err != nil {
			t.Fatal(err)
		}
		fmt.Printf("child %d\n", s.Pid())
		select {}
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestChildDiesWithItsParent$")
	cmd.Env = append(os.Environ(), parentEnv+"="+t.TempDir())
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var pid int
	for lines := bufio.NewScanner(out); pid == 0 && lines.Scan(); {
		fmt.Sscanf(lines.Text(), "child %d", &pid)
	}
	if err := cmd.Process.Kill(); err != nil || pid == 0 {
		t.Fatalf("kill the parent of %d: %v", pid, err)
	}
	_ = cmd.Wait()
	err = await(deadline(t), func() error {
		if syscall.Kill(pid, 0) == nil {
			return errNotYet
		}
		return nil
	})
	if err != nil {
		t.Fatalf("redis-server %d outlived its parent: %v", pid, err)
	}
}

func TestClusterServesEverySlot(t *testing.T) {
	ctx := deadline(t)
	cl, err := StartCluster(ctx, 2, true)
	if err != nil {
		t.Fatal(err)
	}
	StopAfter(t, cl.nodes()...)
	c := goredis.NewClusterClient(&goredis.ClusterOptions{Addrs: cl.Addrs()})
	defer c.Close()
	for i := range 50 {
		if err := c.Set(ctx, fmt.Sprint("key", i), i, 0).Err(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestSentinelsPromoteTheReplica(t *testing.T) {
	ctx := deadline(t)
	pair := TestPair(t)
	trio, err := StartSentinels(ctx, pair, 3)
	if err != nil {
		t.Fatal(err)
	}
	StopAfter(t, trio...)
	if err := pair.Primary.Kill(); err != nil {
		t.Fatal(err)
	}
	err = pair.Replica.awaitReply(ctx, "INFO replication", func(info string) bool {
		return strings.Contains(info, "role:master")
	})
	if err != nil {
		t.Fatalf("no promotion: %v", err)
	}
}
