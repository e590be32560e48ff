package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/operator"
)

func (a *app) bookingCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "booking", Short: "Show, find and cancel a booking", Args: cobra.ArbitraryArgs, RunE: group,
		Long: "One booking.\n\n  holdfast booking show BOOKING\n  echo CODE | holdfast booking find spring -\n  holdfast booking cancel BOOKING --reason 'double entry'",
	}
	cmd.AddCommand(a.bookingShow(), a.bookingFind(), a.bookingCancel())
	return cmd
}

func (a *app) bookingShow() *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use: "show BOOKING", Short: "Show a booking and its history", Args: exactly("BOOKING"),
		Long: "Shows a booking with every change of it: when, by whom and why. One whose event\nis still under way is shown as pending.",
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.desk(cmd, func(ctx context.Context, d *operator.Desk) error {
				b, err := d.Booking(ctx, args[0])
				if err != nil {
					return err
				}
				if asJSON {
					return writeJSON(a.stdout, docOf(b))
				}
				zone := time.UTC
				if plan, err := d.Plan(ctx, b.Sale); err == nil {
					zone = zoneOf(plan.Zone)
				}
				return printBooking(a.stdout, b, zone)
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "for machines")
	return cmd
}

func printBooking(out io.Writer, b ledger.Booking, zone *time.Location) error {
	t := newTable(out)
	t.row("booking", b.ID)
	t.row("sale", b.Sale)
	t.row("state", stateOf(b))
	t.row("level", b.Level)
	t.row("seats", strings.Join(b.Tokens(), " "))
	t.row("price", fmt.Sprintf("%d %s (minor units)", b.Price.AmountMinor, b.Price.Currency))
	t.row("payment", b.Payment)
	t.row("admitted", when(b.AdmittedAt, zone))
	t.row("hold until", when(b.HoldUntil, zone))
	if b.UndoOwed {
		t.row("owed", "its seats are still to be given back in Redis: the next sweep does that")
	}
	if b.Successor != "" {
		t.row("successor", b.Successor+" (a late payment got other seats)")
	}
	t.row("owner", b.Candidate)
	if err := t.end(); err != nil {
		return err
	}
	if len(b.History) == 0 {
		return nil
	}
	fmt.Fprintln(out, "\nhistory")
	t = newTable(out, "  WHEN", "CHANGE", "WHY", "BY")
	for _, c := range b.History {
		t.row("  "+when(c.At, zone), stateWord(c.From)+" -> "+stateWord(c.To), string(c.Reason), string(c.Actor))
	}
	return t.end()
}

func stateOf(b ledger.Booking) string {
	word := stateWord(b.State)
	switch b.State {
	case ledger.None:
		return "pending (admitted, its event is under way to the ledger)"
	case ledger.Released:
		return word + ": " + string(b.Reason)
	}
	return word
}

func stateWord(s ledger.State) string {
	if s == ledger.None {
		return "none"
	}
	return strings.ToLower(string(s))
}

func (a *app) bookingFind() *cobra.Command {
	var email string
	asJSON, withEnded := false, false
	cmd := &cobra.Command{
		Use: "find SALE CODE", Short: "Find a candidate's booking by code", Args: saleFirst("CODE"),
		Long: `Says whether a code is on the roster, what it may book and what it has booked.
With "-" for CODE it is read from standard input, so that it does not stay in the
shell's history. --ended also shows bookings that are over and what ended them; it
reads the whole ledger.`,
		Example: "  holdfast booking find spring - --email ann@example.org\n  holdfast booking find spring - --ended",
		RunE: func(cmd *cobra.Command, args []string) error {
			code, err := a.secretArgument(args[1])
			if err != nil {
				return err
			}
			return a.desk(cmd, func(ctx context.Context, d *operator.Desk) error {
				c, err := d.Lookup(ctx, args[0], code, email)
				if err != nil {
					return err
				}
				var ended []ledger.Booking
				if withEnded {
					if ended, err = d.Ended(ctx, args[0], c.Owner); err != nil {
						return err
					}
				}
				return a.showCandidate(c, ended, asJSON)
			})
		},
	}
	cmd.Flags().StringVar(&email, "email", "", "also say whether this e-mail is the roster's")
	cmd.Flags().BoolVar(&withEnded, "ended", false, "also show bookings that are over, the latest first")
	cmd.Flags().BoolVar(&asJSON, "json", false, "for machines")
	return cmd
}

// secretArgument is the argument, or for "-" the first line of standard input.
func (a *app) secretArgument(arg string) (string, error) {
	if arg != "-" {
		return arg, nil
	}
	line, err := bufio.NewReader(io.LimitReader(a.stdin, 1024)).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return "", fmt.Errorf("read the code from standard input: %w", err)
	}
	return line, nil
}

func (a *app) showCandidate(c operator.Candidate, ended []ledger.Booking, asJSON bool) error {
	if asJSON {
		return writeJSON(a.stdout, candidateDocOf(c, ended))
	}
	t := newTable(a.stdout)
	t.row("owner", c.Owner)
	t.row("on the roster", yesNo(c.OnRoster))
	if c.Email != nil {
		t.row("e-mail matches", yesNo(*c.Email))
	}
	if c.OnRoster {
		t.row("may book", anyOf(c.Levels))
	}
	if err := t.end(); err != nil {
		return err
	}
	all := ended
	if c.Booking == nil {
		fmt.Fprintln(a.stdout, "no live booking")
	} else {
		all = append([]ledger.Booking{*c.Booking}, ended...)
	}
	for _, b := range all {
		fmt.Fprintln(a.stdout)
		if err := printBooking(a.stdout, b, time.UTC); err != nil {
			return err
		}
	}
	return nil
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

func anyOf(levels []string) string {
	if len(levels) == 0 {
		return "any level"
	}
	return strings.Join(levels, ", ")
}

func (a *app) bookingCancel() *cobra.Command {
	return &cobra.Command{
		Use: "cancel BOOKING", Short: "End a paid booking and refund it", Args: exactly("BOOKING"),
		Long: `Ends a paid booking: its seats can be sold again, and its payment is refunded. A
held booking is released instead (holdfast hold release). Cancelled already is no
error. What the gateway can't do at once the sweeps do.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.act(cmd, func(ctx context.Context, d *operator.Desk, by operator.By) error {
				if err := d.CancelPaid(ctx, args[0], by); err != nil {
					return err
				}
				fmt.Fprintf(a.stdout, "booking %s is cancelled; its payment goes back\n", args[0])
				return nil
			})
		},
	}
}
