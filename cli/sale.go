package cli

import (
	"context"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/operator"
	"github.com/holdfast/holdfast/sale"
	"github.com/holdfast/holdfast/sale/salefile"
)

func (a *app) saleCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "sale", Short: "Apply, open, close and watch a sale", Args: cobra.ArbitraryArgs, RunE: group,
		Long: `What is sold, and when.

  holdfast sale apply spring.yaml --reason 'as the board decided'
  holdfast sale check spring
  holdfast sale open spring --reason 'as announced'
  holdfast sale status spring --watch
  holdfast sale caps spring N1 1300 --reason 'a bigger hall'`,
	}
	cmd.AddCommand(a.saleApply(), a.saleCheck(), a.saleOpen(), a.saleClose(), a.saleTimes(), a.saleCaps(), a.saleStatus(), a.saleTotals(), a.saleTrail(), a.saleList())
	return cmd
}

func (a *app) saleApply() *cobra.Command {
	return &cobra.Command{
		Use: "apply FILE", Short: "Make a sale what its file says", Args: exactly("FILE"),
		Long: `Reads a sale file and makes the sale so. A new sale is created, closed: import
its roster and open it. Of a sale that exists only what differs is changed, also
while it sells: title, times, price (for new bookings), ages, caps. What would
take something from somebody is refused, with every reason, and then nothing is
changed. The same file twice is one change; after a crash run it again.

Levels, kinds, named seats and the hold can change only while the sale is closed
and nobody has ever booked.

FILE may be "-" for standard input, or an https address.`,
		Example: "  holdfast sale apply spring.yaml --reason 'as the board decided'\n  holdfast sale apply - --reason 'a later opening' < spring.yaml",
		RunE: func(cmd *cobra.Command, args []string) error {
			plan, err := a.readSaleFile(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			if sale.IsRehearsal(plan.ID) {
				return fmt.Errorf("%s: the id %q is that of a rehearsal, which may be deleted at any time: choose another one, or use holdfast rehearse", sourceName(args[0]), plan.ID)
			}
			return a.act(cmd, func(ctx context.Context, d *operator.Desk, by operator.By) error {
				r, err := d.Apply(ctx, plan, by)
				if err != nil {
					return err
				}
				a.showApplied(plan, r)
				return nil
			})
		},
	}
}

func (a *app) readSaleFile(ctx context.Context, path string) (sale.Sale, error) {
	in, err := a.source(ctx, path)
	if err != nil {
		return sale.Sale{}, err
	}
	defer in.Close()
	plan, err := salefile.Parse(in)
	if err != nil {
		return plan, fmt.Errorf("%s: %w", sourceName(path), err)
	}
	return plan, nil
}

func (a *app) showApplied(plan sale.Sale, r operator.ApplyResult) {
	zone := zoneOf(plan.Zone)
	switch {
	case r.Created:
		fmt.Fprintf(a.stdout, "sale %s is created, closed: %d seats in %d levels\n", plan.ID, plan.TotalCap, len(plan.Levels))
		fmt.Fprintf(a.stdout, "  opens  %s\n  closes %s\n", when(plan.OpensAt, zone), when(plan.ClosesAt, zone))
		fmt.Fprintf(a.stdout, "next: holdfast roster import %s FILE.csv\n", plan.ID)
	case len(r.Changes) == 0:
		fmt.Fprintf(a.stdout, "sale %s: no change\n", plan.ID)
	default:
		fmt.Fprintf(a.stdout, "sale %s is changed:\n", plan.ID)
		for _, c := range r.Changes {
			fmt.Fprintf(a.stdout, "  %s\n", c)
		}
	}
}

func (a *app) saleCheck() *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use: "check SALE", Short: "Say whether a sale may be opened, and why not", Args: saleFirst(),
		Long: `Looks at everything that has to be right before a sale is opened: Redis, times,
caps, roster, queue, payment gateway. It changes nothing. Exit code 1 if a check
fails; a warning does not keep a sale closed.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.desk(cmd, func(ctx context.Context, d *operator.Desk) error {
				checks, err := d.Check(ctx, args[0])
				if err != nil {
					return err
				}
				if err := a.showChecks(checks, asJSON); err != nil {
					return err
				}
				for _, c := range checks {
					if c.Verdict == operator.Fail {
						return errShown
					}
				}
				return nil
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "for machines")
	return cmd
}

func (a *app) showChecks(checks []operator.Check, asJSON bool) error {
	if asJSON {
		return writeJSON(a.stdout, checks)
	}
	t := newTable(a.stdout)
	for _, c := range checks {
		t.row(string(c.Verdict), c.Name, c.Detail)
	}
	return t.end()
}

func (a *app) saleOpen() *cobra.Command {
	return &cobra.Command{
		Use: "open SALE", Short: "Let a sale sell from its opening time on", Args: saleFirst(),
		Long: `Opens the sale: from its opening time on candidates may book. It is refused,
with every reason, while a check fails (holdfast sale check).`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.act(cmd, func(ctx context.Context, d *operator.Desk, by operator.By) error {
				if err := d.Open(ctx, args[0], by); err != nil {
					return err
				}
				plan, err := d.Plan(ctx, args[0])
				if err != nil {
					return err
				}
				zone := zoneOf(plan.Zone)
				fmt.Fprintf(a.stdout, "sale %s is open: it sells from %s to %s\n", args[0], when(plan.OpensAt, zone), when(plan.ClosesAt, zone))
				return nil
			})
		},
	}
}

func (a *app) saleClose() *cobra.Command {
	return &cobra.Command{
		Use: "close SALE", Short: "Stop a sale at once", Args: saleFirst(),
		Long: `Closes the sale: nobody is admitted any more. Holds and payments that are under
way go on: what is paid in time stays sold.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.act(cmd, func(ctx context.Context, d *operator.Desk, by operator.By) error {
				if err := d.Close(ctx, args[0], by); err != nil {
					return err
				}
				fmt.Fprintf(a.stdout, "sale %s is closed\n", args[0])
				return nil
			})
		},
	}
}

// wholeSale names the total among the levels of the command caps.
const wholeSale = "total"

func (a *app) saleCaps() *cobra.Command {
	return &cobra.Command{
		Use: "caps SALE LEVEL N", Short: "Change the cap of a level, or the total", Args: saleFirst("LEVEL", "N"),
		Long: `Sets the cap of a level to N seats, also while the sale sells; with "total" for
LEVEL, how many seats of the whole sale are sold at most. A cap below the seats
in use is refused with the numbers. A total that is the sum of the levels
follows them.`,
		Example: "  holdfast sale caps spring N1 1300 --reason 'a bigger hall'\n  holdfast sale caps spring total 20000 --reason 'fire safety'",
		RunE: func(cmd *cobra.Command, args []string) error {
			n, err := strconv.Atoi(args[2])
			if err != nil || n < 0 {
				return usage(cmd, "%q is no number of seats", args[2])
			}
			level := args[1]
			if level == wholeSale {
				level = ""
			}
			return a.act(cmd, func(ctx context.Context, d *operator.Desk, by operator.By) error {
				r, err := d.SetCap(ctx, args[0], level, n, by)
				if err != nil {
					return err
				}
				fmt.Fprintf(a.stdout, "cap of %s is %d, %d of them in use\n", args[1], r.Cap, r.Used)
				return nil
			})
		},
	}
}
