package redisproc

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/holdfast/holdfast/localstack/port"
)

// Start starts one server and waits until it answers. ctx bounds the start, not
// the life of the process: that ends with Stop, or with the parent.
func Start(ctx context.Context, opt Options) (*Server, error) {
	return start(ctx, opt, nil)
}

func start(ctx context.Context, opt Options, extra []string) (*Server, error) {
	bin, err := exec.LookPath("redis-server")
	if err != nil {
		return nil, ErrNotInstalled
	}
	s := &Server{opt: opt, bin: bin, extra: extra}
	if opt.Dir == "" {
		if s.opt.Dir, err = os.MkdirTemp("", "holdfast-redis-"); err != nil {
			return nil, fmt.Errorf("redisproc: temporary directory: %w", err)
		}
		s.temp = true
	} else if err := os.MkdirAll(opt.Dir, 0o755); err != nil {
		return nil, fmt.Errorf("redisproc: data directory: %w", err)
	}
	// A free port can be taken by somebody else between our look and the
	// server's bind: then the process ends at once, and another port is tried.
	for attempt := 0; ; attempt++ {
		listen := opt.Port
		if listen == 0 {
			if listen, err = port.Free(); err != nil {
				break
			}
		}
		err = s.launch(ctx, listen)
		if err == nil || opt.Port != 0 || attempt == 4 || !errors.Is(err, errEnded) {
			break
		}
	}
	if err != nil {
		if s.temp {
			err = errors.Join(err, os.RemoveAll(s.opt.Dir))
		}
		return nil, err
	}
	return s, nil
}

var errEnded = errors.New("redisproc: redis-server ended while starting")

// launch starts the process on a port and waits until it answers PING.
func (s *Server) launch(ctx context.Context, listen int) error {
	if err := s.guardData(); err != nil {
		return err
	}
	log, err := os.OpenFile(s.logPath(), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return fmt.Errorf("redisproc: log file: %w", err)
	}
	defer log.Close()
	cmd := exec.Command(s.bin, s.args(listen)...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = s.opt.Dir, log, log
	cmd.SysProcAttr = sysProcAttr()

	started, done := make(chan error), make(chan struct{})
	go func() {
		// Pdeathsig fires when the thread that forked ends, not the process:
		// this goroutine keeps its thread for as long as the child lives.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		defer close(done)
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait() // how it ended is in the log
		}
	}()
	if err := <-started; err != nil {
		return fmt.Errorf("redisproc: start %s: %w", s.bin, err)
	}
	s.mu.Lock()
	s.port, s.cmd, s.done = listen, cmd, done
	s.mu.Unlock()
	if err := s.awaitPong(ctx, cmd.Process.Pid, done); err != nil {
		tail := s.Logs()
		_ = s.Kill()
		return fmt.Errorf("%w (port %d); its log:\n%s", err, listen, tail)
	}
	return s.markPrimary()
}

// awaitPong waits until the process pid answers, and nobody else: where another
// server was quicker to take the port, that one would answer as well.
func (s *Server) awaitPong(ctx context.Context, pid int, done <-chan struct{}) error {
	own := fmt.Sprintf("process_id:%d\r", pid)
	c := goredis.NewClient(&goredis.Options{Addr: s.Addr(), MaxRetries: -1, PoolSize: 1, DialTimeout: time.Second})
	defer c.Close()
	return await(ctx, func() error {
		select {
		case <-done:
			return errEnded
		default:
		}
		if err := c.Ping(ctx).Err(); err != nil {
			return errNotYet
		}
		if info, err := c.Info(ctx, "server").Result(); err != nil || !strings.Contains(info, own) {
			return errNotYet
		}
		return nil
	})
}

// args is the whole configuration. Everything that a test waits for is set to
// its shortest: replicas attach at once, and ask again within a second.
func (s *Server) args(listen int) []string {
	a := append([]string{}, s.extra...)
	a = append(a, "--port", strconv.Itoa(listen), "--bind", "127.0.0.1", "--dir", s.opt.Dir)
	if len(s.extra) > 0 { // Sentinel knows none of the rest
		return append(a, s.opt.Args...)
	}
	a = append(a,
		"--save", "", "--maxmemory-policy", "noeviction", "--repl-backlog-ttl", "0",
		"--repl-diskless-sync", "yes", "--repl-diskless-sync-delay", "0",
		"--repl-ping-replica-period", "1", "--shutdown-timeout", "1",
		"--enable-debug-command", "local", "--appendonly", yesNo(s.opt.AppendOnly))
	if s.opt.ReplicaOf != "" {
		host, p, _ := net.SplitHostPort(s.opt.ReplicaOf)
		a = append(a, "--replicaof", host, p)
	}
	return append(a, s.opt.Args...)
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

func (s *Server) logPath() string { return filepath.Join(s.opt.Dir, "redis.log") }

// Logs returns the last lines of what the server wrote.
func (s *Server) Logs() string {
	b, err := os.ReadFile(s.logPath())
	if err != nil {
		return "no log: " + err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	return strings.Join(lines[max(0, len(lines)-25):], "\n")
}
