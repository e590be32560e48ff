// Package roles runs Holdfast's processes as children and keeps them running:
// one that dies, for whatever reason, is started again. Children end with their
// parent.
package roles

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"time"
)

// Role is one kind of process.
type Role struct {
	Name    string
	Command []string // program and arguments
	Env     []string // NAME=value
	Log     io.Writer
	Grace   time.Duration // between asking it to end and killing it; 0: 25 s
}

// Keeper keeps processes running until Stop. Make one with Keep.
type Keeper struct {
	log  *slog.Logger
	stop context.CancelFunc
	done sync.WaitGroup

	mu   sync.Mutex
	pids map[string]int
	ends map[string]context.CancelFunc
}

// restartAfter is the pause before a process that died is started again.
const restartAfter = time.Second

// NewKeeper returns a Keeper without processes.
func NewKeeper(log *slog.Logger) *Keeper {
	return &Keeper{log: log, pids: map[string]int{}, ends: map[string]context.CancelFunc{}}
}

// Keep starts the roles. Nothing is left running after Stop.
func (k *Keeper) Keep(ctx context.Context, roles ...Role) {
	ctx, stop := context.WithCancel(ctx)
	previous := k.stop
	k.stop = func() {
		stop()
		if previous != nil {
			previous()
		}
	}
	for _, r := range roles {
		own, end := context.WithCancel(ctx)
		k.mu.Lock()
		k.ends[r.Name] = end
		k.mu.Unlock()
		k.done.Go(func() {
			defer end()
			k.keep(own, r)
		})
	}
}

// End asks one role's process to end, as Stop does, and does not start it again.
// It does not wait; Pid says 0 when the process is gone.
func (k *Keeper) End(name string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if end := k.ends[name]; end != nil {
		end()
	}
}

// Pid is the process id of a role, 0 while it is not running.
func (k *Keeper) Pid(name string) int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.pids[name]
}

// Stop asks every process to end, waits for it, and kills what does not end in
// its grace. Safe to call twice.
func (k *Keeper) Stop() {
	if k.stop != nil {
		k.stop()
	}
	k.done.Wait()
}

func (k *Keeper) keep(ctx context.Context, r Role) {
	// The kernel ends a child when the parent's thread ends, not its process: so
	// the thread that starts it must live as long as this goroutine.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for ctx.Err() == nil {
		err := k.once(ctx, r)
		if ctx.Err() != nil {
			return
		}
		k.log.Warn("a process ended: starting it again", "role", r.Name, "error", fmt.Sprint(err))
		select {
		case <-time.After(restartAfter):
		case <-ctx.Done():
		}
	}
}

// once runs the process until it ends.
func (k *Keeper) once(ctx context.Context, r Role) error {
	cmd := exec.CommandContext(ctx, r.Command[0], r.Command[1:]...)
	cmd.Env = append(os.Environ(), r.Env...)
	cmd.SysProcAttr = sysProcAttr()
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = r.Grace
	if cmd.WaitDelay == 0 {
		cmd.WaitDelay = 25 * time.Second
	}
	pipe, err := cmd.StderrPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	k.set(r.Name, cmd.Process.Pid)
	defer k.set(r.Name, 0)
	copyLines(r.Log, pipe)
	err = cmd.Wait()
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

func (k *Keeper) set(name string, pid int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.pids[name] = pid
}

// copyLines passes whole lines on, so that the lines of several processes do
// not mix in the middle.
func copyLines(to io.Writer, from io.Reader) {
	lines := bufio.NewReaderSize(from, 64<<10)
	for {
		line, err := lines.ReadSlice('\n')
		if len(line) > 0 {
			_, _ = to.Write(line)
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return
		}
	}
}
