package main

import (
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

	"github.com/holdfast/holdfast/load"
	stage "github.com/holdfast/holdfast/rehearsal"
)

// rehearsalSale is no marked rehearsal: the town is thrown away whole, and its
// operators use the same commands as for any sale.
const rehearsalSale = "rehearsal"

// rehearsal is the main job on real input: what runs, and with whom.
type rehearsal struct {
	shape    stage.Shape
	requests int     // 0: five for four candidates; with named seats five for sixteen
	rate     float64 // 0: 833, the yardstick; with named seats 200
	profile  string
	gateway  string
	soak     bool
	report   string // JSON file, or a page if its name ends in .html; "": none

	scene *stage.Scene
	steps load.Profile
}

// rehearse runs the whole pipeline on real input and judges it. The error is
// not nil unless every check of the verdict holds.
func rehearse(ctx context.Context, args []string, out io.Writer) error {
	r := rehearsal{shape: stage.Shape{ID: rehearsalSale}}
	workers := 1
	flags := flag.NewFlagSet("rehearse", flag.ContinueOnError)
	flags.SetOutput(out)
	flags.IntVar(&r.shape.People, "roster", 0, "candidates; 0 takes the messy example roster of 40,000")
	flags.BoolVar(&r.shape.Seated, "seats", false, "named seats in sections and rows: hold, change, book, pay")
	flags.IntVar(&r.requests, "requests", 0, "requests; 0 is five for four candidates, with named seats five for sixteen")
	flags.Float64Var(&r.rate, "rate", 0, "requests per second, open loop; 0 is 833, with named seats 200")
	flags.StringVar(&r.profile, "profile", "", "steps and ramps in place of requests and rate, such as 100x10s,833x60s")
	flags.DurationVar(&r.shape.Hold, "hold", 20*time.Second, "how long an unpaid booking keeps its seat")
	flags.Uint64Var(&r.shape.Seed, "seed", 1, "the crowd's seed")
	flags.BoolVar(&r.soak, "soak", false, "also watch the heaps of all processes, and judge whether they are flat")
	flags.IntVar(&workers, "workers", 1, "worker processes")
	flags.StringVar(&r.gateway, "gateway", "page", "page (money moves there) or execute (money moves when we say so)")
	flags.StringVar(&r.report, "report", "", "file for the result: a page if it ends in .html, else JSON")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if err := r.prepare(); err != nil {
		return err
	}
	t, err := openTown(ctx, townOptions{public: "127.0.0.1:0", operator: "127.0.0.1:0", workers: workers, env: map[string]string{
		"HOLDFAST_TRUSTED_PROXIES": "127.0.0.1/32", // the crowd says from where each person comes
		"HOLDFAST_SWEEP_EVERY":     "2s", "HOLDFAST_DIFF_EVERY": "15s", "HOLDFAST_GATEWAY": r.gateway, "HOLDFAST_LOG_LEVEL": "warn",
	}}, out)
	if err != nil {
		return err
	}
	err = r.run(ctx, t, out)
	return errors.Join(err, t.close(context.WithoutCancel(ctx)))
}

// prepare makes sale, roster, people and the profile.
func (r *rehearsal) prepare() (err error) {
	if r.scene, err = stage.Set(r.shape, time.Now()); err != nil {
		return err
	}
	people, rate := len(r.scene.People), 833.0
	if r.shape.Seated { // each one wants several seats, and sends three to eight requests for them
		people, rate = people/4, 200
	}
	if r.requests == 0 {
		r.requests = people * 5 / 4
	}
	if r.rate == 0 {
		r.rate = rate
	}
	r.steps = load.Constant(r.requests, r.rate)
	if r.profile != "" {
		r.steps, err = load.ParseProfile(r.profile)
	}
	return err
}

func (r *rehearsal) run(ctx context.Context, t *town, out io.Writer) error {
	files := map[string][]byte{"rehearsal.yaml": r.scene.File, "roster.csv": r.scene.Roster}
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(t.dir, name), data, 0o600); err != nil {
			return err
		}
	}
	for _, args := range [][]string{
		{"sale", "apply", filepath.Join(t.dir, "rehearsal.yaml"), "--reason=rehearsal"},
		{"roster", "import", rehearsalSale, filepath.Join(t.dir, "roster.csv"), "--reason=rehearsal"},
		{"sale", "open", rehearsalSale, "--reason=rehearsal"},
	} {
		fmt.Fprintln(out, "$ holdfast", strings.Join(args, " "))
		if err := t.act(ctx, out, args...); err != nil {
			return err
		}
	}
	if err := t.selling(ctx, rehearsalSale); err != nil {
		return err
	}
	w, err := openWatch(ctx, t, r.scene.Plan)
	if err != nil {
		return err
	}
	defer func() { _ = w.close(context.WithoutCancel(ctx)) }() // reading only: nothing is lost with it
	fmt.Fprintf(out, "%d people, %d seats, %d requests as %s\n", len(r.scene.People), r.scene.Plan.TotalCap, r.steps.Requests(), r.steps)
	var watched map[string]string
	if r.soak {
		watched = t.metrics
	}
	h := watchHeaps(ctx, watched)
	result, err := load.Run(ctx, r.options(t, w, out))
	heaps := h.judge(result.Crowd)
	if err != nil {
		return fmt.Errorf("%w\nthe end of the log:\n%s", err, t.logTail())
	}
	checks, err := w.judge(ctx, result)
	if err != nil {
		return err
	}
	checks = append(checks, heaps...)
	load.Print(out, result, checks)
	if err := r.write(result, checks); err != nil {
		return err
	}
	if !load.Passed(checks) {
		return fmt.Errorf("the rehearsal failed; the end of the log:\n%s", t.logTail())
	}
	return nil
}

func (r *rehearsal) options(t *town, w *watch, out io.Writer) load.Options {
	o := load.Options{
		BaseURL: t.public, Sale: rehearsalSale, People: r.scene.People, Levels: r.scene.Plan.LevelNames(), Profile: r.steps, Seed: r.shape.Seed,
		Mix: load.DefaultMix, Paying: load.DefaultPaying, SettleWithin: 4*r.shape.Hold + 3*time.Minute,
		Probe: w.sight.Probe, Rest: w.sight.Rest, Progress: load.View(out),
	}
	if r.shape.Seated {
		seating := load.DefaultSeating
		seating.Hold, seating.Holders = r.shape.Hold, w.sight.Holders()
		o.Seats = &seating
	}
	return o
}

func (r *rehearsal) write(result load.Result, checks []load.Check) error {
	if r.report == "" {
		return nil
	}
	if strings.HasSuffix(r.report, ".html") {
		return r.writePage(result, checks)
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

func (r *rehearsal) writePage(result load.Result, checks []load.Check) error {
	f, err := os.Create(r.report)
	if err != nil {
		return err
	}
	err = load.Report{
		Title: r.scene.Plan.Title, Command: "go run ./localstack rehearse --profile " + r.steps.String(), At: time.Now(), Result: result, Checks: checks,
		Facts: []load.Fact{{Name: "people", Value: fmt.Sprint(len(r.scene.People))}, {Name: "seats", Value: fmt.Sprint(r.scene.Plan.TotalCap)},
			{Name: "hold", Value: r.shape.Hold.String()}, {Name: "seed", Value: fmt.Sprint(r.shape.Seed)}, {Name: "where", Value: "everything on one machine"}},
	}.WriteHTML(f)
	return errors.Join(err, f.Close())
}
