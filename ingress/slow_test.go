package ingress_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// pipes is a listener without file descriptors, so that 10,000 connections fit
// a test, and the fake clock rules their deadlines.
type pipes struct {
	next   chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func newPipes() *pipes { return &pipes{next: make(chan net.Conn), closed: make(chan struct{})} }

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.next:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}
func (p *pipes) Close() error   { p.once.Do(func() { close(p.closed) }); return nil }
func (p *pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 80} }

// dial connects and sends text.
func (p *pipes) dial(t *testing.T, text string) net.Conn {
	t.Helper()
	ours, theirs := net.Pipe()
	p.next <- theirs
	if _, err := io.WriteString(ours, text); err != nil {
		t.Fatal(err)
	}
	return ours
}

// servePipes serves a world on pipes until the test ends.
func servePipes(t *testing.T, w *world) *pipes {
	t.Helper()
	public, operator := newPipes(), newPipes()
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- w.in.Serve(ctx, public, operator) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return public
}

const (
	halfHeader = "POST /sales/spring/bookings HTTP/1.1\r\nHost: x\r\nX-Slow: "
	halfBody   = "POST /sales/spring/bookings HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 200\r\n\r\n{\"code\":"
	whole      = "GET /nothing HTTP/1.1\r\nHost: x\r\n\r\n"
)

// 10,000 connections that say nothing, or only half of it, take little memory,
// refuse nobody, and are gone when their time is over.
func TestIdleConnectionsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		l := servePipes(t, w)
		before := inUse()
		var slow, idle []net.Conn
		for i := range 10_000 {
			switch i % 2 {
			case 0:
				slow = append(slow, l.dial(t, halfHeader))
			case 1:
				c := l.dial(t, whole)
				r, err := http.ReadResponse(bufio.NewReaderSize(c, 16), nil)
				if err != nil || r.StatusCode != 404 {
					t.Fatalf("%v %v", r, err)
				}
				if _, err := io.Copy(io.Discard, r.Body); err != nil {
					t.Fatal(err)
				}
				idle = append(idle, c)
			}
		}
		if each := (inUse() - before) / 10_000; each > 40<<10 {
			t.Errorf("%d bytes for each connection", each)
		}
		w.book(wish(1, "N1"), 201, "")
		closed(t, slow, 10*time.Second)
		closed(t, idle, 2*time.Minute)
	})
}

// closed wants all connections closed after d, and not before.
func closed(t *testing.T, all []net.Conn, d time.Duration) {
	t.Helper()
	var early, late int
	time.Sleep(d - time.Since(epoch) - time.Second)
	for _, c := range all {
		if err := c.SetReadDeadline(time.Now()); err != nil || !stillOpen(c) {
			early++
		}
	}
	time.Sleep(2 * time.Second)
	for _, c := range all {
		if err := c.SetReadDeadline(time.Now().Add(time.Millisecond)); err == nil && stillOpen(c) {
			late++
		}
		_ = c.Close()
	}
	if early > 0 || late > 0 {
		t.Errorf("of %d connections %d are closed before %v, %d not after it", len(all), early, d, late)
	}
}

// epoch is when a bubble's clock starts.
var epoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

func stillOpen(c net.Conn) bool {
	_, err := c.Read(make([]byte, 1))
	timeout, ok := err.(net.Error)
	return ok && timeout.Timeout()
}

func inUse() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapInuse + m.StackInuse)
}

// A body that does not come is a bad request after ten seconds, and nothing is
// written for it.
func TestSlowBodyIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		l := servePipes(t, w)
		start := time.Now()
		c := l.dial(t, halfBody)
		r, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(r.Body)
		if took := time.Since(start); err != nil || r.StatusCode != 400 || !strings.Contains(string(body), "did not arrive whole") || took != 10*time.Second {
			t.Errorf("%d %s after %v, %v", r.StatusCode, body, took, err)
		}
		_ = c.Close()
		if w.used() != 0 || w.redis.Calls("Admit") != 0 {
			t.Error("half a request did something")
		}
	})
}

// How slowly a success was asked for does not slow decoys down.
func TestSlowBodiesDoNotSlowDecoys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.in.Options.Now = time.Now
		l := servePipes(t, w)
		text := wish(1, "N1")
		c := l.dial(t, fmt.Sprintf("POST /sales/spring/bookings HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(text), text[:9]))
		time.Sleep(8 * time.Second)
		if _, err := io.WriteString(c, text[9:]); err != nil {
			t.Fatal(err)
		}
		r, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil || r.StatusCode != 201 {
			t.Fatalf("%v %v", r, err)
		}
		_ = c.Close()
		start := time.Now()
		w.book(trap, 201, "")
		if took := time.Since(start); took > time.Second {
			t.Errorf("a decoy takes %v", took)
		}
	})
}

// A body over 4 KiB is refused also when it does not say how long it is.
func TestChunkedBodiesAreCapped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		l := servePipes(t, w)
		long := wish(1, "N1")[:len(wish(1, "N1"))-1] + strings.Repeat(" ", 5000) + "}"
		c := l.dial(t, "POST /sales/spring/bookings HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n")
		go func() { _, _ = fmt.Fprintf(c, "%x\r\n%s\r\n0\r\n\r\n", len(long), long) }()
		r, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(r.Body)
		if err != nil || r.StatusCode != 400 || !strings.Contains(string(body), "larger than 4 KiB") || w.used() != 0 {
			t.Errorf("%d %s, %v", r.StatusCode, body, err)
		}
		_ = c.Close()
	})
}
