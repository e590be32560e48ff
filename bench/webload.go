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

// flood lets 64 connections post as fast as they are answered and returns
// requests per second.
func (w *web) flood(addr, path string) (float64, error) {
	var next, done atomic.Int64
	var fault atomic.Pointer[error]
	var wg sync.WaitGroup
	begin := time.Now()
	end := begin.Add(second)
	for range 64 {
		wg.Go(func() {
			c, err := dialWeb(addr)
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
	wg.Wait()
	if err := fault.Load(); err != nil {
		return 0, *err
	}
	return float64(done.Load()) / time.Since(begin).Seconds(), nil
}

// timetable posts at a fixed rate, whether or not earlier requests are answered,
// and returns the latencies in milliseconds from the moment each was due.
func (w *web) timetable(ctx context.Context, addr, path string, rate int, d time.Duration) ([]float64, error) {
	n := int(float64(rate) * d.Seconds())
	idle := make(chan *webClient, n)
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
			select {
			case c = <-idle:
			default:
				c, err = dialWeb(addr)
			}
			if err == nil {
				err = c.post(path, "attempt-1", w.crowd[i%len(w.crowd)].body)
			}
			took[i], faults[i] = float64(time.Since(due).Microseconds())/1000, err
			if err == nil {
				idle <- c
			}
		})
	}
	wg.Wait()
	close(idle)
	for c := range idle {
		_ = c.conn.Close() // all was read
	}
	for _, err := range faults {
		if err != nil {
			return nil, err
		}
	}
	return took, nil
}

// webRate is requests per second of a flood on side.
func (w *web) webRate(side func(ctx context.Context, f func(addr, path string) error) error) func(context.Context) (float64, error) {
	return func(ctx context.Context) (rate float64, err error) {
		err = side(ctx, func(addr, path string) error {
			rate, err = w.flood(addr, path)
			return err
		})
		return rate, err
	}
}

// webLatency is a quantile of the latencies under a timetable on side.
func (w *web) webLatency(q float64, rate int, d time.Duration, side func(ctx context.Context, f func(addr, path string) error) error) func(context.Context) (float64, error) {
	return func(ctx context.Context) (ms float64, err error) {
		err = side(ctx, func(addr, path string) error {
			took, err := w.timetable(ctx, addr, path, rate, d)
			ms = quantile(took, q)
			return err
		})
		return ms, err
	}
}

func plain(ctx context.Context, f func(addr, path string) error) error {
	return serve(hello(), func(addr string) error { return f(addr, "/sales/none/bookings") })
}

func noop(ctx context.Context, f func(addr, path string) error) error {
	return serve(nothing(), func(addr string) error { return f(addr, "/sales/none/bookings") })
}

func (w *web) contests() []contest {
	const openLoop = 833
	return []contest{
		{"booking requests, gateway and queue stubbed / no-op JSON handler", "requests/s", 0.45, 0.85, false, w.webRate(w.booking), w.webRate(noop)},
		{"open loop 833/s, p50 / hello's", "ms", 4, 1.7, true, w.webLatency(0.5, openLoop, 2*time.Second, w.booking), w.webLatency(0.5, openLoop, 2*time.Second, plain)},
		{"open loop 833/s, p99 / hello's", "ms", 6, 2, true, w.webLatency(0.99, openLoop, 2*time.Second, w.booking), w.webLatency(0.99, openLoop, 2*time.Second, plain)},
		{"step to 8,330/s for a second, p99 / hello's", "ms", 0, 0, true, w.webLatency(0.99, 10*openLoop, time.Second, w.booking), w.webLatency(0.99, 10*openLoop, time.Second, plain)},
	}
}
