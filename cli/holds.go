package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/lifecycle"
	"github.com/holdfast/holdfast/operator"
)

func (a *app) holdCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "hold", Short: "List and release unpaid bookings", Args: cobra.ArbitraryArgs, RunE: group,
		Long: "Unpaid bookings.\n\n  holdfast hold list spring\n  holdfast hold release BOOKING --reason 'asked by telephone'",
	}
	cmd.AddCommand(a.holdList(), a.holdRelease())
	return cmd
}

func (a *app) holdList() *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use: "list SALE", Short: "List the unpaid bookings, oldest first", Args: saleFirst(),
		Long: `Lists every unpaid booking with its age and what is left of its hold. OWNER is
the beginning of the candidate's hash; find a candidate by code with
"holdfast booking find". PENDING: admitted, and not known to be in the ledger yet.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.desk(cmd, func(ctx context.Context, d *operator.Desk) error {
				if asJSON {
					return d.Holds(ctx, args[0], func(h operator.Hold) error {
						return writeLine(a.stdout, struct {
							operator.Hold
							AgeSeconds float64 `json:"age_seconds"`
						}{h, h.Age.Seconds()})
					})
				}
				return a.listHolds(ctx, d, args[0])
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "one document a line")
	return cmd
}

func (a *app) listHolds(ctx context.Context, d *operator.Desk, saleID string) error {
	t := newTable(a.stdout, "BOOKING", "LEVEL", "SEATS", "STATE", "AGE", "LEFT", "OWNER")
	n := 0
	err := d.Holds(ctx, saleID, func(h operator.Hold) error {
		n++
		left := about(h.HoldUntil.Sub(a.now()))
		t.row(h.BookingID, h.Level, strings.Join(h.Seats, " "), string(h.State), about(h.Age), left, short(h.Owner))
		return nil
	})
	if err != nil {
		return err
	}
	if n == 0 {
		fmt.Fprintf(a.stdout, "sale %s has no unpaid booking\n", saleID)
		return nil
	}
	return t.end()
}

// short is enough of a hash to tell owners apart, and too little for a key.
func short(owner string) string { return owner[:min(8, len(owner))] }

func (a *app) holdRelease() *cobra.Command {
	return &cobra.Command{
		Use: "release BOOKING", Short: "Give one unpaid booking back", Args: exactly("BOOKING"),
		Long: `Gives an unpaid booking back, after asking the payment gateway: its seats can be
sold again at once. A payment that was faster wins; cancel the booking then.
Released already is no error.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.act(cmd, func(ctx context.Context, d *operator.Desk, by operator.By) error {
				out, err := d.ReleaseHold(ctx, args[0], by)
				if err != nil {
					return err
				}
				switch out {
				case lifecycle.Released:
					fmt.Fprintf(a.stdout, "booking %s is released\n", args[0])
				case lifecycle.AlreadyReleased:
					fmt.Fprintf(a.stdout, "booking %s was released already\n", args[0])
				case lifecycle.AlreadyPaid:
					return fmt.Errorf("booking %s is paid: to end it and refund the money run: holdfast booking cancel %s", args[0], args[0])
				default:
					return fmt.Errorf("booking %s is not released: its payment is just under way or the gateway can't say: try again in a few seconds", args[0])
				}
				return nil
			})
		},
	}
}
