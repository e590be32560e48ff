package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/reaper"
)

// heal runs one of the healers.
func (a *app) heal(cmd *cobra.Command, act func(ctx context.Context, r *reaper.Reaper) error) error {
	return a.with(cmd, a.quietLog, func(ctx context.Context, h *house) error {
		healers, err := h.healers()
		if err != nil {
			return err
		}
		return act(ctx, healers)
	})
}

func (a *app) auditCommand() *cobra.Command {
	asJSON, atRest := false, false
	cmd := &cobra.Command{
		Use: "audit SALE", Short: "Check that every promise holds", Args: saleFirst(),
		Long: `Reads ledger, Redis and gateways and checks every invariant: caps, one booking for
each candidate, no seat lost, every payment a seat or a refund. It changes
nothing and may run on a sale that sells: what moved while it was read is read
again. Exit code 0 only if everything holds.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.heal(cmd, func(ctx context.Context, r *reaper.Reaper) error {
				res, err := r.Auditor.AuditWith(ctx, args[0], reaper.AuditOptions{AtRest: atRest})
				if err != nil {
					return err
				}
				if asJSON {
					err = writeJSON(a.stdout, res)
				} else {
					err = a.showAudit(res)
				}
				if err == nil && !res.OK {
					return errShown
				}
				return err
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "for machines")
	cmd.Flags().BoolVar(&atRest, "at-rest", false, "also check what holds only when nothing is under way")
	return cmd
}

func (a *app) showAudit(r reaper.AuditResult) error {
	verdict := "every promise holds"
	switch {
	case r.Frozen:
		verdict = "NOT JUDGED: Redis is lost or being rebuilt (holdfast rebuild " + r.Sale + ")"
	case !r.OK:
		verdict = fmt.Sprintf("%d VIOLATIONS", len(r.Violations))
	}
	fmt.Fprintf(a.stdout, "sale %s: %s\n", r.Sale, verdict)
	t := newTable(a.stdout)
	for _, v := range r.Violations {
		t.row("  "+v.Invariant, v.ID, v.Detail)
	}
	var counts []string
	for state, n := range r.Bookings {
		counts = append(counts, fmt.Sprintf("%d %s", n, strings.ToLower(state)))
	}
	slices.Sort(counts)
	t.row("bookings", strings.Join(counts, ", "))
	t.row("in Redis", r.InRedis)
	t.row("captured", r.Captured)
	for _, n := range r.NotJudged {
		t.row("not judged", n)
	}
	for _, w := range r.Work {
		t.row("open: "+w.Kind, w.ID, w.Detail)
	}
	t.row("took", about(r.Took))
	return t.end()
}

func (a *app) repairCommand() *cobra.Command {
	dryRun, asJSON := false, false
	cmd := &cobra.Command{
		Use: "repair SALE", Short: "Mend what Redis and ledger can be shown to disagree in", Args: saleFirst(),
		Long: `Compares Redis with the ledger by id and repairs what it can prove; the rest is
listed, and alarmed when it is still there the next time. The reaper does the
same on its own; this is for looking (--dry-run) and for not waiting. Exit code
1 if differences stay.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.heal(cmd, func(ctx context.Context, r *reaper.Reaper) error {
				res, err := r.Repairer.Repair(ctx, args[0], dryRun)
				if err != nil {
					return err
				}
				if asJSON {
					err = writeJSON(a.stdout, res)
				} else {
					err = a.showDiff(res)
				}
				if err == nil && (res.Open() > 0 || res.Frozen) {
					return errShown
				}
				return err
			})
		},
	}
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "say what differs, change nothing")
	cmd.Flags().BoolVar(&asJSON, "json", false, "for machines")
	return cmd
}

func (a *app) showDiff(r reaper.DiffResult) error {
	if r.Frozen {
		fmt.Fprintf(a.stdout, "sale %s is frozen, nothing was compared: run holdfast rebuild %s\n", r.Sale, r.Sale)
		return nil
	}
	fmt.Fprintf(a.stdout, "sale %s: %d bookings in Redis, %d live in the ledger, ", r.Sale, r.Records, r.Live)
	if r.Clean() {
		fmt.Fprintln(a.stdout, "no drift")
		return nil
	}
	fmt.Fprintln(a.stdout, "drift:")
	t := newTable(a.stdout, "  KIND", "FOUND", "REPAIRED", "EXAMPLES")
	kinds := make([]string, 0, len(r.Drift))
	for k := range r.Drift {
		kinds = append(kinds, string(k))
	}
	slices.Sort(kinds)
	for _, k := range kinds {
		d := r.Drift[reaper.Kind(k)]
		t.row("  "+k, d.Count, d.Repaired, strings.Join(d.Examples, " "))
	}
	if r.Failed > 0 {
		t.row("  could not be read", r.Failed, 0, "")
	}
	return t.end()
}

func (a *app) rebuildCommand() *cobra.Command {
	var o reaper.RebuildOptions
	asJSON := false
	cmd := &cobra.Command{
		Use: "rebuild SALE", Short: "Fill a lost Redis from the ledger", Args: saleFirst(),
		Long: `Freezes the sale, waits until the queue is empty, and loads Redis from the ledger
under a new generation: levels, roster, every live booking. Until it is done
nobody is admitted; who has a booking keeps it. After a crash run it again.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.heal(cmd, func(ctx context.Context, r *reaper.Reaper) error {
				bar := a.newProgress("rebuild")
				o.Progress = func(p reaper.RebuildProgress) {
					bar.show(strings.TrimSpace(string(p.Step)+" "+p.Detail), p.Done, p.Total)
				}
				res, err := r.Rebuilder.Rebuild(ctx, args[0], o)
				bar.end()
				if err != nil {
					return err
				}
				if asJSON {
					return writeJSON(a.stdout, res)
				}
				fmt.Fprintf(a.stdout, "sale %s is rebuilt as generation %d in %s: %d candidates, %d bookings with %d seats, %d events replayed\n",
					res.Sale, res.Gen, about(res.Took), res.Roster, res.Live, res.Seats, res.Replayed)
				return a.showDiff(res.Diff)
			})
		},
	}
	cmd.Flags().DurationVar(&o.DrainMax, "drain-max", reaper.DefaultDrainMax, "how long to wait for the queue")
	cmd.Flags().BoolVar(&o.SkipDrain, "skip-drain", false, "do not wait: whose event is still in the queue may lose the seat to somebody else")
	cmd.Flags().BoolVar(&asJSON, "json", false, "for machines")
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
