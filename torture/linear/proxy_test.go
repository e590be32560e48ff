package linear

import (
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"
)

// TestProxyLosesWhatTheGateSays sends through each gate and looks at what arrives.
func TestProxyLosesWhatTheGateSays(t *testing.T) {
	primary, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer primary.Close()
	p, err := NewProxy(primary.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	replica, err := net.Dial("tcp", p.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer replica.Close()
	sender, err := primary.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer sender.Close()
	say := func(c net.Conn, s string) {
		t.Helper()
		if _, err := c.Write([]byte(s)); err != nil {
			t.Fatal(err)
		}
	}
	hear := func(c net.Conn, want string) {
		t.Helper()
		buf := make([]byte, len(want))
		if _, err := io.ReadFull(c, buf); err != nil || string(buf) != want {
			t.Fatalf("heard %q, %v; want %q", buf, err, want)
		}
	}
	say(sender, "one")
	hear(replica, "one")
	p.Set(Hold)
	say(sender, "two")
	say(replica, "ack")
	hear(sender, "ack") // the way back is open
	if err := replica.SetReadDeadline(time.Now().Add(20 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	if n, err := replica.Read(make([]byte, 3)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("%d bytes passed a closed gate: %v", n, err)
	}
	if err := replica.SetReadDeadline(time.Time{}); err != nil {
		t.Fatal(err)
	}
	p.Set(Open)
	hear(replica, "two")
	p.Set(Discard)
	say(sender, "gone")
	p.mu.Lock()
	for p.lost < 4 {
		p.moved.Wait()
	}
	p.mu.Unlock()
	p.Set(Open) // cuts: what follows a hole is no stream
	if _, err := replica.Read(make([]byte, 1)); err == nil {
		t.Error("the line lived on after a hole")
	}
}
