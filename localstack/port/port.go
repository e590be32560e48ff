// Package port finds loopback ports for servers that bind them later, in another
// process, or again after a crash.
//
// The port that the kernel gives to a listener on port 0 is nobody's as soon as
// that listener is closed: the next listener or outgoing connection of any
// process may get it, and a server that is told of it, or killed and started
// again, finds it taken. So these come from below the range from which kernels
// choose (32768 on Linux, 49152 elsewhere), and no process gives one out twice.
package port

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
)

// The range is free of what the kernel gives out by itself, and of the servers
// that machines usually run.
const (
	first = 12000
	last  = 31999
)

// ErrNone says that every port of the range is taken.
var ErrNone = errors.New("port: no loopback port is free")

// Processes that look at the same time begin at different places.
var (
	mu   sync.Mutex
	next = first + rand.IntN(last-first+1)
)

// Free returns a port of 127.0.0.1 on which nobody listens. It was not returned
// before in this process, unless all others were.
func Free() (int, error) {
	mu.Lock()
	defer mu.Unlock()
	for range last - first + 1 {
		p := next
		if next++; next > last {
			next = first
		}
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", p))
		if err != nil {
			continue
		}
		if err := l.Close(); err != nil {
			return 0, fmt.Errorf("port: look at %d: %w", p, err)
		}
		return p, nil
	}
	return 0, ErrNone
}
