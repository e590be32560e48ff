package load

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// Screen returns a Progress function that draws the run over itself on a
// terminal: what is sent, the rate and the 99th percentile of the last minute,
// the answers, and the caps.
func Screen(out io.Writer, title string) func(Progress) {
	drawn := 0
	return func(p Progress) {
		lines := screen(title, p)
		var b strings.Builder
		if drawn > 0 {
			fmt.Fprintf(&b, "\x1b[%dA", drawn) // back to the top
		}
		for _, l := range lines {
			b.WriteString("\x1b[2K" + l + "\n")
		}
		b.WriteString("\x1b[J") // and nothing below
		drawn = len(lines)
		_, _ = io.WriteString(out, b.String()) // a terminal that is gone shows nothing
	}
}

// sparkSeconds is how much of the past the small plots show.
const sparkSeconds = 60

func screen(title string, p Progress) []string {
	recent := p.Series[max(0, len(p.Series)-sparkSeconds):]
	var rate, p99 []float64
	for _, s := range recent {
		rate, p99 = append(rate, float64(s.Sent)), append(p99, s.Latency.P99MS)
	}
	now := 0.0
	if len(rate) > 1 {
		now = rate[len(rate)-2] // the last whole second
	}
	done := min(p.Sent, p.Total)
	lines := []string{
		title,
		fmt.Sprintf("%6.0f s  %-11s %s %d of %d sent, %d in flight", p.Elapsed.Seconds(), p.Phase, gauge(done, p.Total, 24), done, p.Total, p.InFlight),
		fmt.Sprintf("rate   %8.0f /s  %s", now, spark(rate)),
		fmt.Sprintf("p50    %8.1f ms   p99 %.1f ms  %s", p.Figures.All.P50MS, p.Figures.All.P99MS, spark(p99)),
		"answers  " + answers(p.Figures.ByOutcome),
		fmt.Sprintf("people   %d pressed pay, %d wait for a seat", p.Paid, p.Waiting),
	}
	return append(lines, levels(p.Last)...)
}

// answers lists outcomes, the most frequent first.
func answers(by map[Outcome]int) string {
	list := sorted(by)
	slices.SortStableFunc(list, func(a, b Outcome) int { return by[b] - by[a] })
	parts := make([]string, len(list))
	for i, o := range list {
		parts[i] = fmt.Sprintf("%s %d", o, by[o])
	}
	return strings.Join(parts, "   ")
}

// levels are the caps as far as they can be seen.
func levels(s Sample) []string {
	var lines []string
	for _, l := range sorted(s.Caps) {
		lines = append(lines, fmt.Sprintf("  %-16s %s %d of %d", l, gauge(s.Used[l], s.Caps[l], 24), s.Used[l], s.Caps[l]))
	}
	if s.TotalCap > 0 {
		lines = append(lines, fmt.Sprintf("  %-16s %s %d of %d", "total", gauge(s.Total, s.TotalCap, 24), s.Total, s.TotalCap))
	}
	for _, l := range sorted(s.States) {
		lines = append(lines, fmt.Sprintf("  %-16s %s", l, s.States[l]))
	}
	return lines
}

func gauge(done, total, width int) string {
	n := 0
	if total > 0 {
		n = min(width, max(0, width*done/total))
	}
	return "[" + strings.Repeat("#", n) + strings.Repeat(".", width-n) + "]"
}

// spark draws values as a line of blocks, the highest one full.
func spark(values []float64) string {
	const blocks = "▁▂▃▄▅▆▇█"
	steps := []rune(blocks)
	most := 0.0
	for _, v := range values {
		most = max(most, v)
	}
	var b strings.Builder
	for _, v := range values {
		i := 0
		if most > 0 {
			i = int(v / most * float64(len(steps)-1))
		}
		b.WriteRune(steps[i])
	}
	return b.String()
}
