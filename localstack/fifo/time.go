package fifo

import (
	"context"
	"slices"
	"time"
)

// NextEvent returns the instant at which something will happen by itself: a message becomes visible or is dropped, or a poll gives up. false: nothing ever will.
func (c *Cloud) NextEvent() (time.Time, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.nextEvent()
}

func (c *Cloud) nextEvent() (next time.Time, ok bool) {
	for _, q := range c.queues {
		if at, some := q.nextEvent(); some && (!ok || at.Before(next)) {
			next, ok = at, true
		}
	}
	return next, ok
}

// Advance lets everything happen that is due by the clock. Calling it at any time, or not at all, changes no result but the polls' timeliness.
func (c *Cloud) Advance() {
	c.advance()
	c.signal()
}

func (c *Cloud) advance() {
	_ = c.locked(func(now time.Time) error {
		for _, name := range c.names() {
			c.queues[name].catchUp(now)
		}
		return nil
	})
}

// Run advances the cloud in real time until ctx ends. One caller at a time; without it long polls end only by messages or by Advance.
func (c *Cloud) Run(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for ctx.Err() == nil {
		c.advance()
		timer.Reset(c.arm())
		select {
		case <-ctx.Done():
		case <-timer.C:
		case <-c.wake:
		}
	}
}

// arm notes until when Run will sleep and returns for how long.
func (c *Cloud) arm() time.Duration {
	const idle = time.Hour
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now()
	next, ok := c.nextEvent()
	if !ok {
		next = now.Add(idle)
	}
	c.armed = next
	return next.Sub(now)
}

// expect wakes Run if at comes before what it sleeps for. Lock held.
func (c *Cloud) expect(at time.Time) {
	if !c.armed.IsZero() && at.Before(c.armed) {
		c.armed = at
		c.signal()
	}
}

func (c *Cloud) signal() {
	select {
	case c.wake <- struct{}{}:
	default: // a wake-up is on its way already
	}
}

// names returns the queues' names in a fixed order: maps must not decide what happens first.
func (c *Cloud) names() []string {
	out := make([]string, 0, len(c.queues))
	for name := range c.queues {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}
