package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/holdfast/holdfast/load"
)

// write shows the report to people and puts it into its folder.
func (r *report) write(p plan, out io.Writer) error {
	load.Print(out, r.Result, r.Checks)
	fmt.Fprintf(out, "\nblows\n")
	for _, b := range r.Blows {
		healed := "no admission after it"
		if longest, ok := silence(b, r.answers); ok {
			healed = "at most " + longest.Round(time.Millisecond).String() + " without an admission"
		}
		fmt.Fprintf(out, "  %8.2f s  %-22s whole again after %6.2f s, %s\n", b.At.Seconds(), b.Name, (b.Over - b.At).Seconds(), healed)
	}
	fmt.Fprintf(out, "%d failovers; at most %v without an admission (%s); %.0f%% of %d booking requests during failovers refused with 503 or lost\n",
		r.Failovers, r.WorstSilence.Round(time.Millisecond), r.WorstBlow, 100*r.Unavailable, r.DuringFailover)
	fmt.Fprintf(out, "faults of queue and table: %v; %d sends whose answer was lost; %d bytes of the replication lost\n", r.Faults, r.AmbiguousSends, r.LostBytes)
	if p.report == "" {
		return nil
	}
	if err := os.MkdirAll(p.report, 0o755); err != nil {
		return err
	}
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(p.report, "report.json"), data, 0o644); err != nil {
		return err
	}
	picture := filepath.Join(p.report, "timeline.svg")
	if err := os.WriteFile(picture, []byte(draw(r.answers, r.Blows)), 0o644); err != nil {
		return err
	}
	fmt.Fprintln(out, "time line:", picture)
	return nil
}
