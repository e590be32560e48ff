package redis

import (
	"context"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
)

// fate is what becomes of one command on its way.
type fate int

const (
	pass      fate = iota
	loseReply      // it runs, and the connection dies before its reply arrives
	loseCall       // the connection dies before the server gets it
)

// network is a dialer whose connections obey a rule per command, and which
// remembers what was sent on which connection.
type network struct {
	mu   sync.Mutex
	rule func(command string, nth int) fate // nth counts the commands of this name, from 1
	seen map[string]int
	log  []string // "connection command"
	n    int
}

func newNetwork() *network {
	return &network{seen: map[string]int{}, rule: func(string, int) fate { return pass }}
}

// obey sets the rule and starts counting anew.
func (n *network) obey(rule func(command string, nth int) fate) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.rule, n.seen, n.log = rule, map[string]int{}, nil
}

func (n *network) commands() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return append([]string{}, n.log...)
}

func (n *network) dial(ctx context.Context, kind, addr string) (net.Conn, error) {
	var d net.Dialer
	c, err := d.DialContext(ctx, kind, addr)
	if err != nil {
		return nil, err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.n++
	return &lossyConn{Conn: c, net: n, id: n.n}, nil
}

func (n *network) fateOf(id int, command string) fate {
	n.mu.Lock()
	n.seen[command]++
	n.log = append(n.log, fmt.Sprintf("%d %s", id, command))
	rule, nth := n.rule, n.seen[command]
	n.mu.Unlock()
	return rule(command, nth) // without the lock: a rule may hold a command up
}

type lossyConn struct {
	net.Conn
	net  *network
	id   int
	lose bool // the next reply; only the goroutine that owns the connection touches it
}

// Write sees one command at a time: nothing here pipelines.
func (c *lossyConn) Write(p []byte) (int, error) {
	parts := strings.SplitN(string(p), "\r\n", 4)
	command := ""
	if len(parts) > 2 {
		command = strings.ToLower(parts[2])
	}
	switch c.net.fateOf(c.id, command) {
	case loseCall:
		c.Conn.Close()
		return 0, io.ErrClosedPipe
	case loseReply:
		c.lose = true
	}
	return c.Conn.Write(p)
}

func (c *lossyConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p) // the reply proves that the command ran
	if c.lose && err == nil {
		c.Conn.Close()
		return 0, io.EOF
	}
	return n, err
}
