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

func (a *app) repairCommand() *cobra.Command {
	dryRun, asJSON := false, false
	cmd := &cobra.Command{
		Use: "repair SALE", Short: "Mend what Redis and ledger can be shown to disagree in", Args: saleFirst(),
		Long: `Compares Redis with the ledger by id and repairs what it can prove; the rest is
listed, and alarmed when it is still there the next time. The reaper does the
same on its own; this is for looking (--dry-run) and for not waiting. Exit code
1 if differences stay.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			run := func(ctx context.Context, r *reaper.Reaper) error {
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
			}
			if dryRun {
				return a.heal(cmd, run)
			}
			return a.mend(cmd, args[0], "repair", run)
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
			return a.mend(cmd, args[0], "rebuild", func(ctx context.Context, r *reaper.Reaper) error {
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
