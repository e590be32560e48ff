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
	net     *network
	id      int
	lose    bool // the next reply; only the goroutine that owns the connection touches it
	replied bool
	rest    [][]byte // commands that came in one write and whose turn has not come
}

// Write sends the first of the commands in p. The others follow one by one, each
// when the reply to the one before was read: that is when they meet their fate.
func (c *lossyConn) Write(p []byte) (int, error) {
	commands := split(p)
	if len(c.rest) > 0 { // behind those that wait for their turn
		c.rest = append(c.rest, commands...)
		return len(p), nil
	}
	c.rest, c.replied = commands[1:], false
	if err := c.send(commands[0]); err != nil {
		return 0, err
	}
	return len(p), nil
}

func (c *lossyConn) send(command []byte) error {
	name := ""
	if parts := strings.SplitN(string(command), "\r\n", 4); len(parts) > 2 {
		name = strings.ToLower(parts[2])
	}
	switch c.net.fateOf(c.id, name) {
	case loseCall:
		c.Conn.Close()
		return io.ErrClosedPipe
	case loseReply:
		c.lose = true
	}
	_, err := c.Conn.Write(command)
	return err
}

func (c *lossyConn) Read(p []byte) (int, error) {
	if c.replied && len(c.rest) > 0 {
		next := c.rest[0]
		c.rest, c.replied = c.rest[1:], false
		if err := c.send(next); err != nil {
			return 0, err
		}
	}
	n, err := c.Conn.Read(p) // the reply proves that the command ran
	if c.lose && err == nil {
		c.Conn.Close()
		return 0, io.EOF
	}
	c.replied = true
	return n, err
}

// split cuts RESP commands apart.
func split(p []byte) (commands [][]byte) {
	for len(p) > 0 {
		parts, at := 0, strings.IndexByte(string(p), '\n')+1
		fmt.Sscanf(string(p[:at]), "*%d", &parts)
		for range parts {
			length, end := 0, at+strings.IndexByte(string(p[at:]), '\n')+1
			fmt.Sscanf(string(p[at:end]), "$%d", &length)
			at = end + length + 2
		}
		commands, p = append(commands, append([]byte{}, p[:at]...)), p[at:]
	}
	return commands
}
