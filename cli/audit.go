package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/reaper"
)

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
