package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/load"
	"github.com/holdfast/holdfast/rehearsal"
	"github.com/holdfast/holdfast/sale"
)

// loading is one run of holdfast load.
type loading struct {
	crowdFlags
	sale   string
	roster string
	own    bool
	inside string
	seats  string
}

func (a *app) loadCommand() *cobra.Command {
	l := &loading{}
	cmd := &cobra.Command{
		Use: "load SALE --roster FILE", Short: "Send a crowd at a sale, and judge what comes of it", Args: saleFirst(),
		Long: `Sends booking requests at a rate, each when it is due: a server that stalls can't
slow the crowd down, and a latency counts from the instant at which its request
was due. The people come from a roster file; among them are impatient ones,
second tabs, wrong e-mails, guessed codes and bots (--mix). Who gets a seat pays
at the sandbox's page, pays late, fails, or walks away (--paying); who was told
that it is full comes back when seats do. With named seats people choose from the
map or ask for the best ones, change their minds, extend, give back, and book.

THIS BOOKS SEATS. It is for sales that are tests. A target that is not this
machine is refused, unless the sale is a marked rehearsal (holdfast rehearse) or
you say --i-own-this. A run is bounded to an hour and a million requests.

The verdict says what a client can see: that nobody got a wrong answer and that
every promised booking came to its end; with named seats that no seat was given
twice, no group was half held, and the map was true. If this machine has the
deployment's HOLDFAST_... configuration the caps are watched ten times a second
and the audit is made at the end; if not, the verdict says what it could not
judge. Exit code 0 only if everything that could be judged holds.

All requests come from this machine. A deployment counts requests for each
address (HOLDFAST_RATE_PER_CLIENT) and may have a rate rule in front: let it trust
this one as a proxy for the time of the test (HOLDFAST_TRUSTED_PROXIES), then each
person has an address of their own from 198.18.0.0/15, which is kept for tests.`,
		Example: `  holdfast load spring --roster roster.csv --rate 833 --for 60s --report load.html
  holdfast load spring --roster roster.csv --profile 50x10s,50..2000x20s,2000x10s
  holdfast load gala --roster people.csv --rate 200 --mix none --paying none
  holdfast load rehearsal-1 --roster people.csv --target https://seats.example.org`,
		RunE: func(cmd *cobra.Command, args []string) error {
			l.sale = args[0]
			return a.load(cmd, l)
		},
	}
	l.add(cmd, 50, defaultLength, 0)
	flags := cmd.Flags()
	flags.StringVar(&l.roster, "roster", "", "CSV file of candidates, as for roster import (required)")
	flags.BoolVar(&l.own, "i-own-this", false, "the target is mine, and the sale is for tests")
	flags.StringVar(&l.inside, "inside", "auto", "look at Redis and ledger by this machine's configuration: auto (if HOLDFAST_SECRET is set), yes, no")
	flags.StringVar(&l.seats, "seats", "auto", "choose named seats: auto (if the sale has them), yes, no")
	return cmd
}

func (a *app) load(cmd *cobra.Command, l *loading) error {
	o, err := a.crowd(cmd, &l.crowdFlags)
	if err != nil {
		return err
	}
	if l.roster == "" {
		return usage(cmd, "--roster FILE is missing: who shall come?")
	}
	for name, v := range map[string]string{"inside": l.inside, "seats": l.seats} {
		if v != "auto" && v != "yes" && v != "no" {
			return usage(cmd, "--%s is auto, yes or no, not %q", name, v)
		}
	}
	if err := mayLoad(o.BaseURL, l.sale, o.Profile.Peak(), l.own); err != nil {
		return err
	}
	if err := l.people(cmd.Context(), &o); err != nil {
		return err
	}
	if l.inside == "no" || l.inside == "auto" && a.env("HOLDFAST_SECRET") == "" {
		return a.loadAndJudge(cmd.Context(), l, o, nil)
	}
	return a.with(cmd, a.quietLog, func(ctx context.Context, h *house) error {
		plan, err := h.desk.Plan(ctx, l.sale)
		if err != nil {
			return err
		}
		sight, err := sightOf(h, plan)
		if err != nil {
			return err
		}
		return a.loadAndJudge(ctx, l, o, sight)
	})
}

// people asks the target what it sells, and reads who may come for it.
func (l *loading) people(ctx context.Context, o *load.Options) error {
	offer, err := load.Discover(ctx, o.BaseURL, l.sale)
	if err != nil {
		return err
	}
	o.Sale, o.Levels = l.sale, offer.Levels
	if len(offer.Seated) > 0 && l.seats != "no" {
		seating := load.DefaultSeating
		o.Seats, o.Levels = &seating, offer.Seated
	} else if l.seats == "yes" {
		return fmt.Errorf("sale %s has no named seats", l.sale)
	}
	file, err := os.ReadFile(l.roster)
	if err != nil {
		return err
	}
	all, err := rehearsal.ReadPeople(file, offer.Levels)
	if err != nil {
		return fmt.Errorf("%s: %w", l.roster, err)
	}
	if o.People = load.Only(all, o.Levels); len(o.People) == 0 {
		return fmt.Errorf("%s: nobody in it may book one of %s", l.roster, strings.Join(o.Levels, ", "))
	}
	return nil
}

// sightOf looks at the sale by this machine's access to the stores.
func sightOf(h *house, plan sale.Sale) (*rehearsal.Sight, error) {
	healers, err := h.healers()
	if err != nil {
		return nil, err
	}
	return &rehearsal.Sight{Desk: h.desk, Audit: healers.Auditor.AuditWith, Plan: plan}, nil
}

// loadAndJudge runs the crowd. A sight of nil is a look from outside.
func (a *app) loadAndJudge(ctx context.Context, l *loading, o load.Options, sight *rehearsal.Sight) error {
	judge := func(_ context.Context, r load.Result) ([]load.Check, error) {
		return append(load.Judge(r), notAudited), nil
	}
	if sight != nil {
		o.Probe, o.Rest, judge = sight.Probe, sight.Rest, sight.Judge
		if o.Seats != nil {
			o.Seats.Holders = sight.Holders()
		}
	}
	o.Progress = a.live(fmt.Sprintf("holdfast load %s at %s: %s", o.Sale, o.BaseURL, o.Profile))
	result, err := load.Run(ctx, o)
	if err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	stopped := err != nil
	if stopped {
		result.Watched = false // it was not seen to its end
		judge = func(_ context.Context, r load.Result) ([]load.Check, error) {
			return append(load.Judge(r), interrupted), nil
		}
	}
	checks, err := judge(ctx, result)
	if err != nil {
		return err
	}
	return a.finish(&l.crowdFlags, a.report("Load of "+o.Sale, o, result, checks))
}

// The checks of a run that could not make the audit.
var (
	notAudited = load.Check{Name: "audit: every invariant, Redis = ledger by id", NotJudged: true,
		Detail: "needs the operator's access: run holdfast audit where the deployment's configuration is"}
	interrupted = load.Check{Name: "the run went on to its end", Detail: "it was interrupted: bookings may still be held, and run out by themselves"}
)

// report is the page of a run.
func (a *app) report(title string, o load.Options, r load.Result, checks []load.Check) load.Report {
	facts := []load.Fact{
		{Name: "target", Value: o.BaseURL}, {Name: "sale", Value: o.Sale}, {Name: "profile", Value: o.Profile.String()},
		{Name: "requests", Value: fmt.Sprint(o.Profile.Requests())}, {Name: "people", Value: fmt.Sprint(len(o.People))},
		{Name: "mix", Value: o.Mix.String()}, {Name: "seed", Value: fmt.Sprint(o.Seed)}, {Name: "crowd took", Value: r.Crowd.String()},
	}
	return load.Report{Title: title, At: a.now(), Facts: facts, Result: r, Checks: checks}
}
