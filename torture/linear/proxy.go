package linear

import (
	"fmt"
	"io"
	"net"
	"sync"
)

// Gate says what a proxy does with the bytes that flow from the primary to the
// replica. The other direction, with the replica's acknowledgements, is open.
type Gate int

// The gates of a proxy.
const (
	Open    Gate = iota
	Hold         // bytes wait; those that wait when the line is cut are lost
	Discard      // bytes vanish; leaving this gate cuts the line, since what follows a hole is no stream
)

// Proxy stands between a replica and its primary and can lose what one sends to
// the other. It is safe for concurrent use.
type Proxy struct {
	target   string
	listener net.Listener
	done     sync.WaitGroup

	mu     sync.Mutex
	moved  *sync.Cond // the gate, the set of lines or lost has changed
	gate   Gate
	lines  map[net.Conn]net.Conn // the replica's side to the primary's
	lost   int
	closed bool
}

// NewProxy listens on a free loopback port and passes connections on to target.
func NewProxy(target string) (*Proxy, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("linear: listen for the replication proxy: %w", err)
	}
	p := &Proxy{target: target, listener: l, lines: map[net.Conn]net.Conn{}}
	p.moved = sync.NewCond(&p.mu)
	p.done.Go(p.accept)
	return p, nil
}

// Addr is where the replica finds its primary.
func (p *Proxy) Addr() string { return p.listener.Addr().String() }

// Lost is how many bytes never reached the replica.
func (p *Proxy) Lost() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.lost
}

// Set changes the gate.
func (p *Proxy) Set(g Gate) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.gate == Discard && g != Discard {
		p.cut()
	}
	p.gate = g
	p.moved.Broadcast()
}

// Cut closes every line; the replica will ask again.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cut()
}

// Close ends the proxy and waits for its goroutines. Safe to call twice.
func (p *Proxy) Close() {
	p.mu.Lock()
	p.closed = true
	p.cut()
	p.mu.Unlock()
	_ = p.listener.Close() // a second close has nothing to do
	p.done.Wait()
}

func (p *Proxy) cut() {
	for replica, primary := range p.lines {
		_, _ = replica.Close(), primary.Close()
		delete(p.lines, replica)
	}
	p.moved.Broadcast()
}

func (p *Proxy) accept() {
	for {
		replica, err := p.listener.Accept()
		if err != nil {
			return
		}
		primary, err := net.Dial("tcp", p.target)
		if err != nil {
			_ = replica.Close()
			continue
		}
		if !p.enter(replica, primary) {
			_, _ = replica.Close(), primary.Close()
			return
		}
		p.done.Go(func() { p.down(replica, primary) })
		p.done.Go(func() {
			_, _ = io.Copy(primary, replica) // ends with either side
			p.leave(replica)
		})
	}
}

func (p *Proxy) enter(replica, primary net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closed {
		p.lines[replica] = primary
	}
	return !p.closed
}

func (p *Proxy) leave(replica net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if primary, here := p.lines[replica]; here {
		_, _ = replica.Close(), primary.Close()
		delete(p.lines, replica)
		p.moved.Broadcast()
	}
}

// down carries bytes from the primary to the replica, through the gate.
func (p *Proxy) down(replica, primary net.Conn) {
	defer p.leave(replica)
	buf := make([]byte, 16<<10)
	for {
		n, err := primary.Read(buf)
		if n > 0 && p.pass(replica, n) {
			if _, err := replica.Write(buf[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// pass waits at the gate with n bytes and says whether they go on.
func (p *Proxy) pass(replica net.Conn, n int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.gate == Hold && p.lines[replica] != nil {
		p.moved.Wait()
	}
	if p.gate == Open && p.lines[replica] != nil {
		return true
	}
	p.lost += n
	p.moved.Broadcast()
	return false
}
