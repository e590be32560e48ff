package cli

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/load"
	"github.com/holdfast/holdfast/operator"
	"github.com/holdfast/holdfast/rehearsal"
	"github.com/holdfast/holdfast/sale"
)

// rehearsing is one run of holdfast rehearse.
type rehearsing struct {
	crowdFlags
	shape  rehearsal.Shape
	apart  time.Duration
	beside bool
	keep   bool
	clean  string
	force  bool
	grace  time.Duration
}

func (a *app) rehearseCommand() *cobra.Command {
	r := &rehearsing{}
	cmd := &cobra.Command{
		Use: "rehearse", Short: "Rehearse a whole sale on this deployment with people who do not exist", Args: exactly(),
		Long: `Makes a sale that is marked as a rehearsal (its id begins with "` + sale.RehearsalPrefix + `"), with
candidates who do not exist, opens it, sends the crowd at --target, lets it pay at
the sandbox, waits for rest, gives the verdict with the audit, and deletes the sale
with everything it left. It needs the deployment's HOLDFAST_... configuration, as
every operator's command does, and the target must be of that deployment.

It is safe beside a real sale: its keys, items and events are its own, and only
what bears the mark is ever deleted. But it shares Redis, queue, workers and
gateway, so it is refused while a real sale is open, or opens soon (--apart),
unless you say --beside; then keep the rate low. Where bookings pay at a gateway
that is not the sandbox, nobody pays and every hold runs out (--paying none).

If it fails, is interrupted, or with --keep, the sale stays, closed. Delete it with --clean ID; a
clean-up that broke off is finished by the same command.`,
		Example: `  holdfast rehearse --target https://seats.example.org --people 2000 --rate 100
  holdfast rehearse --seats --people 400 --report rehearsal.html
  holdfast rehearse --beside --rate 20 --pay-rate 5
  holdfast rehearse --clean rehearsal-20261130-1005`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if r.clean != "" {
				return a.cleanUp(cmd, r)
			}
			return a.rehearse(cmd, r)
		},
	}
	r.add(cmd, 50, defaultLength, 20)
	flags := cmd.Flags()
	flags.IntVar(&r.shape.People, "people", 1000, "candidates; there are as many seats for each as in the example sale, about one for two")
	flags.BoolVar(&r.shape.Seated, "seats", false, "named seats in sections and rows")
	flags.DurationVar(&r.shape.Hold, "hold", 30*time.Second, "how long an unpaid booking keeps its seats")
	flags.StringVar(&r.shape.ID, "id", "", "id of the sale (default: "+sale.RehearsalPrefix+" and the time)")
	flags.DurationVar(&r.apart, "apart", 30*time.Minute, "refuse if a real sale is open, or opens within")
	flags.BoolVar(&r.beside, "beside", false, "beside real sales that are open or about to")
	flags.BoolVar(&r.keep, "keep", false, "do not delete the sale afterwards")
	flags.StringVar(&r.clean, "clean", "", "delete this rehearsal, and do nothing else")
	flags.BoolVar(&r.force, "force", false, "with --clean: although something is under way")
	flags.DurationVar(&r.grace, "grace", rehearsal.DefaultGrace, "between closing the sale for good and deleting it")
	return cmd
}

// check completes and checks the flags.
func (r *rehearsing) check(cmd *cobra.Command, now time.Time) error {
	if r.shape.ID == "" {
		r.shape.ID = sale.RehearsalPrefix + now.UTC().Format("20060102-150405")
	}
	r.shape.Seed = r.seed
	switch {
	case !sale.IsRehearsal(r.shape.ID):
		return usage(cmd, "--id %q does not begin with %q, or is no id of a sale", r.shape.ID, sale.RehearsalPrefix)
	case r.shape.People < 1 || r.shape.People > mostPeople:
		return usage(cmd, "--people is 1 to %d", mostPeople)
	case r.shape.Hold < 5*time.Second || r.shape.Hold > time.Hour:
		return usage(cmd, "--hold is 5s to 1h")
	}
	return nil
}

// mostPeople bounds the roster of a rehearsal.
const mostPeople = 200_000

func (a *app) rehearse(cmd *cobra.Command, r *rehearsing) error {
	if err := r.check(cmd, a.now()); err != nil {
		return err
	}
	o, err := a.crowd(cmd, &r.crowdFlags)
	if err != nil {
		return err
	}
	if a.env("HOLDFAST_SANDBOX_URL") == "" {
		o.Paying = load.Paying{Abandon: 1}
	}
	scene, err := rehearsal.Set(r.shape, a.now())
	if err != nil {
		return err
	}
	by, err := a.by(cmd)
	if err != nil {
		return err
	}
	return a.with(cmd, a.quietLog, func(ctx context.Context, h *house) error {
		if !r.beside {
			if err := rehearsal.Apart(ctx, h.desk.Store, a.now(), r.apart); err != nil {
				return err
			}
		}
		err := a.play(ctx, r, h, scene, o, by)
		r.keep = r.keep || err != nil // somebody will want to look at it
		after := a.afterwards(ctx, r, h, by)
		if after != nil && errors.Is(err, errShown) {
			fmt.Fprintf(a.stderr, "holdfast: %v\n", after)
			return err
		}
		return errors.Join(err, after)
	})
}

// play puts the sale up, sends the crowd and gives the verdict.
func (a *app) play(ctx context.Context, r *rehearsing, h *house, scene *rehearsal.Scene, o load.Options, by operator.By) error {
	fmt.Fprintf(a.stderr, "%s: %d people, %d seats, %s at %s\n", r.shape.ID, len(scene.People), scene.Plan.TotalCap, o.Profile, o.BaseURL)
	if err := putUp(ctx, h.desk, scene, by); err != nil {
		return err
	}
	if _, err := load.Await(ctx, o.BaseURL, r.shape.ID, findWithin); err != nil {
		return fmt.Errorf("the target does not sell the rehearsal: is it of this deployment? %w", err)
	}
	sight, err := sightOf(h, scene.Plan)
	if err != nil {
		return err
	}
	o.Sale, o.People, o.Levels = r.shape.ID, scene.People, scene.Plan.LevelNames()
	if r.shape.Seated {
		seating := load.DefaultSeating
		seating.Hold = r.shape.Hold
		o.Seats = &seating
	}
	l := &loading{crowdFlags: r.crowdFlags}
	return a.loadAndJudge(ctx, l, o, sight)
}

// findWithin is how long the target may take to find a new sale.
const findWithin = 30 * time.Second

// putUp makes the sale, its roster, and opens it.
func putUp(ctx context.Context, d *operator.Desk, scene *rehearsal.Scene, by operator.By) error {
	if _, err := d.Apply(ctx, scene.Plan, by); err != nil {
		return err
	}
	rows := func() (iter.Seq2[sale.Row, error], error) { return scene.Rows(), nil }
	if _, err := d.ImportRoster(ctx, scene.Plan.ID, rows, operator.ImportOptions{}, nil, by); err != nil {
		return err
	}
	return d.Open(ctx, scene.Plan.ID, by)
}

// afterwards closes the sale, and deletes it if nobody wants to look at it. It
// does so after an interruption too, as far as that goes.
func (a *app) afterwards(ctx context.Context, r *rehearsing, h *house, by operator.By) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), r.grace+5*time.Minute)
	defer cancel()
	ids, err := h.desk.Store.Sales(ctx)
	if err != nil || !slices.Contains(ids, r.shape.ID) {
		return err // nothing was put up
	}
	if r.keep {
		err := h.desk.Close(ctx, r.shape.ID, by)
		fmt.Fprintf(a.stderr, "%s is closed and kept; delete it with: holdfast rehearse --clean %s\n", r.shape.ID, r.shape.ID)
		return err
	}
	return a.clean(ctx, h, r, r.shape.ID, by)
}

func (a *app) cleanUp(cmd *cobra.Command, r *rehearsing) error {
	return a.with(cmd, a.quietLog, func(ctx context.Context, h *house) error {
		by, err := a.by(cmd)
		if err != nil {
			return err
		}
		return a.clean(ctx, h, r, r.clean, by)
	})
}

func (a *app) clean(ctx context.Context, h *house, r *rehearsing, id string, by operator.By) error {
	fmt.Fprintf(a.stderr, "deleting %s; first %v of grace, for what processes still write down ...\n", id, r.grace)
	done, err := rehearsal.Clean(ctx, h.desk, id, rehearsal.CleanOptions{Force: r.force, Grace: r.grace}, by)
	if err != nil {
		return fmt.Errorf("%s is not deleted: %w", id, err)
	}
	fmt.Fprintf(a.stdout, "%s is deleted: %d keys, %d items of the ledger\n", id, done.Keys, done.Items)
	return nil
}
