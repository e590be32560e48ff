package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/holdfast/holdfast/examples"
	"github.com/holdfast/holdfast/load"
	"github.com/holdfast/holdfast/sale"
	"github.com/holdfast/holdfast/sale/roster"
	"github.com/holdfast/holdfast/sale/roster/rostergen"
	"github.com/holdfast/holdfast/sale/salefile"
)

const rehearsalSale = "rehearsal"

// rehearsal is the main job on real input: what runs, and with whom.
type rehearsal struct {
	size     int // candidates; 0: the 40,000 of the messy example roster
	requests int // 0: five for four candidates
	rate     float64
	hold     time.Duration
	seed     uint64
	gateway  string
	report   string // JSON file; "": none

	plan   sale.Sale
	roster []byte // CSV or gzipped CSV
	people []load.Person
}

// rehearse runs the whole pipeline on real input and judges it. The error is
// not nil unless every check of the verdict holds.
func rehearse(ctx context.Context, args []string, out io.Writer) error {
	var r rehearsal
	flags := flag.NewFlagSet("rehearse", flag.ContinueOnError)
	flags.SetOutput(out)
	flags.IntVar(&r.size, "roster", 0, "candidates; 0 takes the messy example roster of 40,000")
	flags.IntVar(&r.requests, "requests", 0, "booking requests; 0 is five for four candidates")
	flags.Float64Var(&r.rate, "rate", 833, "booking requests per second, open loop")
	flags.DurationVar(&r.hold, "hold", 20*time.Second, "how long an unpaid booking keeps its seat")
	flags.Uint64Var(&r.seed, "seed", 1, "the crowd's seed")
	flags.StringVar(&r.gateway, "gateway", "page", "page (money moves there) or execute (money moves when we say so)")
	flags.StringVar(&r.report, "report", "", "file for the result as JSON")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if err := r.prepare(); err != nil {
		return err
	}
	t, err := openTown(ctx, townOptions{public: "127.0.0.1:0", operator: "127.0.0.1:0", workers: 1, env: map[string]string{
		"HOLDFAST_TRUSTED_PROXIES": "127.0.0.1/32", // the crowd says from where each person comes
		"HOLDFAST_SWEEP_EVERY":     "2s", "HOLDFAST_DIFF_EVERY": "15s", "HOLDFAST_GATEWAY": r.gateway, "HOLDFAST_LOG_LEVEL": "warn",
	}}, out)
	if err != nil {
		return err
	}
	err = r.run(ctx, t, out)
	return errors.Join(err, t.close(context.WithoutCancel(ctx)))
}

// prepare makes sale, roster and people.
func (r *rehearsal) prepare() error {
	var err error
	if r.plan, err = salefile.Parse(bytes.NewReader(examples.SpringYAML)); err != nil {
		return err
	}
	r.roster = examples.MessyRoster
	if r.size > 0 {
		if err := r.scale(); err != nil {
			return err
		}
	}
	if err := r.readPeople(); err != nil {
		return err
	}
	if r.requests == 0 {
		r.requests = len(r.people) * 5 / 4
	}
	return nil
}

// scale makes a roster of the wished size and levels with as many seats for
// each candidate as the example has.
func (r *rehearsal) scale() error {
	people, err := rostergen.New(rostergen.Spec{Size: r.size, Seed: r.seed, Levels: r.plan.LevelNames()})
	if err != nil {
		return err
	}
	var csv bytes.Buffer
	if err := people.WriteMessy(&csv); err != nil {
		return err
	}
	r.roster, r.plan.TotalCap = csv.Bytes(), 0
	for i := range r.plan.Levels {
		r.plan.Levels[i].Cap = max(1, r.plan.Levels[i].Cap*r.size/40_000)
		r.plan.TotalCap += r.plan.Levels[i].Cap
	}
	return nil
}

func (r *rehearsal) readPeople() error {
	levels := r.plan.LevelNames()
	reader, err := roster.NewReader(bytes.NewReader(r.roster), levels, roster.Options{})
	if err != nil {
		return err
	}
	for row, err := range reader.Rows() {
		if err != nil {
			return err
		}
		p := load.Person{Code: string(row.Code), Email: string(row.Email), Levels: row.Levels}
		if len(p.Levels) == 0 {
			p.Levels = levels
		}
		r.people = append(r.people, p)
	}
	return nil
}

// saleFile is the plan as an operator would write it, open now and with the
// rehearsal's short hold.
func (r *rehearsal) saleFile() []byte {
	now := time.Now().UTC()
	var b bytes.Buffer
	fmt.Fprintf(&b, "sale: %s\ntitle: Rehearsal of %s\ntime_zone: %s\nopens_at: %s\ncloses_at: %s\nhold: %s\n",
		rehearsalSale, r.plan.Title, r.plan.Zone, now.Add(-time.Minute).Format(time.RFC3339), now.Add(24*time.Hour).Format(time.RFC3339), r.hold)
	fmt.Fprintf(&b, "price: {amount_minor: %d, currency: %s}\ntotal_cap: %d\nlevels:\n", r.plan.Price.AmountMinor, r.plan.Price.Currency, r.plan.TotalCap)
	for _, l := range r.plan.Levels {
		fmt.Fprintf(&b, "  - {level: %s, cap: %d}\n", l.Name, l.Cap)
	}
	return b.Bytes()
}

func (r *rehearsal) run(ctx context.Context, t *town, out io.Writer) error {
	files := map[string][]byte{"rehearsal.yaml": r.saleFile(), "roster.csv": r.roster}
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(t.dir, name), data, 0o600); err != nil {
			return err
		}
	}
	for _, args := range [][]string{
		{"sale", "apply", filepath.Join(t.dir, "rehearsal.yaml")},
		{"roster", "import", rehearsalSale, filepath.Join(t.dir, "roster.csv")},
		{"sale", "open", rehearsalSale},
	} {
		fmt.Fprintln(out, "$ holdfast", strings.Join(args, " "))
		if err := t.act(ctx, out, args...); err != nil {
			return err
		}
	}
	if err := t.selling(ctx, rehearsalSale); err != nil {
		return err
	}
	w, err := openWatch(ctx, t, r.plan)
	if err != nil {
		return err
	}
	defer func() { _ = w.close(context.WithoutCancel(ctx)) }() // reading only: nothing is lost with it
	fmt.Fprintf(out, "%d people, %d seats, %d requests at %.0f/s\n", len(r.people), r.plan.TotalCap, r.requests, r.rate)
	result, err := load.Run(ctx, load.Options{
		BaseURL: t.public, Sale: rehearsalSale, People: r.people, Levels: r.plan.LevelNames(), Requests: r.requests, Rate: r.rate, Seed: r.seed,
		Mix: load.DefaultMix, Paying: load.DefaultPaying, SettleWithin: 4*r.hold + 3*time.Minute,
		Probe: w.probe, Rest: w.rest, Progress: load.View(out),
	})
	if err != nil {
		return fmt.Errorf("%w\nthe end of the log:\n%s", err, t.logTail())
	}
	checks, err := w.judge(ctx, result)
	if err != nil {
		return err
	}
	load.Print(out, result, checks)
	if err := r.write(result, checks); err != nil {
		return err
	}
	if !load.Passed(checks) {
		return fmt.Errorf("the rehearsal failed; the end of the log:\n%s", t.logTail())
	}
	return nil
}

func (r *rehearsal) write(result load.Result, checks []load.Check) error {
	if r.report == "" {
		return nil
	}
	data, err := json.MarshalIndent(struct {
		Result load.Result  `json:"result"`
		Checks []load.Check `json:"checks"`
	}{result, checks}, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(r.report, data, 0o644)
}
