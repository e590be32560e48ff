package load

import (
	"context"
	"fmt"
	"time"
)

// sample looks at the caps ten times a second, as an observer who is not part
// of the pipeline. Without a probe it looks once a second at what the public
// sees.
func (r *run) sample(ctx context.Context) {
	look, every := r.Probe, 100*time.Millisecond
	if look == nil {
		look, every = r.client.public, time.Second
	}
	for pause(ctx, every) {
		s, err := look(ctx)
		if ctx.Err() != nil {
			return
		}
		r.saw(s, err)
	}
}

func (r *run) saw(s Sample, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil {
		r.result.ProbeErrors++
		return
	}
	r.result.Last = s
	if r.Probe == nil {
		return
	}
	r.result.Samples++
	r.result.OverCap = append(r.result.OverCap, overCap(s)...)
	r.tally.look(time.Now(), s.Total)
}

// pipeline looks whether all is at rest, and notes when nothing was pending or
// queued for the first time.
func (r *run) pipeline(ctx context.Context) (Sample, error) {
	s, err := r.rest(ctx)
	if err == nil && s.Pending+s.Queued == 0 && r.result.Pipeline == 0 {
		r.result.Pipeline = time.Since(r.fired)
	}
	return s, err
}

// overCap names each cap that does not hold in the sample.
func overCap(s Sample) (found []string) {
	for level, used := range s.Used {
		if used > s.Caps[level] || used < 0 || used+s.Free[level] != s.Caps[level] {
			found = append(found, fmt.Sprintf("%s level %s: %d admitted, %d free, cap %d", s.At.Format(time.RFC3339Nano), level, used, s.Free[level], s.Caps[level]))
		}
	}
	if s.Total > s.TotalCap || s.Total < 0 {
		found = append(found, fmt.Sprintf("%s total: %d admitted, cap %d", s.At.Format(time.RFC3339Nano), s.Total, s.TotalCap))
	}
	return found
}

// report tells the live view once a second.
func (r *run) report(ctx context.Context) {
	if r.Progress == nil {
		return
	}
	for pause(ctx, time.Second) {
		p := Progress{Phase: r.phase.Load().(string), Elapsed: time.Since(r.start), Total: r.profile().Requests(), InFlight: len(r.slots),
			Figures: r.tally.Figures(), Series: r.tally.Series()}
		p.Sent = p.Figures.Requests
		r.mu.Lock()
		p.Last, p.Paid = r.result.Last, r.result.Pressed
		for i := range r.people {
			if r.people[i].waiting {
				p.Waiting++
			}
		}
		r.mu.Unlock()
		r.Progress(p)
	}
}
