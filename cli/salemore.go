package cli

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/operator"
)

func (a *app) saleTimes() *cobra.Command {
	var opens, closes string
	cmd := &cobra.Command{
		Use: "times SALE", Short: "Move the opening or closing time", Args: saleFirst(),
		Long: `Moves the times of a sale, also while it sells. Times carry their offset, so that
no zone is guessed. The next "sale apply" of its file sets the file's times again.`,
		Example: "  holdfast sale times spring --closes 2027-03-01T23:30:00+06:00 --reason 'the network was down for an hour'",
		RunE: func(cmd *cobra.Command, args []string) error {
			from, err := instant(cmd, "--opens", opens)
			if err != nil {
				return err
			}
			till, err := instant(cmd, "--closes", closes)
			if err != nil {
				return err
			}
			if from.IsZero() && till.IsZero() {
				return usage(cmd, "say --opens or --closes")
			}
			return a.act(cmd, func(ctx context.Context, d *operator.Desk, by operator.By) error {
				if err := d.SetTimes(ctx, args[0], from, till, by); err != nil {
					return err
				}
				plan, err := d.Plan(ctx, args[0])
				if err != nil {
					return err
				}
				zone := zoneOf(plan.Zone)
				fmt.Fprintf(a.stdout, "sale %s opens %s and closes %s\n", args[0], when(plan.OpensAt, zone), when(plan.ClosesAt, zone))
				return nil
			})
		},
	}
	cmd.Flags().StringVar(&opens, "opens", "", "opening time, such as 2027-03-01T10:00:00+06:00")
	cmd.Flags().StringVar(&closes, "closes", "", "closing time")
	return cmd
}

func instant(cmd *cobra.Command, flag, text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return t, usage(cmd, "%s: %q is no time with an offset, such as 2027-03-01T10:00:00+06:00", flag, text)
	}
	return t, nil
}

func (a *app) saleTotals() *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use: "totals SALE", Short: "Count the bookings by what became of them", Args: saleFirst(),
		Long: `Counts every booking in the ledger. Each is in exactly one count, so they sum up:
held, paid, and released by reason. Money that is on its way back is shown apart.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.desk(cmd, func(ctx context.Context, d *operator.Desk) error {
				t, err := d.Totals(ctx, args[0])
				if err != nil {
					return err
				}
				if asJSON {
					return writeJSON(a.stdout, t)
				}
				return a.showTotals(t)
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "for machines")
	return cmd
}

func (a *app) showTotals(x operator.Totals) error {
	t := newTable(a.stdout, "", "BOOKINGS", " SEATS", "AMOUNT (minor units)")
	count := func(name string, c operator.Count) {
		t.row(name, fmt.Sprintf("%8d", c.Bookings), num(c.Seats), fmt.Sprintf("%20d", c.AmountMinor))
	}
	count("held", x.Held)
	count("paid", x.Paid)
	for _, why := range sortedKeys(x.Released) {
		t.row("released: "+why, fmt.Sprintf("%8d", x.Released[why]))
	}
	t.row("all", fmt.Sprintf("%8d", x.Bookings))
	for _, step := range sortedKeys(x.Refunds) {
		t.row("refunds "+step, fmt.Sprintf("%8d", x.Refunds[step]))
	}
	if x.Review > 0 {
		t.row("payments in review", fmt.Sprintf("%8d", x.Review))
	}
	return t.end()
}

func sortedKeys(m map[string]int) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

func (a *app) saleTrail() *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use: "trail SALE", Short: "Show who did what to a sale, when and why", Args: saleFirst(),
		Long: "Shows every act of an operator on the sale, oldest first. What became of a booking\nis in its own history: holdfast booking show BOOKING.",
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.desk(cmd, func(ctx context.Context, d *operator.Desk) error {
				return a.showTrail(ctx, d, args[0], asJSON)
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "one document a line")
	return cmd
}

func (a *app) showTrail(ctx context.Context, d *operator.Desk, saleID string, asJSON bool) error {
	plan, err := d.Plan(ctx, saleID)
	if err != nil {
		return err
	}
	if asJSON {
		return d.Trail(ctx, saleID, func(e ledger.AuditEntry) error {
			return writeLine(a.stdout, map[string]any{"at": e.At.UTC(), "actor": e.Actor, "action": e.Action, "reason": e.Reason, "before": e.Before, "after": e.After})
		})
	}
	zone := zoneOf(plan.Zone)
	t := newTable(a.stdout, "WHEN", "WHO", "WHAT", "BEFORE", "AFTER", "WHY")
	err = d.Trail(ctx, saleID, func(e ledger.AuditEntry) error {
		t.row(when(e.At, zone), e.Actor, e.Action, e.Before, e.After, e.Reason)
		return nil
	})
	if err != nil {
		return err
	}
	return t.end()
}

func (a *app) saleList() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List all sales", Args: exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.desk(cmd, func(ctx context.Context, d *operator.Desk) error {
				ids, err := d.Sales(ctx)
				for _, id := range ids {
					fmt.Fprintln(a.stdout, id)
				}
				return err
			})
		},
	}
}
