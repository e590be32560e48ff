package main

import (
	"errors"
	"io"
	"net"
	"sync"
	"time"
)

// slowLink is a TCP proxy that holds every byte back for a while, each way: a
// client in another building.
type slowLink struct {
	listener net.Listener
	target   string
	each     time.Duration // one way
	wg       sync.WaitGroup

	mu    sync.Mutex
	conns []net.Conn
}

// startLink listens on a free loopback port until close.
func startLink(target string, each time.Duration) (*slowLink, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &slowLink{listener: l, target: target, each: each}
	s.wg.Go(s.accept)
	return s, nil
}

func (s *slowLink) addr() string { return s.listener.Addr().String() }

func (s *slowLink) accept() {
	for {
		in, err := s.listener.Accept()
		if err != nil {
			return
		}
		out, err := net.Dial("tcp", s.target)
		if err != nil {
			_ = in.Close() // the client sees a lost connection, as it should
			continue
		}
		s.mu.Lock()
		s.conns = append(s.conns, in, out)
		s.mu.Unlock()
		s.wg.Go(func() { s.carry(in, out) })
		s.wg.Go(func() { s.carry(out, in) })
	}
}

// chunk is what came at one moment.
type chunk struct {
	due  time.Time
	data []byte
}

// carry copies from one side to the other, each chunk when it is due.
func (s *slowLink) carry(from, to net.Conn) {
	way := make(chan chunk, 1024)
	s.wg.Go(func() {
		defer to.Close()
		for c := range way {
			time.Sleep(time.Until(c.due))
			if _, err := to.Write(c.data); err != nil {
				_ = from.Close() // so that the reader ends, too
			}
		}
	})
	defer close(way)
	for {
		buf := make([]byte, 32<<10)
		n, err := from.Read(buf)
		if n > 0 {
			way <- chunk{time.Now().Add(s.each), buf[:n]}
		}
		if err != nil {
			if !errors.Is(err, io.EOF) {
				_ = from.Close() // it is broken
			}
			return
		}
	}
}

// close ends the link and everything on it.
func (s *slowLink) close() {
	_ = s.listener.Close() // accept ends
	s.mu.Lock()
	for _, c := range s.conns {
		_ = c.Close() // carry ends
	}
	s.mu.Unlock()
	s.wg.Wait()
}
