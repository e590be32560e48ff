package operator

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/sale"
)

// checkRoster walks the roster that the scripts judge by.
func (d *Desk) checkRoster(ctx context.Context, c ledger.Control, live admission.Status) []Check {
	size := Check{Name: "roster"}
	switch {
	case live.RosterSize == 0:
		size.Verdict, size.Detail = Fail, fmt.Sprintf("it is empty: run holdfast roster import %s FILE.csv", c.Sale)
	case live.RosterVersion != c.RosterVersion || live.RosterSize != c.RosterSize:
		size.Verdict, size.Detail = Fail, fmt.Sprintf("Redis has %d candidates (version %q), the ledger %d (version %q): import it again", live.RosterSize, live.RosterVersion, c.RosterSize, c.RosterVersion)
	default:
		size.Verdict, size.Detail = Pass, fmt.Sprintf("%d candidates, version %s", live.RosterSize, live.RosterVersion)
	}
	if live.RosterSize == 0 {
		return []Check{size}
	}
	able := make(map[string]int)
	err := d.Redis.ScanRoster(ctx, c.Sale, func(r admission.RosterEntry) error {
		if len(r.Levels) == 0 {
			able[""]++
		}
		for _, l := range r.Levels {
			able[l]++
		}
		return nil
	})
	if err != nil {
		return []Check{size, {"reachable", Fail, "the roster can't be read: " + err.Error()}}
	}
	var bad, good []string
	for _, l := range c.Plan.Levels {
		n := able[l.Name] + able[""]
		good = append(good, fmt.Sprintf("%s %d", l.Name, n))
		if n == 0 {
			bad = append(bad, fmt.Sprintf("nobody on the roster may book level %s: mend the roster's levels, or take the level out of the sale file", l.Name))
		}
	}
	return []Check{size, judge("reachable", len(bad) > 0, strings.Join(bad, "; "), "candidates who may book: "+strings.Join(good, ", "))}
}

// zoned is a time as the sale's people say it.
func zoned(t time.Time, s sale.Sale) string {
	loc, err := s.Location()
	if err != nil {
		loc = time.UTC
	}
	return t.In(loc).Format("2006-01-02 15:04:05 MST")
}
