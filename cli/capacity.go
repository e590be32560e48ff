package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/capacity"
)

// capacityCommand reads and opens nothing: it is arithmetic.
func (a *app) capacityCommand() *cobra.Command {
	in, size, asJSON := capacity.Defaults, "large", false
	cmd := &cobra.Command{
		Use: "capacity", Short: "Say what a deployment costs and where its limits are", Args: exactly(),
		Long: `Prints the bill of an idle month, that of the bookings, and each part's limit in
the busiest second, for the numbers given. It opens nothing; docs/capacity.md has
the model and its prices.

--redis-us is the one figure to measure: "redis-cli info commandstats" after a
rehearsal gives the time in scripts, divided by the booking requests. Alone an
admission takes 66 µs of the thread, in batches, which a crowd makes, 9 to 14.`,
		Example: "  holdfast capacity --bookings 1e6 --attempts 5 --rate 2000 --winners 400 --size large",
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, ok := capacity.Sizes[size]
			if !ok {
				return usage(cmd, "there is no size %q: choose small or large", size)
			}
			if err := in.Check(); err != nil {
				return usage(cmd, "--%v", err)
			}
			if asJSON {
				return writeJSON(a.stdout, map[string]any{"idle_month": capacity.Idle(s), "bookings": capacity.Usage(in), "limits": capacity.Limits(in), "reach": capacity.ReachOf(in)})
			}
			a.showCapacity(in, size, s)
			return nil
		},
	}
	f := cmd.Flags()
	f.Float64Var(&in.Bookings, "bookings", in.Bookings, "paid bookings in a month")
	f.Float64Var(&in.Attempts, "attempts", in.Attempts, "booking requests for each of them")
	f.Float64Var(&in.Polls, "polls", in.Polls, "requests of pages and status for each of them")
	f.Float64Var(&in.Sales, "sales", in.Sales, "sales that open in the same second, each with this rate and these winners")
	f.Float64Var(&in.Rate, "rate", in.Rate, "booking requests in the busiest second")
	f.Float64Var(&in.Winners, "winners", in.Winners, "bookings that the busiest second admits")
	f.Float64Var(&in.GatewayRate, "gateway-rate", in.GatewayRate, "payments a second that the gateway allows; 0: not known")
	f.Float64Var(&in.RedisMicros, "redis-us", in.RedisMicros, "microseconds of Redis's thread for one admission")
	f.StringVar(&size, "size", size, "small or large")
	f.BoolVar(&asJSON, "json", false, "for machines")
	return cmd
}

func (a *app) showCapacity(in capacity.Input, name string, s capacity.Size) {
	fmt.Fprintf(a.stdout, "per month, whether anything is sold or not (%s)\n", name)
	a.showBill(capacity.Idle(s))
	fmt.Fprintf(a.stdout, "\nfor %.0f bookings\n", in.Bookings)
	a.showBill(capacity.Usage(in))
	fmt.Fprintf(a.stdout, "\nthe busiest second: %.0f requests, %.0f admitted; sales: %.0f\n", in.Rate, in.Winners, in.Sales)
	for _, l := range capacity.Limits(in) {
		words := string(l.Verdict)
		if l.Verdict != capacity.Enough {
			words += ": " + l.Otherwise
		}
		fmt.Fprintf(a.stdout, "  %-36s %8.0f of %8.0f %-14s %s\n", l.Part, l.Need, l.Have, l.Unit, words)
	}
	r := capacity.ReachOf(in)
	fmt.Fprintln(a.stdout, "\nhow far it goes, planned with 70 % of each limit")
	fmt.Fprintf(a.stdout, "  %-36s %8.0f requests/s\n", "one sale", r.SaleRate)
	fmt.Fprintf(a.stdout, "  %-36s %8.3g such sales at once\n", "one shard of Redis", r.SalesPerShard)
	fmt.Fprintf(a.stdout, "  %-36s %8.0f shards\n", fmt.Sprintf("sales: %.0f", in.Sales), r.Shards)
	fmt.Fprintf(a.stdout, "  %-36s %8.0f bookings/s of all sales, the table warmed\n", "one region", r.RegionWinners)
}

func (a *app) showBill(bill []capacity.Cost) {
	for _, c := range bill {
		fmt.Fprintf(a.stdout, "  %-52s %10.2f USD\n", c.What, c.USD)
	}
	fmt.Fprintf(a.stdout, "  %-52s %10.2f USD\n", "together", capacity.Sum(bill))
}
