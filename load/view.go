package load

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// View returns a Progress function that writes one line a second.
func View(out io.Writer) func(Progress) {
	return func(p Progress) {
		o := p.Figures.ByOutcome
		fmt.Fprintf(out, "%5.0fs %-11s sent %d/%d  in flight %d  held %d  full %d  503 %d  seats %d/%d  paid %d  waiting %d  p50 %.1f ms  p99 %.1f ms\n",
			p.Elapsed.Seconds(), p.Phase, min(p.Sent, p.Total), p.Total, p.InFlight, o["201"], o["level_full"]+o["sold_out"]+o["seat_taken"],
			o["unavailable"]+o["payment_unavailable"], p.Last.Total, p.Last.TotalCap, p.Paid, p.Waiting, p.Figures.All.P50MS, p.Figures.All.P99MS)
	}
}

// Print writes the result and the verdict for people.
func Print(out io.Writer, r Result, checks []Check) {
	fmt.Fprintf(out, "\n%d requests in %.1f s; p50 %.1f ms, p99 %.1f ms, max %.0f ms, counted from when each was due\n",
		r.Figures.Requests, r.Crowd.Seconds(), r.Figures.All.P50MS, r.Figures.All.P99MS, r.Figures.All.MaxMS)
	for _, kind := range sorted(r.Figures.ByKind) {
		var parts []string
		for _, o := range sorted(r.Figures.ByKind[kind]) {
			parts = append(parts, fmt.Sprintf("%s %d", o, r.Figures.ByKind[kind][o]))
		}
		l := r.Figures.Latency[kind]
		fmt.Fprintf(out, "  %-13s p50 %6.1f ms  p99 %6.1f ms  %s\n", kind, l.P50MS, l.P99MS, strings.Join(parts, "  "))
	}
	fmt.Fprintf(out, "payers: %d pressed a button, %d of them late, %d with a failing card; %d walked away\n", r.Pressed, r.Late, r.Failed, r.Abandoned)
	if s := r.Seats; s != nil {
		fmt.Fprintf(out, "seats: %d holds, %d changed, %d extended, %d given back, %d left to run out, %d ran out before the booking\n", s.Holds, s.Changed, s.Extended, s.Released, s.Walked, s.Gone)
	}
	fmt.Fprintln(out)
	for _, c := range checks {
		fmt.Fprintf(out, "%-4s  %s: %s\n", c.mark(), c.Name, strings.ReplaceAll(c.Detail, "\n", "\n        "))
	}
}

func (c Check) mark() string {
	switch {
	case c.NotJudged:
		return "?"
	case c.OK:
		return "ok"
	}
	return "FAIL"
}

func sorted[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }
