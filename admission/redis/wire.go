package redis

import (
	"context"
	"fmt"
	"net"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/holdfast/holdfast/admission/redis/resp"
)

// wire is a connection of the hot path. A script and the WAIT for it leave in
// one write, and the script's reply is read first: refusals are answered then,
// and after an error WAIT's reply, which would say yes for nothing, is thrown
// away (protocol.md 1.1). go-redis finds the primary, dials and brings the
// options; only the talking is ours.
type wire struct {
	conn net.Conn
	out  resp.Writer
	in   *resp.Reader

	// owed: the reply to a WAIT is still to come, and is read before the next one.
	owed bool
	// late: the last script had no winners. WAIT then follows the next script only
	// when it has some: in a sold-out storm nobody asks the replicas anything.
	late bool
	// doubtful: a WAIT was short. The server may be a primary that is one no more,
	// so the next script looks for the primary again.
	doubtful bool
}

// ask is WAIT's arguments; no replicas, no WAIT.
type ask struct {
	replicas int
	timeout  time.Duration
}

func (s *Store) ask() ask { return ask{s.cfg.Replicas, s.cfg.WaitTimeout} }

// dialWire opens a connection to the primary that the node stands for.
func dialWire(ctx context.Context, node *goredis.Client) (*wire, error) {
	opt := node.Options()
	conn, err := opt.Dialer(ctx, "tcp", opt.Addr)
	if err != nil {
		return nil, fmt.Errorf("redis: connect to the primary: %w", err)
	}
	w := &wire{conn: conn, in: resp.NewReader(conn)}
	if err := w.login(ctx, opt); err != nil {
		_ = conn.Close() // never used
		return nil, fmt.Errorf("redis: log in: %w", err)
	}
	return w, nil
}

func (w *wire) login(ctx context.Context, opt *goredis.Options) error {
	if opt.Password == "" {
		return nil
	}
	if err := w.limit(ctx, opt.ReadTimeout); err != nil {
		return err
	}
	w.out.Reset()
	if opt.Username == "" {
		w.out.Command(2)
		w.out.String("AUTH")
	} else {
		w.out.Command(3)
		w.out.String("AUTH")
		w.out.String(opt.Username)
	}
	w.out.String(opt.Password)
	_, err := w.exchange()
	return err
}

// limit bounds what follows by the context's deadline and by longest.
func (w *wire) limit(ctx context.Context, longest time.Duration) error {
	end := time.Now().Add(longest)
	if d, ok := ctx.Deadline(); ok && d.Before(end) {
		end = d
	}
	return w.conn.SetDeadline(end)
}

func (w *wire) exchange() ([]resp.Value, error) {
	if _, err := w.conn.Write(w.out.Bytes()); err != nil {
		return nil, err
	}
	if w.owed {
		w.owed = false
		if _, err := w.in.Next(); err != nil && !isReply(err) {
			return nil, err
		}
	}
	return w.in.Next()
}

// script runs sc with the parts (keys and arguments) that pack adds, once more by
// its source where the server doesn't know it. The reply is valid until the wire
// is used again. With an ask, the question is under way when script returns.
func (w *wire) script(sc *script, keys, args int, pack func(*resp.Writer), a ask) ([]resp.Value, error) {
	reply, err := w.try("EVALSHA", sc.sha, keys, args, pack, a)
	if hasPrefix(err, "NOSCRIPT") {
		reply, err = w.try("EVAL", sc.source, keys, args, pack, a)
	}
	if err != nil {
		return nil, fault(sc.name, err)
	}
	return reply, nil
}

// fields is HMGET of n fields of each key, in one write: read gets the values of
// each key in turn and must not keep the slice. With a cfg the sale's layout is
// looked at on the way: of another one nothing is read.
func (w *wire) fields(cfg string, keys []string, n int, field func(i int) string, read func(key int, values []resp.Value)) error {
	w.out.Reset()
	if cfg != "" {
		w.packLayout(cfg)
	}
	for _, key := range keys {
		w.out.Command(2 + n)
		w.out.String("HMGET")
		w.out.String(key)
		for i := range n {
			w.out.String(field(i))
		}
	}
	flat, err := w.exchange()
	var refused error
	if cfg != "" {
		if refused, err = layoutReply(flat, err); err != nil {
			w.doubtful = true // the replies after it are still to come
			return fmt.Errorf("redis: hmget %s: %w", cfg, err)
		}
		flat, err = w.in.Next()
	}
	for k := 0; ; k++ {
		if err != nil {
			w.doubtful = k+1 < len(keys) // the replies after it are still to come
			return fmt.Errorf("redis: hmget %s: %w", keys[k], err)
		}
		if flat[0].Kind != resp.List || len(flat) != 1+n {
			w.doubtful = true
			return malformed("hmget %s: want %d values", keys[k], n)
		}
		if refused == nil {
			read(k, flat[1:])
		}
		if k+1 == len(keys) {
			return refused
		}
		flat, err = w.in.Next()
	}
}

func (w *wire) try(command, body string, keys, args int, pack func(*resp.Writer), a ask) ([]resp.Value, error) {
	w.out.Reset()
	w.out.Command(3 + keys + args)
	w.out.String(command)
	w.out.String(body)
	w.out.Int(int64(keys))
	pack(&w.out)
	asking := a.replicas > 0 && !w.late
	if asking {
		w.packAsk(a)
	}
	reply, err := w.exchange()
	w.owed = asking && (err == nil || isReply(err))
	return reply, err
}

func (w *wire) packAsk(a ask) {
	w.out.Command(3)
	w.out.String("WAIT")
	w.out.Int(int64(a.replicas))
	w.out.Int(a.timeout.Milliseconds())
}

// acknowledged says whether every required replica has what the last script on
// this wire wrote. It has a time limit of its own: a script that was slow must
// not make a short WAIT look like a lost connection.
func (w *wire) acknowledged(ctx context.Context, a ask, longest time.Duration) (bool, error) {
	if a.replicas == 0 {
		return true, nil
	}
	if err := w.limit(ctx, longest); err != nil {
		return false, fmt.Errorf("redis: wait: %w", err)
	}
	if !w.owed {
		w.out.Reset()
		w.packAsk(a)
		if _, err := w.conn.Write(w.out.Bytes()); err != nil {
			return false, fmt.Errorf("redis: wait: %w", err)
		}
	}
	w.owed = false
	reply, err := w.in.Next()
	if err != nil {
		return false, fmt.Errorf("redis: wait: %w", err)
	}
	if reply[0].Kind != resp.Int {
		return false, malformed("wait answered no number")
	}
	return reply[0].Int >= int64(a.replicas), nil
}
