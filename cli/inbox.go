package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/operator"
)

func (a *app) inboxCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "inbox", Short: "Deal with payments and events that need a person", Args: cobra.ArbitraryArgs, RunE: group,
		Long: `What nothing could be made of, and money that does not rest: payments under review
because amount, currency or payee differ, refunds under way.

  holdfast inbox list spring
  holdfast inbox accept spring PAYMENT --reason 'the fee was put right by hand'
  holdfast inbox resolve spring ITEM --refund --reason 'paid for another exam'`,
	}
	cmd.AddCommand(a.inboxList(), a.inboxAccept(), a.inboxResolve())
	return cmd
}

func (a *app) inboxList() *cobra.Command {
	all, asJSON := false, false
	cmd := &cobra.Command{
		Use: "list SALE", Short: "List what waits for a person", Args: saleFirst(),
		Long: "Lists parked items that nobody has dealt with, and payments that do not rest.",
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.desk(cmd, func(ctx context.Context, d *operator.Desk) error {
				lines, err := inboxLines(ctx, d, args[0], all)
				if err != nil {
					return err
				}
				return a.showInbox(args[0], lines, asJSON)
			})
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "also what was dealt with")
	cmd.Flags().BoolVar(&asJSON, "json", false, "one document a line")
	return cmd
}

// inboxLine is one thing that waits for a person.
type inboxLine struct {
	ID      string    `json:"id"` // of a payment: gateway:id
	Kind    string    `json:"kind"`
	Payment string    `json:"payment,omitempty"`
	Booking string    `json:"booking_id,omitempty"`
	Reason  string    `json:"reason"`
	Detail  string    `json:"detail,omitempty"`
	At      time.Time `json:"at"`
	Done    bool      `json:"done"`
	DoneBy  string    `json:"done_by,omitempty"`
}

func inboxLines(ctx context.Context, d *operator.Desk, saleID string, all bool) ([]inboxLine, error) {
	var lines []inboxLine
	err := d.Inbox(ctx, saleID, func(it ledger.InboxItem) error {
		if all || !it.Done {
			lines = append(lines, inboxLine{it.ID, "parked", it.Payment.String(), "", it.Reason, it.Detail, it.At.UTC(), it.Done, string(it.DoneBy)})
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	money, err := d.OpenPayments(ctx, saleID)
	for _, m := range money {
		p := m.Payment
		lines = append(lines, inboxLine{ID: p.Key.String(), Kind: "payment", Payment: p.Key.String(), Booking: p.BookingID, Reason: m.Why, At: p.At.UTC(),
			Detail: fmt.Sprintf("%d %s", p.AmountMinor, p.Currency)})
	}
	return lines, err
}

func (a *app) showInbox(saleID string, lines []inboxLine, asJSON bool) error {
	if asJSON {
		for _, l := range lines {
			if err := writeLine(a.stdout, l); err != nil {
				return err
			}
		}
		return nil
	}
	if len(lines) == 0 {
		fmt.Fprintf(a.stdout, "nothing of sale %s waits for a person\n", saleID)
		return nil
	}
	t := newTable(a.stdout, "ITEM", "KIND", "PAYMENT", "AGE", "REASON", "")
	for _, l := range lines {
		done := ""
		if l.Done {
			done = "done by " + l.DoneBy
		}
		t.row(l.ID, l.Kind, l.Payment, about(a.now().Sub(l.At)), l.Reason, done)
	}
	return t.end()
}

func (a *app) inboxAccept() *cobra.Command {
	return &cobra.Command{
		Use: "accept SALE PAYMENT", Short: "Let a payment under review pay its booking", Args: saleFirst("PAYMENT"),
		Long: `Takes a payment under review (gateway:id) as it is, though it differs from its
booking: the booking is paid. Only while that is held; afterwards the money can
only go back (inbox resolve --refund). Safe to repeat.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			key, ok := ledger.ParsePaymentKey(args[1])
			if !ok {
				return usage(cmd, "%q is no payment: it is named gateway:id, as inbox list shows it", args[1])
			}
			return a.act(cmd, func(ctx context.Context, d *operator.Desk, by operator.By) error {
				if err := d.AcceptReviewed(ctx, args[0], key, by); err != nil {
					return err
				}
				fmt.Fprintf(a.stdout, "payment %s pays its booking\n", key)
				return nil
			})
		},
	}
}

func (a *app) inboxResolve() *cobra.Command {
	refund := false
	cmd := &cobra.Command{
		Use: "resolve SALE ITEM", Short: "Close an item, with --refund by paying the money back", Args: saleFirst("ITEM"),
		Long: `Closes an item of the inbox: somebody has dealt with it. With --refund its payment,
which must be under review, goes back first. ITEM may also be a payment under
review (gateway:id). Safe to repeat.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.act(cmd, func(ctx context.Context, d *operator.Desk, by operator.By) error {
				if err := resolve(ctx, d, args[0], args[1], refund, by); err != nil {
					return err
				}
				fmt.Fprintf(a.stdout, "item %s is dealt with\n", args[1])
				return nil
			})
		},
	}
	cmd.Flags().BoolVar(&refund, "refund", false, "pay the money back")
	return cmd
}

// resolve takes a payment that stands in no parked item by its own name.
func resolve(ctx context.Context, d *operator.Desk, saleID, item string, refund bool, by operator.By) error {
	err := d.Resolve(ctx, saleID, item, refund, by)
	key, isPayment := ledger.ParsePaymentKey(item)
	if !refund || !isPayment || !isCode(err, operator.CodeUnknownItem) {
		return err
	}
	return d.RefundReviewed(ctx, saleID, key, by)
}
