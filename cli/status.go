package cli

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/operator"
	"github.com/holdfast/holdfast/sale"
)

func (a *app) saleStatus() *cobra.Command {
	var watch, asJSON bool
	var every time.Duration
	cmd := &cobra.Command{
		Use: "status SALE", Short: "Show how a sale stands", Args: saleFirst(),
		Long: `Shows per level the cap, what is held, paid and free, and of the held what is
not known to be in the ledger yet (pending); the queue, the last sweep, drift
between Redis and ledger, and the breaker.`,
		Example: "  holdfast sale status spring\n  holdfast sale status spring --watch",
		RunE: func(cmd *cobra.Command, args []string) error {
			if every < 100*time.Millisecond {
				return usage(cmd, "--every is at least 100ms")
			}
			return a.desk(cmd, func(ctx context.Context, d *operator.Desk) error {
				if watch {
					return a.watch(ctx, d, args[0], every, asJSON)
				}
				return a.showStatus(ctx, d, args[0], asJSON)
			})
		},
	}
	cmd.Flags().BoolVar(&watch, "watch", false, "show it again and again, until Ctrl-C")
	cmd.Flags().DurationVar(&every, "every", 2*time.Second, "how often, with --watch")
	cmd.Flags().BoolVar(&asJSON, "json", false, "for machines; with --watch one document a line")
	return cmd
}

func (a *app) showStatus(ctx context.Context, d *operator.Desk, saleID string, asJSON bool) error {
	v, err := d.View(ctx, saleID)
	if err != nil {
		return err
	}
	if asJSON {
		return writeJSON(a.stdout, v)
	}
	return printView(a.stdout, v, a.now())
}

// watch shows the status until ctx ends, which is how it is meant to end. A
// reading that fails is shown and tried again: watching goes on through a
// failover.
func (a *app) watch(ctx context.Context, d *operator.Desk, saleID string, every time.Duration, asJSON bool) error {
	if _, err := d.Plan(ctx, saleID); err != nil {
		return err
	}
	onTerminal := isTerminal(a.stdout)
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		var page strings.Builder
		v, err := d.View(ctx, saleID)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			fmt.Fprintf(&page, "can't be read, trying again: %v\n", err)
		case asJSON:
			err = writeLine(&page, v)
		default:
			err = printView(&page, v, a.now())
		}
		if err != nil && page.Len() == 0 {
			return err
		}
		if onTerminal {
			fmt.Fprint(a.stdout, "\x1b[H\x1b[2J")
		}
		if _, err := io.WriteString(a.stdout, page.String()); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

func printView(out io.Writer, v operator.View, now time.Time) error {
	zone := zoneOf(v.Zone)
	fmt.Fprintf(out, "%s  %s  %s\n", v.Sale, v.Title, standing(v))
	if sale.IsRehearsal(v.Sale) {
		fmt.Fprintf(out, "REHEARSAL: nobody in it exists; delete it with holdfast rehearse --clean %s\n", v.Sale)
	}
	fmt.Fprintf(out, "now %s, generation %d, %d on the roster, %d bookings\n\n", when(v.Now, zone), v.Gen, v.Roster, v.Bookings)
	t := newTable(out, "LEVEL", "   CAP", "  HELD", "  PAID", "  FREE", "PENDING", "")
	for _, l := range append(v.Levels, v.Total) {
		t.row(l.Name, num(l.Cap), num(l.Held), num(l.Paid), num(l.Free), fmt.Sprintf("%7d", l.Pending), soft(l))
	}
	if err := t.end(); err != nil {
		return err
	}
	fmt.Fprintln(out)
	t = newTable(out)
	t.row("queue", queueLine(v))
	t.row("oldest pending", about(time.Duration(v.OldestAge*float64(time.Second))))
	t.row("oldest hold", fmt.Sprintf("%s; %d are over", about(time.Duration(v.OldestHold*float64(time.Second))), v.DueHolds))
	t.row("last sweep", noteLine(v.Sweep, now))
	t.row("last diff", driftLine(v.Diff, now))
	if v.Breaker != "" {
		t.row("BREAKER", v.Breaker)
	}
	if i := v.CapChange; i != nil {
		t.row("CAP CHANGE", fmt.Sprintf("of %q to %d is half done: repeat it", i.Level, i.To))
	}
	return t.end()
}

// standing says in a few words whether the sale sells.
func standing(v operator.View) string {
	zone := zoneOf(v.Zone)
	switch {
	case v.Frozen:
		return "FROZEN: Redis is being filled, nobody is admitted"
	case v.Lost:
		return "LOST in Redis: run holdfast rebuild " + v.Sale
	case v.Foreign:
		return "CLOSED to this build, Redis keeps it in the form of another: replace all processes of that one, then run holdfast rebuild " + v.Sale
	case !v.Open:
		return "closed"
	case v.Selling:
		return "SELLING until " + when(v.ClosesAt, zone)
	case v.Now.Before(v.OpensAt):
		return "open, sells from " + when(v.OpensAt, zone) + ", in " + about(v.OpensAt.Sub(v.Now))
	}
	return "over since " + when(v.ClosesAt, zone)
}

func num(n int) string { return fmt.Sprintf("%6d", n) }

func soft(l operator.LevelView) string {
	if l.Soft == 0 {
		return ""
	}
	return fmt.Sprintf("%d being chosen", l.Soft)
}

func queueLine(v operator.View) string {
	if v.Queue == nil {
		return "can't be read: " + v.QueueError
	}
	line := fmt.Sprintf("%d waiting, %d in work", v.Queue.Waiting, v.Queue.InWork)
	if v.QueueAge != nil {
		line += ", oldest " + about(time.Duration(v.QueueAge.Counts["oldest_ms"])*time.Millisecond)
	}
	if v.Queue.Dead > 0 {
		line += fmt.Sprintf(", %d DEAD LETTERS (holdfast dlq list)", v.Queue.Dead)
	}
	return line
}

func noteLine(n *operator.Note, now time.Time) string {
	if n == nil {
		return "never (is holdfast reap running?)"
	}
	return about(now.Sub(n.At)) + " ago"
}

func driftLine(n *operator.Note, now time.Time) string {
	line := noteLine(n, now)
	if n == nil {
		return line
	}
	if open := n.Counts["open"]; open > 0 {
		return fmt.Sprintf("%s, DRIFT %d (holdfast repair --dry-run)", line, open)
	}
	return line + ", no drift"
}
