package poller

import (
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/holdfast/holdfast/workers/delivery"
)

// Config configures a Poller. Source, Handler and Parker are required.
type Config struct {
	Source  Source
	Handler Handler
	Parker  Parker
	// Pollers is the number of concurrent polls; 2 if 0.
	Pollers int
	// Workers is the number of groups that are handled at once; 32 if 0. At most
	// ten messages for each of them and ten for each poller are taken from the
	// queue at a time.
	Workers int
	// Wait is how long a poll waits for messages; 20 s, the most of SQS, if 0.
	Wait time.Duration
	// EventTimeout bounds one event; delivery.DefaultTimeout if 0.
	EventTimeout time.Duration
	// Grace bounds how long a stopped Poller finishes what it took, 20 s if 0;
	// what is not finished then is cut off and given back.
	Grace time.Duration
	// Backoff is how long a failed message stays hidden, by how often it was
	// received (1 or more); Backoff of this package if nil.
	Backoff  func(receives int) time.Duration
	Observer Observer         // may be nil
	Now      func() time.Time // time.Now if nil
	Log      *slog.Logger     // slog.Default if nil
}

// Backoff doubles from 1 s to 60 s, the upper half of it random, so that what
// failed together in an outage doesn't come back together.
func Backoff(receives int) time.Duration {
	most := min(time.Minute, time.Second<<min(max(receives, 1)-1, 6))
	return most/2 + rand.N(most/2) + 1
}

func (c Config) withDefaults() Config {
	def := func(v *int, d int) {
		if *v <= 0 {
			*v = d
		}
	}
	defTime := func(v *time.Duration, d time.Duration) {
		if *v <= 0 {
			*v = d
		}
	}
	def(&c.Pollers, 2)
	def(&c.Workers, 32)
	defTime(&c.Wait, 20*time.Second)
	defTime(&c.Grace, 20*time.Second)
	if c.Backoff == nil {
		c.Backoff = Backoff
	}
	if c.Observer == nil {
		c.Observer = silent{}
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Log == nil {
		c.Log = slog.Default()
	}
	return c
}

type silent struct{}

func (silent) Handled(delivery.Report) {}
func (silent) Polled(int, error)       {}
func (silent) TidyFailed(string, int)  {}
