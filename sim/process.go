package sim

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// process is one operating system process, or one customer with a browser. What
// runs in it goes on after a crash as code does that nobody hears any more:
// every call fails at once, nothing gets out, and its goroutines end.
type process struct {
	name   string
	town   *town
	weight int // how often it is picked, against the others
	log    *slog.Logger

	ctx    context.Context // of its work; ends with a crash or a stop
	cancel context.CancelFunc
	dead   chan struct{} // closed by a crash
	once   sync.Once
	skew   atomic.Int64 // of its clock, in nanoseconds

	pausedUntil time.Time // used by the scheduler alone
	work        sync.WaitGroup
}

func (t *town) newProcess(name string) *process {
	ctx, cancel := context.WithCancel(t.ctx)
	p := &process{name: name, town: t, weight: 1 + t.rng.IntN(4), ctx: ctx, cancel: cancel, dead: make(chan struct{})}
	p.log = slog.New(slog.DiscardHandler)
	t.everybody = append(t.everybody, p)
	if t.options.Log != nil {
		p.log = slog.New(slog.NewTextHandler(lineWriter{t, name}, &slog.HandlerOptions{Level: slog.LevelInfo, ReplaceAttr: dropTime}))
	}
	return p
}

func (p *process) isDead() bool {
	select {
	case <-p.dead:
		return true
	default:
		return false
	}
}

// crash ends the process at the place where it stands.
func (p *process) crash() {
	p.once.Do(func() { close(p.dead) })
	p.cancel()
}

// Now is the process's clock.
func (p *process) Now() time.Time { return time.Now().Add(time.Duration(p.skew.Load())) }

// run starts a goroutine of the process.
func (p *process) run(f func(ctx context.Context)) {
	p.work.Go(func() { f(p.ctx) })
}

// sleep waits d of simulated time; false if the process ended meanwhile.
func (p *process) sleep(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-p.ctx.Done():
		return false
	}
}

// lineWriter shows the log of a process beside the events. It is no part of the
// event log, whose hash must not depend on whether anybody looks.
type lineWriter struct {
	town *town
	name string
}

// Write implements io.Writer.
func (w lineWriter) Write(b []byte) (int, error) {
	w.town.mu.Lock()
	defer w.town.mu.Unlock()
	w.town.options.Log("              " + w.name + ": " + strings.TrimSpace(string(b)))
	return len(b), nil
}

func dropTime(_ []string, a slog.Attr) slog.Attr {
	if a.Key == slog.TimeKey {
		return slog.Attr{}
	}
	return a
}
