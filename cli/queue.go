package cli

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/events/fifo"
	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/operator"
)

func (a *app) dlqCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "dlq", Short: "Look at dead letters and send them back", Args: cobra.ArbitraryArgs, RunE: group,
		Long: `Events that could not be handled: parked with a reason, or given up by the queue
after its retries. Mend the cause first, then send them back.

  holdfast dlq list
  holdfast dlq redrive --limit 100 --reason 'the table is back'`,
	}
	cmd.AddCommand(a.dlqList(), a.dlqRedrive())
	return cmd
}

func (a *app) dlqList() *cobra.Command {
	limit, asJSON := 100, false
	cmd := &cobra.Command{
		Use: "list", Short: "List dead letters and why they died", Args: exactly(),
		Long: "Shows dead letters and gives them all back. Of one candidate with more than ten of\nthem it may show only the first ones.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if limit < 1 {
				return usage(cmd, "--limit is at least 1")
			}
			return a.with(cmd, a.quietLog, func(ctx context.Context, h *house) error {
				letters, err := h.dead.DeadLetters(ctx, limit)
				if err != nil {
					return err
				}
				return a.showLetters(letters, asJSON)
			})
		},
	}
	cmd.Flags().IntVar(&limit, "limit", 100, "how many at most")
	cmd.Flags().BoolVar(&asJSON, "json", false, "one document a line")
	return cmd
}

// letterDoc is a dead letter without its body: that has hashes only, but nobody
// needs it to decide.
type letterDoc struct {
	MessageID string    `json:"message_id"`
	Type      string    `json:"type"`
	Sale      string    `json:"sale"`
	BookingID string    `json:"booking_id"`
	SentAt    time.Time `json:"sent_at"`
	Reason    string    `json:"reason"`
}

func (a *app) showLetters(letters []fifo.DeadLetter, asJSON bool) error {
	if len(letters) == 0 && !asJSON {
		fmt.Fprintln(a.stdout, "no dead letters")
		return nil
	}
	t := newTable(io.Discard)
	if !asJSON {
		t = newTable(a.stdout, "TYPE", "SALE", "BOOKING", "AGE", "REASON")
	}
	for _, l := range letters {
		doc := letterDoc{l.Meta.MessageID, string(l.Event.Type), l.Event.Sale, l.Event.BookingID, l.Meta.SentAt.UTC(), l.Reason}
		if l.Undecodable != nil {
			doc.Type, doc.Reason = "undecodable", fmt.Sprintf("%s: %v", l.Reason, l.Undecodable)
		}
		if asJSON {
			if err := writeLine(a.stdout, doc); err != nil {
				return err
			}
			continue
		}
		t.row(doc.Type, doc.Sale, doc.BookingID, about(a.now().Sub(l.Meta.SentAt)), doc.Reason)
	}
	return t.end()
}

func (a *app) dlqRedrive() *cobra.Command {
	limit := 0
	cmd := &cobra.Command{
		Use: "redrive", Short: "Send dead letters back into the queue", Args: exactly(),
		Long: `Sends dead letters back to be handled again. Events that came meanwhile do no
harm: a seat that was released stays released, and money that was taken ends as a
seat or a refund. Safe to repeat.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if limit < 0 {
				return usage(cmd, "--limit is not negative; 0 sends all of them back")
			}
			by, err := a.why(cmd)
			if err != nil {
				return err
			}
			return a.with(cmd, a.quietLog, func(ctx context.Context, h *house) error {
				if err := noteRedrive(ctx, h, by, limit); err != nil {
					return err
				}
				bar := a.newProgress("redrive")
				done, err := h.dead.Redrive(ctx, limit, func(n int) { bar.show("moving", n, limit) })
				bar.end()
				switch {
				case done.Task != "":
					fmt.Fprintln(a.stdout, "the queue moves them by itself; holdfast sale status shows how many are left")
				default:
					fmt.Fprintf(a.stdout, "%d sent back, %d stay\n", done.Moved, done.Held)
				}
				return err
			})
		},
	}
	cmd.Flags().IntVar(&limit, "limit", 0, "how many at most; 0: all")
	return cmd
}

// noteRedrive writes into the trail of every sale, because the dead letters are
// those of all.
func noteRedrive(ctx context.Context, h *house, by operator.By, limit int) error {
	ids, err := h.desk.Sales(ctx)
	if err != nil {
		return err
	}
	most := "all of them"
	if limit > 0 {
		most = fmt.Sprintf("at most %d", limit)
	}
	return h.note(ctx, ledger.AuditEntry{Actor: by.Actor, Action: "redrive of dead letters", Reason: by.Reason, After: most}, ids...)
}
