package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// webClient is one HTTP connection that costs little: it shares the machine with
// what it measures.
type webClient struct {
	conn net.Conn
	in   *bufio.Reader
}

func dialWeb(addr string) (*webClient, error) {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		return nil, err
	}
	return &webClient{conn, bufio.NewReader(conn)}, nil
}

// post sends one request and wants 201.
func (c *webClient) post(path, key, body string) error {
	request := "POST " + path + " HTTP/1.1\r\nHost: book.example\r\nContent-Type: application/json\r\nIdempotency-Key: " + key +
		"\r\nContent-Length: " + strconv.Itoa(len(body)) + "\r\n\r\n" + body
	if _, err := io.WriteString(c.conn, request); err != nil {
		return err
	}
	status, length := "", 0
	for {
		line, err := c.in.ReadString('\n')
		if err != nil {
			return err
		}
		line = strings.TrimSpace(line)
		if line == "" {
			break
		}
		if status == "" {
			status = line
		}
		if name, value, _ := strings.Cut(line, ":"); strings.EqualFold(name, "Content-Length") {
			if length, err = strconv.Atoi(strings.TrimSpace(value)); err != nil {
				return err
			}
		}
	}
	answer := make([]byte, length)
	if _, err := io.ReadFull(c.in, answer); err != nil {
		return err
	}
	if !strings.HasPrefix(status, "HTTP/1.1 201") {
		return fmt.Errorf("%s: %s", status, answer)
	}
	return nil
}

// flood lets so many connections post as fast as they are answered and returns
// requests per second. They are open before the clock runs.
func (w *web) flood(conns int, addrs []string, path string) (float64, error) {
	var next, done atomic.Int64
	var fault atomic.Pointer[error]
	var wg, ready sync.WaitGroup
	var begin, end time.Time
	start := make(chan struct{})
	ready.Add(conns)
	for i := range conns {
		wg.Go(func() {
			c, err := dialWeb(addrs[i%len(addrs)])
			ready.Done()
			<-start
			for err == nil && time.Now().Before(end) {
				// Where the crowd comes round, a booking answers 200, which is an error here.
				i := int(next.Add(1)) % len(w.crowd)
				if err = c.post(path, "attempt-1", w.crowd[i].body); err == nil {
					done.Add(1)
				}
			}
			if c != nil {
				_ = c.conn.Close() // all was read
			}
			if err != nil {
				fault.Store(&err)
			}
		})
	}
	ready.Wait()
	begin = time.Now()
	end = begin.Add(second)
	close(start)
	wg.Wait()
	if err := fault.Load(); err != nil {
		return 0, *err
	}
	return float64(done.Load()) / time.Since(begin).Seconds(), nil
}

// timetable posts at a fixed rate, whether or not earlier requests are answered,
// and returns the latencies in milliseconds from the moment each was due.
func (w *web) timetable(ctx context.Context, addrs []string, path string, rate int, d time.Duration) ([]float64, error) {
	n := int(float64(rate) * d.Seconds())
	idle := make([]chan *webClient, len(addrs))
	for i := range idle {
		idle[i] = make(chan *webClient, n)
	}
	took, faults := make([]float64, n), make([]error, n)
	var wg sync.WaitGroup
	begin := time.Now()
	for i := range n {
		due := begin.Add(time.Duration(i) * time.Second / time.Duration(rate))
		time.Sleep(time.Until(due))
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		wg.Go(func() {
			var c *webClient
			var err error
			at := i % len(addrs)
			select {
			case c = <-idle[at]:
			default:
				c, err = dialWeb(addrs[at])
			}
			if err == nil {
				err = c.post(path, "attempt-1", w.crowd[i%len(w.crowd)].body)
			}
			took[i], faults[i] = float64(time.Since(due).Microseconds())/1000, err
			if err == nil {
				idle[at] <- c
			}
		})
	}
	wg.Wait()
	for _, one := range idle {
		close(one)
		for c := range one {
			_ = c.conn.Close() // all was read
		}
	}
	for _, err := range faults {
		if err != nil {
			return nil, err
		}
	}
	return took, nil
}

// webRate is requests per second of a flood on a site.
func (w *web) webRate(conns int, at site) func(context.Context) (float64, error) {
	return func(ctx context.Context) (rate float64, err error) {
		err = at(ctx, func(addrs []string, path string) error {
			rate, err = w.flood(conns, addrs, path)
			return err
		})
		return rate, err
	}
}

// webLatency is a quantile of the latencies under a timetable on a site.
func (w *web) webLatency(q float64, rate int, d time.Duration, at site) func(context.Context) (float64, error) {
	return func(ctx context.Context) (ms float64, err error) {
		err = at(ctx, func(addrs []string, path string) error {
			took, err := w.timetable(ctx, addrs, path, rate, d)
			ms = quantile(took, q)
			return err
		})
		return ms, err
	}
}

func plain(_ context.Context, f func(addrs []string, path string) error) error {
	return serve(hello(), func(addr string) error { return f([]string{addr}, "/sales/none/bookings") })
}

func noop(_ context.Context, f func(addrs []string, path string) error) error {
	return serve(nothing(), func(addr string) error { return f([]string{addr}, "/sales/none/bookings") })
}

// crowded is how many connections a flood has: the callers of the contests above,
// each with a tab open when the sale opens.
const crowded = 1024

func (w *web) contests(t *town) []contest {
	const openLoop, persec = 833, "requests/s"
	alone := w.booking(behind{})
	return []contest{
		{"booking requests, gateway and queue stubbed / no-op JSON handler, 1,024 connections", persec, 0.45, 0.85, false, w.webRate(crowded, alone), w.webRate(crowded, noop)},
		{"booking requests, gateway and queue stubbed / no-op JSON handler, 64 connections", persec, 0, 0, false, w.webRate(64, alone), w.webRate(64, noop)},
		{"booking requests, batched queue over HTTP / no-op JSON handler, 1,024 connections", persec, 0.25, 0.5, false, w.webRate(crowded, w.booking(behind{queue: t.house.Publish})), w.webRate(crowded, noop)},
		{"booking requests, queue and gateway over HTTP / no-op JSON handler, 1,024 connections", persec, 0, 0, false, w.webRate(crowded, w.booking(behind{t.house.Publish, t.house.Gateways["page"]})), w.webRate(crowded, noop)},
		{"open loop 833/s, p50 / hello's", "ms", 4, 1.7, true, w.webLatency(0.5, openLoop, 2*time.Second, alone), w.webLatency(0.5, openLoop, 2*time.Second, plain)},
		{"open loop 833/s, p99 / hello's", "ms", 6, 2, true, w.webLatency(0.99, openLoop, 2*time.Second, alone), w.webLatency(0.99, openLoop, 2*time.Second, plain)},
		{"step to 8,330/s for a second, p99 / hello's", "ms", 0, 0, true, w.webLatency(0.99, 10*openLoop, time.Second, alone), w.webLatency(0.99, 10*openLoop, time.Second, plain)},
	}
}
