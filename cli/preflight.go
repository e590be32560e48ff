package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/operator"
)

func (a *app) preflightCommand() *cobra.Command {
	var crowd operator.Crowd
	asJSON := false
	cmd := &cobra.Command{
		Use: "preflight SALE", Short: "Look at the whole deployment just before a sale opens", Args: saleFirst(),
		Long: `What "sale check" looks at, and what a crowd would find out: a write that the
replica acknowledges, Redis's memory, the table and whether it can be recovered,
clocks, an empty queue, workers and reaper alive, no drift, the payment gateway,
the public address, and each part's limit for the expected crowd. It changes
nothing. Each line is ok, warn or fail, with what to do; exit code 1 if one
fails. "sale open" does not ask for it: only "sale check" keeps a sale closed.

Without --rate the crowd is five requests for four candidates within a minute.`,
		Example: "  holdfast preflight spring --rate 2000 --winners 400 --gateway-rate 500",
		RunE: func(cmd *cobra.Command, args []string) error {
			for name, v := range map[string]float64{"rate": crowd.Rate, "winners": crowd.Winners, "gateway-rate": crowd.GatewayRate, "redis-us": crowd.RedisMicros} {
				if v < 0 {
					return usage(cmd, "--%s can't be %v", name, v)
				}
			}
			return a.with(cmd, a.quietLog, func(ctx context.Context, h *house) error {
				checks, err := h.flight.Run(ctx, args[0], crowd)
				if err != nil {
					return err
				}
				if err := a.showChecks(checks, asJSON); err != nil {
					return err
				}
				if operator.Failed(checks) {
					return errShown
				}
				return nil
			})
		},
	}
	f := cmd.Flags()
	f.Float64Var(&crowd.Rate, "rate", 0, "booking requests in the busiest second; 0: guess")
	f.Float64Var(&crowd.Winners, "winners", 0, "bookings that it admits; 0: every request, up to the cap")
	f.Float64Var(&crowd.GatewayRate, "gateway-rate", 0, "payments a second that the gateway allows; 0: not known")
	f.Float64Var(&crowd.RedisMicros, "redis-us", 0, "microseconds of Redis's thread for one admission; 0: the cautious default")
	f.BoolVar(&asJSON, "json", false, "for machines")
	return cmd
}
