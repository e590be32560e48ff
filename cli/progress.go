package cli

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/holdfast/holdfast/operator"
)

// progress shows how far long work has come: a bar that is drawn over itself on
// a terminal, else a line every few seconds.
type progress struct {
	out      io.Writer
	now      func() time.Time
	terminal bool
	label    string
	last     time.Time
	began    time.Time
	drawn    bool
}

// How often progress is shown.
const (
	drawEvery = 100 * time.Millisecond
	lineEvery = 2 * time.Second
)

func (a *app) newProgress(label string) *progress {
	return &progress{out: a.stderr, now: a.now, terminal: a.terminal, label: label, began: a.now(), last: a.now()}
}

// roster shows an import.
func (p *progress) roster(s operator.Progress) {
	what := map[operator.Phase]string{operator.PhaseCompare: "reading", operator.PhaseWrite: "writing", operator.PhaseRemove: "removing"}[s.Phase]
	p.show(what, s.Done, s.Total)
}

func (p *progress) show(what string, done, total int) {
	every := lineEvery
	if p.terminal {
		every = drawEvery
	}
	now := p.now()
	if now.Sub(p.last) < every {
		return
	}
	p.last = now
	rate := float64(done) / max(now.Sub(p.began).Seconds(), 0.001)
	if !p.terminal {
		fmt.Fprintf(p.out, "%s: %s%s\n", p.label, what, count(done, total))
		return
	}
	p.drawn = true
	fmt.Fprintf(p.out, "\r\x1b[K%s %s %s %d%s  %.0f/s", p.label, bar(done, total), what, done, of(total), rate)
}

// end leaves the terminal's line clean.
func (p *progress) end() {
	if p.drawn {
		fmt.Fprint(p.out, "\r\x1b[K")
	}
}

// count is nothing where nothing is counted.
func count(done, total int) string {
	if done == 0 && total == 0 {
		return ""
	}
	return fmt.Sprintf(", %d%s", done, of(total))
}

func of(total int) string {
	if total == 0 {
		return ""
	}
	return fmt.Sprintf(" of %d", total)
}

// bar is 20 characters wide; while the total is not known it only moves.
func bar(done, total int) string {
	const width = 20
	if total <= 0 {
		at := done / 500 % width
		return "[" + strings.Repeat(" ", at) + "=" + strings.Repeat(" ", width-1-at) + "]"
	}
	n := min(width, width*done/total)
	return "[" + strings.Repeat("=", n) + strings.Repeat(" ", width-n) + "]"
}
