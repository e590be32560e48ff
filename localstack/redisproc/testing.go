package redisproc

import (
	"context"
	"testing"
	"time"
)

// startPatience is how long a test waits for a server on a busy machine.
const startPatience = 2 * time.Minute

// Test starts one server for a test and stops it afterwards. A machine without
// redis-server fails the test: what is checked here can't be skipped.
func Test(t testing.TB, opt Options) *Server {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), startPatience)
	defer cancel()
	s, err := Start(ctx, opt)
	if err != nil {
		t.Fatal(err)
	}
	StopAfter(t, s)
	return s
}

// TestPair starts a primary and its replica for a test and stops them afterwards.
func TestPair(t testing.TB) *Pair {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), startPatience)
	defer cancel()
	p, err := StartPair(ctx, Options{})
	if err != nil {
		t.Fatal(err)
	}
	StopAfter(t, p.Primary, p.Replica)
	return p
}

// StopAfter stops the servers when the test ends, and shows the end of their
// logs if it failed.
func StopAfter(t testing.TB, servers ...*Server) {
	t.Helper()
	t.Cleanup(func() {
		for _, s := range servers {
			if t.Failed() {
				t.Logf("log of redis-server %s:\n%s", s.Addr(), s.Logs())
			}
			if err := s.Stop(); err != nil {
				t.Errorf("stop redis-server %s: %v", s.Addr(), err)
			}
		}
	})
}
