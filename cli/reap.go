package cli

import (
	"context"
	"slices"

	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/reaper"
)

func (a *app) reapCommand() *cobra.Command {
	var once, asJSON bool
	var sales []string
	cmd := a.role("reap", "Give back every seat that nobody holds", `Runs the reaper until SIGINT or SIGTERM: a sweep every HOLDFAST_SWEEP_EVERY
(orphans, holds that are over, owed undos, refunds) and a comparison of Redis
with the ledger every HOLDFAST_DIFF_EVERY, which repairs what it can prove.

Any number of them may run. With --once it makes one sweep and one comparison
and ends, for a schedule.`, func(h *house) func(context.Context) error { return h.reap })
	forever := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if once {
			return a.reapOnce(cmd, sales, asJSON)
		}
		if len(sales) > 0 || asJSON {
			return usage(cmd, "--sale and --json go with --once: a long-running reaper looks after every sale")
		}
		return forever(cmd, args)
	}
	cmd.Example = "  holdfast reap\n  holdfast reap --once --sale spring"
	cmd.Flags().BoolVar(&once, "once", false, "one sweep and one comparison")
	cmd.Flags().StringSliceVar(&sales, "sale", nil, "with --once: only these sales")
	cmd.Flags().BoolVar(&asJSON, "json", false, "with --once: for machines")
	return cmd
}

// reapOnce makes one sweep and one diff, as a schedule would.
func (a *app) reapOnce(cmd *cobra.Command, sales []string, asJSON bool) error {
	return a.heal(cmd, func(ctx context.Context, r *reaper.Reaper) error {
		swept, err := r.RunOnce(ctx, reaper.PassSweep, sales...)
		if err == nil {
			var diffed reaper.Report
			diffed, err = r.RunOnce(ctx, reaper.PassDiff, sales...)
			swept.Diffs = diffed.Diffs
		}
		if asJSON {
			if e := writeJSON(a.stdout, swept); err == nil {
				err = e
			}
			return err
		}
		if e := a.showSweeps(swept); err == nil {
			err = e
		}
		return err
	})
}

func (a *app) showSweeps(r reaper.Report) error {
	t := newTable(a.stdout, "SALE", "FOUND", "DONE", "CAPTURED", "POSTPONED", "FAILED", "LEFT", "DRIFT", "TOOK")
	ids := make([]string, 0, len(r.Sweeps))
	for id := range r.Sweeps {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	for _, id := range ids {
		s := r.Sweeps[id]
		var sum reaper.Tally
		for _, x := range []reaper.Tally{s.Pending, s.Holds, s.Undos, s.Refunds} {
			sum.Found, sum.Done, sum.Captured, sum.Postponed = sum.Found+x.Found, sum.Done+x.Done, sum.Captured+x.Captured, sum.Postponed+x.Postponed
		}
		t.row(id, sum.Found, sum.Done, sum.Captured, sum.Postponed, s.Failed(), s.Left(), r.Diffs[id].Open(), about(s.Took))
	}
	return t.end()
}
