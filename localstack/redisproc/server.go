package redisproc

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// ErrNotInstalled says that there is no redis-server to start.
var ErrNotInstalled = errors.New("redisproc: redis-server is not installed: install it with `apt-get install redis-server` or `brew install redis`, or put it on the PATH")

// ErrEmptied says that a primary would start without the data that its
// directory once had. Started all the same it would empty its replicas too.
var ErrEmptied = errors.New("redisproc: the data of this primary is gone, refusing to start it empty: promote its replica, or rebuild from the ledger and set AllowEmpty")

// Options say how one server is started. The zero value is a primary in a
// temporary directory on a free port, without persistence.
type Options struct {
	Dir        string   // where data and log live; "" = a temporary directory that Stop removes
	Port       int      // 0 = a free one
	AppendOnly bool     // keep an append-only file, fsynced once a second
	ReplicaOf  string   // host:port of the primary; "" = be a primary
	AllowEmpty bool     // start a primary even where its data is gone
	Args       []string // more configuration: "--maxmemory", "10mb"
}

// Server is one redis-server process. Its methods are safe for concurrent use.
type Server struct {
	opt   Options
	temp  bool // Dir is ours to remove
	bin   string
	extra []string // before the options: a configuration file, for Sentinel

	mu   sync.Mutex
	port int
	cmd  *exec.Cmd
	done chan struct{} // closed when the current process has ended
}

// Addr returns host:port. It stays the same over Restart.
func (s *Server) Addr() string { return fmt.Sprintf("127.0.0.1:%d", s.Port()) }

// Port returns the TCP port on 127.0.0.1.
func (s *Server) Port() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.port
}

// Dir returns the server's directory.
func (s *Server) Dir() string { return s.opt.Dir }

// Pid returns the process id of the last process that was started.
func (s *Server) Pid() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cmd.Process.Pid
}

// Done returns a channel that is closed when the current process has ended.
func (s *Server) Done() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.done
}

// Stop ends the process in good order, by force after five seconds, and
// removes a temporary directory. It is safe to call again.
func (s *Server) Stop() error {
	err := s.end(syscall.SIGTERM, 5*time.Second)
	if s.temp {
		err = errors.Join(err, os.RemoveAll(s.opt.Dir))
	}
	return err
}

// Kill ends the process as a crash would (SIGKILL) and waits until it is gone.
// The directory stays: Restart brings back what was persisted.
func (s *Server) Kill() error { return s.end(syscall.SIGKILL, 5*time.Second) }

// Pause freezes the process (SIGSTOP): connections stay open, nothing answers.
func (s *Server) Pause() error { return s.signal(syscall.SIGSTOP) }

// Resume wakes a paused process. It does no harm to one that runs.
func (s *Server) Resume() error { return s.signal(syscall.SIGCONT) }

// Restart starts the process again, after Stop or Kill, on the same port and
// directory. A primary that would come back empty is ErrEmptied.
func (s *Server) Restart(ctx context.Context) error {
	select {
	case <-s.Done():
	default:
		return errors.New("redisproc: still running: Stop or Kill it before Restart")
	}
	return s.launch(ctx, s.Port())
}

func (s *Server) signal(sig syscall.Signal) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.cmd.Process.Signal(sig); err != nil {
		return fmt.Errorf("redisproc: signal %v to %d: %w", sig, s.port, err)
	}
	return nil
}

// end sends sig and waits. A paused process is woken first, it could not obey.
func (s *Server) end(sig syscall.Signal, patience time.Duration) error {
	done := s.Done()
	select {
	case <-done:
		return nil
	default:
	}
	// Errors mean that the process has just ended: the wait below decides.
	_ = s.signal(sig)
	_ = s.signal(syscall.SIGCONT)
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-done:
		return nil
	case <-timer.C:
	}
	_ = s.signal(syscall.SIGKILL)
	<-done
	return nil
}
