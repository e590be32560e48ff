// Package tokentest is the suite that every payment.TokenStore has to pass.
package tokentest

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdfast/holdfast/payment"
)

// Store is a store under test with a budget of two grants an hour.
type Store struct {
	payment.TokenStore
	// Advance moves the store's clock. A store whose clock can't be moved leaves
	// it nil and is spared the tests of time.
	Advance func(d time.Duration)
}

const (
	gateway = "tokentest"
	lease   = time.Minute
)

// Run runs the suite; open returns a new, empty store.
func Run(t *testing.T, open func(t *testing.T) Store) {
	t.Helper()
	tests := map[string]func(*testing.T, Store){
		"an empty store has no token":                     testEmpty,
		"one of many gets the lease":                      testOneLease,
		"the holder stores, all read":                     testStore,
		"storing does not end the lease":                  testLeaseOutlivesStore,
		"who has no lease can't store":                    testStoreWithoutLease,
		"gateways do not meet":                            testGatewaysApart,
		"a lapsed lease goes to the next, and is charged": testLapsedLease,
		"the third grant of an hour is refused":           testBudget,
		"a token ends with its ttl":                       testTTL,
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) { test(t, open(t)) })
	}
}

func acquire(t *testing.T, s Store, holder string, wantGranted bool, wantLeft int) {
	t.Helper()
	granted, left, err := s.AcquireTokenLease(t.Context(), gateway, holder, lease)
	if err != nil || granted != wantGranted || left != wantLeft {
		t.Fatalf("AcquireTokenLease(%s) = %v, %d, %v; want %v, %d, nil", holder, granted, left, err, wantGranted, wantLeft)
	}
}

func store(t *testing.T, s Store, holder, token string, ttl time.Duration) {
	t.Helper()
	if err := s.StoreToken(t.Context(), gateway, holder, token, ttl); err != nil {
		t.Fatalf("StoreToken(%s): %v", holder, err)
	}
}

func wantToken(t *testing.T, s Store, want string) time.Time {
	t.Helper()
	token, issuedAt, err := s.Token(t.Context(), gateway)
	if err != nil || token != want || issuedAt.IsZero() {
		t.Fatalf("Token() = %q, %v, %v; want %q with its time", token, issuedAt, err, want)
	}
	return issuedAt
}

func wantNoToken(t *testing.T, s Store) {
	t.Helper()
	if token, _, err := s.Token(t.Context(), gateway); !errors.Is(err, payment.ErrNotFound) {
		t.Fatalf("Token() = %q, %v; want ErrNotFound", token, err)
	}
}

func testEmpty(t *testing.T, s Store) { wantNoToken(t, s) }

func testOneLease(t *testing.T, s Store) {
	var granted atomic.Int32
	var all sync.WaitGroup
	gate := make(chan struct{})
	for i := range 20 {
		all.Go(func() {
			<-gate
			ok, _, err := s.AcquireTokenLease(t.Context(), gateway, fmt.Sprint("holder-", i), lease)
			if err != nil {
				t.Error(err)
			}
			if ok {
				granted.Add(1)
			}
		})
	}
	close(gate)
	all.Wait()
	if got := granted.Load(); got != 1 {
		t.Fatalf("%d of 20 got the lease, want 1", got)
	}
}

func testStore(t *testing.T, s Store) {
	acquire(t, s, "a", true, 1)
	wantNoToken(t, s)
	store(t, s, "a", "token-1", time.Hour)
	wantToken(t, s, "token-1")
}

func testLeaseOutlivesStore(t *testing.T, s Store) {
	acquire(t, s, "a", true, 1)
	store(t, s, "a", "token-1", time.Hour)
	acquire(t, s, "b", false, 1)
	acquire(t, s, "a", false, 1)
}

func testStoreWithoutLease(t *testing.T, s Store) {
	acquire(t, s, "a", true, 1)
	if err := s.StoreToken(t.Context(), gateway, "b", "token-b", time.Hour); err == nil {
		t.Fatal("b stored a token without the lease")
	}
	wantNoToken(t, s)
}

func testGatewaysApart(t *testing.T, s Store) {
	acquire(t, s, "a", true, 1)
	store(t, s, "a", "token-1", time.Hour)
	if _, _, err := s.Token(t.Context(), "other"); !errors.Is(err, payment.ErrNotFound) {
		t.Fatalf("another gateway's token: %v, want ErrNotFound", err)
	}
	granted, left, err := s.AcquireTokenLease(t.Context(), "other", "a", lease)
	if err != nil || !granted || left != 1 {
		t.Fatalf("another gateway's lease = %v, %d, %v; want true, 1, nil", granted, left, err)
	}
}

func testLapsedLease(t *testing.T, s Store) {
	if s.Advance == nil {
		return
	}
	acquire(t, s, "a", true, 1)
	s.Advance(lease + time.Second)
	acquire(t, s, "b", true, 0)
	if err := s.StoreToken(t.Context(), gateway, "a", "token-a", time.Hour); err == nil {
		t.Fatal("a stored a token after its lease went to b")
	}
	store(t, s, "b", "token-b", time.Hour)
	wantToken(t, s, "token-b")
}

func testBudget(t *testing.T, s Store) {
	if s.Advance == nil {
		return
	}
	acquire(t, s, "a", true, 1)
	s.Advance(lease + time.Second)
	acquire(t, s, "b", true, 0)
	s.Advance(lease + time.Second)
	acquire(t, s, "c", false, 0)
	s.Advance(time.Hour)
	acquire(t, s, "c", true, 1)
}

func testTTL(t *testing.T, s Store) {
	if s.Advance == nil {
		return
	}
	acquire(t, s, "a", true, 1)
	store(t, s, "a", "token-1", 2*time.Minute)
	s.Advance(time.Minute)
	wantToken(t, s, "token-1")
	s.Advance(time.Minute)
	wantNoToken(t, s)
}
