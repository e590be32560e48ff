package port

import (
	"fmt"
	"net"
	"testing"
)

// TestNoPortTwice: two servers that are started later never get the same port.
func TestNoPortTwice(t *testing.T) {
	seen := map[int]bool{}
	for range 200 {
		p := free(t)
		if seen[p] || p < first || p > last {
			t.Fatalf("%d, after %d others", p, len(seen))
		}
		seen[p] = true
	}
}

// TestTakenPortIsPassedOver: where somebody listens, nobody is sent.
func TestTakenPortIsPassedOver(t *testing.T) {
	var l net.Listener
	p := 0
	for l == nil { // somebody else may have been quicker
		p = free(t)
		l, _ = net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", p))
	}
	defer l.Close()
	mu.Lock()
	next = p
	mu.Unlock()
	if got := free(t); got == p {
		t.Errorf("%d is taken", p)
	}
}

// TestRangeGoesRound: behind its end is its beginning.
func TestRangeGoesRound(t *testing.T) {
	mu.Lock()
	next = last
	mu.Unlock()
	free(t)
	if p := free(t); p < first || p > first+1000 {
		t.Errorf("%d follows the end of the range", p)
	}
}

func free(t *testing.T) int {
	t.Helper()
	p, err := Free()
	if err != nil {
		t.Fatal(err)
	}
	return p
}
