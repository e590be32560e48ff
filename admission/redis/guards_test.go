package redis

import (
	"crypto/rand"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/holdfast/holdfast/admission"
)

// Redirect and webhook of one booking in the same millisecond: one executes.
func TestExecuteGuardHasOneCaller(t *testing.T) {
	b := newBench(t)
	var wg sync.WaitGroup
	got := make(chan bool, 20)
	start := make(chan struct{})
	for range 20 {
		wg.Go(func() {
			<-start
			ok, err := b.store.AcquireExecute(b.ctx(), b.sale, "pay-1", "b1", time.Minute)
			if err != nil {
				t.Error(err)
			}
			got <- ok
		})
	}
	close(start)
	wg.Wait()
	close(got)
	winners := 0
	for ok := range got {
		if ok {
			winners++
		}
	}
	if winners != 1 {
		t.Fatalf("%d callers may execute", winners)
	}
	if ok, _ := b.store.ExtendExecute(b.ctx(), b.sale, "pay-1", "b2", time.Hour); ok {
		t.Error("another booking extended the guard")
	}
	if ok, err := b.store.ExtendExecute(b.ctx(), b.sale, "pay-1", "b1", time.Hour); !ok || err != nil {
		t.Errorf("extend: %t, %v", ok, err)
	}
	if ttl := b.admin.PTTL(b.ctx(), b.k.execute("pay-1")).Val(); ttl < 50*time.Minute {
		t.Errorf("life %v", ttl)
	}
	if err := b.store.ReleaseExecute(b.ctx(), b.sale, "pay-1", "b2"); err != nil {
		t.Fatal(err)
	}
	if ok, _ := b.store.AcquireExecute(b.ctx(), b.sale, "pay-1", "b1", time.Minute); ok {
		t.Error("another booking's release let the guard go")
	}
	for range 2 {
		if err := b.store.ReleaseExecute(b.ctx(), b.sale, "pay-1", "b1"); err != nil {
			t.Fatal(err)
		}
	}
	if ok, err := b.store.AcquireExecute(b.ctx(), b.sale, "pay-1", "b1", time.Minute); !ok || err != nil {
		t.Errorf("after the release: %t, %v", ok, err)
	}
}

func TestTokenLeaseAndBudget(t *testing.T) {
	b := bareBench(t, pair, Config{})
	gw := "gw" + rand.Text()[:10]
	lease := func(holder string, life time.Duration) (bool, int) {
		t.Helper()
		ok, left, err := b.store.AcquireTokenLease(b.ctx(), gw, holder, life)
		if err != nil {
			t.Fatal(err)
		}
		return ok, left
	}
	if _, _, err := b.store.Token(b.ctx(), gw); !errors.Is(err, admission.ErrNotFound) {
		t.Fatalf("no token: %v", err)
	}
	if ok, left := lease("p1", time.Minute); !ok || left != 1 {
		t.Fatalf("first: %t %d", ok, left)
	}
	if ok, left := lease("p1", time.Minute); !ok || left != 1 {
		t.Fatalf("the holder again must not count: %t %d", ok, left)
	}
	if ok, left := lease("p2", time.Minute); ok || left != 1 {
		t.Fatalf("a second holder: %t %d", ok, left)
	}
	if err := b.store.StoreToken(b.ctx(), gw, "p2", "tok-2", time.Hour); !errors.Is(err, ErrLeaseLost) {
		t.Fatalf("stored without the lease: %v", err)
	}
	for range 2 { // the second is the first whose answer was lost
		if err := b.store.StoreToken(b.ctx(), gw, "p1", "tok-1", time.Hour); err != nil {
			t.Fatal(err)
		}
	}
	token, issued, err := b.store.Token(b.ctx(), gw)
	if err != nil || token != "tok-1" || time.Since(issued) > time.Minute {
		t.Fatalf("%q %v %v", token, issued, err)
	}
	if ok, left := lease("p2", time.Millisecond); !ok || left != 0 {
		t.Fatalf("second grant of the hour: %t %d", ok, left)
	}
	b.put("hset", tokenKey(gw), "lease_until_ms", "1")
	if ok, left := lease("p3", time.Minute); ok || left != 0 {
		t.Fatalf("third grant of the hour: %t %d", ok, left)
	}
	b.put("hset", tokenKey(gw), "grants", "1000,"+millis(time.Now()))
	if ok, left := lease("p3", time.Minute); !ok || left != 0 {
		t.Fatalf("after the hour: %t %d", ok, left)
	}
	b.put("hset", tokenKey(gw), "expires_ms", "1")
	if _, _, err := b.store.Token(b.ctx(), gw); !errors.Is(err, admission.ErrNotFound) {
		t.Fatalf("a dead token: %v", err)
	}
}
