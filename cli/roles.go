package cli

import (
	"context"

	"github.com/spf13/cobra"
)

// roles are the long-running commands.
func (a *app) roles() []*cobra.Command {
	serve := a.role("serve", "Take bookings over HTTP", `Runs the ingress until SIGINT or SIGTERM: bookings, payment returns, webhooks and
status on HOLDFAST_LISTEN; the operators' API, health and metrics on
HOLDFAST_OPERATOR_LISTEN. It refuses to start on a Redis that could lose or
resell seats. At the end it finishes the bookings that are under way.

Any number of them may run.`, func(h *house) func(context.Context) error { return h.serve })
	work := a.role("work", "Write bookings and payments to the ledger", `Runs a worker until SIGINT or SIGTERM: it takes events from the queue and writes
them to the ledger, HOLDFAST_WORKERS candidates at once. At the end it finishes
the events that it took; the others go to other workers.

Any number of them may run. Kill one: nothing is lost.`, func(h *house) func(context.Context) error { return h.work })
	return []*cobra.Command{serve, work, a.reapCommand()}
}

func (a *app) role(name, short, long string, pick func(*house) func(context.Context) error) *cobra.Command {
	return &cobra.Command{
		Use: name, Short: short, Long: long, Args: exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.with(cmd, a.roleLog, func(ctx context.Context, h *house) error { return pick(h)(ctx) })
		},
	}
}
