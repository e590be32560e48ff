package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/operator"
)

func (a *app) purgeCommand() *cobra.Command {
	var dryRun, yes, asJSON bool
	cmd := &cobra.Command{
		Use: "purge SALE", Short: "Forget the people of a sale that is over", Args: saleFirst(),
		Long: `Forgets who was on the roster and who booked: roster rows go, bookings get a
pseudonym of their own and lose every hash of a code, an e-mail, a key or an
input, and what is left of events in the inbox goes. Seats, times, prices,
payments and the trail stay, so counts and audit are what they were, and money
that comes late still finds its booking (it goes back).

It can't be undone, not even with the secret: export the list before. It is
refused while the sale is open, a hold lives, money is on its way or a decision
waits. The sale is frozen meanwhile and Redis filled anew; after a crash run it
again. Backups keep what they have until they run out (35 days).`,
		Example: "  holdfast export spring --roster roster.csv --out spring.csv\n  holdfast purge spring --dry-run\n  holdfast purge spring --yes --reason 'retention of 30 days is over'",
		RunE: func(cmd *cobra.Command, args []string) error {
			if dryRun == yes {
				return usage(cmd, "it can't be undone: look with --dry-run, then say --yes")
			}
			by, err := a.whyUnless(cmd, dryRun)
			if err != nil {
				return err
			}
			return a.with(cmd, a.quietLog, func(ctx context.Context, h *house) error {
				p, err := h.purge()
				if err != nil {
					return err
				}
				return a.purge(ctx, p, args[0], dryRun, asJSON, by)
			})
		},
	}
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "say what would be forgotten, change nothing")
	cmd.Flags().BoolVar(&yes, "yes", false, "forget it")
	cmd.Flags().BoolVar(&asJSON, "json", false, "for machines")
	return cmd
}

func (a *app) purge(ctx context.Context, p *operator.Purge, saleID string, dryRun, asJSON bool, by operator.By) error {
	bar := a.newProgress("purge")
	p.Progress = func(done, total int) { bar.show("bookings", done, total) }
	r, err := p.Run(ctx, saleID, dryRun, by)
	bar.end()
	if err != nil {
		return err
	}
	if asJSON {
		return writeJSON(a.stdout, r)
	}
	verb := "forgotten"
	if dryRun {
		verb = "would be forgotten"
	}
	if r.Nothing() {
		fmt.Fprintf(a.stdout, "sale %s: nobody is known\n", saleID)
		return nil
	}
	fmt.Fprintf(a.stdout, "sale %s: %d roster rows, the people of %d bookings and the details of %d inbox items %s\n", saleID, r.Roster, r.Bookings, r.Parked, verb)
	return nil
}
