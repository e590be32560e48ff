package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"text/template"
	"time"

	"github.com/holdfast/holdfast/sale/roster/rostergen"
)

// demo is the sale of a demonstration: small enough to sell out by hand, and
// open at once.
const (
	demoSale       = "demo"
	demoCandidates = 2000
)

var demoLevels = []string{"Beginner", "Advanced"}

var demoFile = template.Must(template.New("sale").Parse(`sale: {{.Sale}}
title: Demonstration examination
time_zone: UTC
opens_at: {{.Opens}}
closes_at: {{.Closes}}
hold: 10m
price: {amount_minor: 350000, currency: BDT}
levels:
  - {level: Beginner, cap: 40}
  - {level: Advanced, cap: 10}
`))

// up runs everything until ctx ends.
func up(ctx context.Context, args []string, out io.Writer) (err error) {
	if len(args) > 0 {
		return fmt.Errorf("unknown argument %q: use no argument, rehearse, or holdfast followed by a command", args[0])
	}
	t, err := openTown(ctx, townOptions{public: "127.0.0.1:8080", operator: "127.0.0.1:8081"}, out)
	if err != nil {
		return err
	}
	defer func() {
		fmt.Fprintln(out, "\nstopping ...")
		if e := t.close(context.WithoutCancel(ctx)); err == nil {
			err = e
		}
		fmt.Fprintln(out, "stopped; nothing is left running")
	}()
	people, err := t.openDemo(ctx, out)
	if err != nil {
		return err
	}
	if err := t.openGala(ctx, out); err != nil {
		return err
	}
	t.panel(out, people)
	<-ctx.Done()
	return nil
}

// openDemo applies the demo sale, imports its roster and opens it, through the
// same commands an operator uses.
func (t *town) openDemo(ctx context.Context, out io.Writer) (*rostergen.Roster, error) {
	people, err := rostergen.New(rostergen.Spec{Size: demoCandidates, Seed: 1, Levels: demoLevels})
	if err != nil {
		return nil, err
	}
	return people, t.openSale(ctx, out, demoSale, demoFile, people.WriteClean)
}

// openSale applies a sale that is open at once, imports its roster and opens it.
func (t *town) openSale(ctx context.Context, out io.Writer, name string, file *template.Template, roster func(io.Writer) error) error {
	saleFile, rosterFile := filepath.Join(t.dir, name+".yaml"), filepath.Join(t.dir, name+".csv")
	now := time.Now().UTC()
	var yaml strings.Builder
	if err := file.Execute(&yaml, map[string]string{"Sale": name, "Opens": now.Add(-time.Minute).Format(time.RFC3339), "Closes": now.Add(30 * 24 * time.Hour).Format(time.RFC3339)}); err != nil {
		return err
	}
	if err := os.WriteFile(saleFile, []byte(yaml.String()), 0o600); err != nil {
		return err
	}
	if err := writeFile(rosterFile, roster); err != nil {
		return err
	}
	for _, args := range [][]string{{"sale", "apply", saleFile}, {"roster", "import", name, rosterFile}, {"sale", "open", name}} {
		if err := t.act(ctx, out, append(args, "--reason", "the demo begins")...); err != nil {
			return err
		}
	}
	return t.selling(ctx, name)
}

func writeFile(path string, write func(io.Writer) error) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := write(f); err != nil {
		_ = f.Close() // the first error tells more
		return err
	}
	return f.Close()
}

// panel says what runs where and what to try.
func (t *town) panel(out io.Writer, people *rostergen.Roster) {
	row := func(name, what string) { fmt.Fprintf(out, "  %-18s %s\n", name, what) }
	fmt.Fprintln(out, "\nHoldfast is up.")
	row("booking page", t.public+"/sales/"+demoSale)
	row("named seats", t.public+"/sales/"+galaSale+"  (CODE-0001  person.1@example.org, to CODE-0020)")
	row("console", t.operator+"/console  (any name; token as below)")
	row("operators' API", t.operator+"/admin  (bearer token "+t.env["HOLDFAST_OPERATOR_TOKEN"]+")")
	row("metrics, health", t.operator+"/metrics  "+t.operator+"/readyz")
	row("payment gateway", t.cloud.GatewayURL)
	if t.cloud.Redis == nil {
		row("Redis", t.cloud.RedisAddr()+" (elsewhere)")
	} else {
		row("Redis", t.cloud.RedisAddr()+" (primary)  "+t.cloud.Redis.Replica.Addr()+" (replica)")
	}
	if t.cloud.AWSURL != "" {
		row("queue and table", t.cloud.AWSURL+" (SQS FIFO and DynamoDB, in this process)")
	}
	row("processes", fmt.Sprintf("serve %d, work %d, reap %d (kill one: it comes back, nothing is lost)", t.keeper.Pid("serve"), t.keeper.Pid("work-1"), t.keeper.Pid("reap")))
	row("logs", t.log.Name())
	fmt.Fprintln(out, "\nTry one of these candidates:")
	for i := range 3 {
		p := people.Row(i)
		row(string(p.Code), fmt.Sprintf("%s  %s", p.Email, strings.Join(levelsOf(p.Levels), " or ")))
	}
	p := people.Row(0)
	fmt.Fprintf(out, "\n  curl -s %s/sales/%s/bookings -H 'Content-Type: application/json' \\\n    -d '{\"code\":%q,\"email\":%q,\"level\":%q}'\n", t.public, demoSale, p.Code, p.Email, levelsOf(p.Levels)[0])
	fmt.Fprintf(out, "\nWatch it from a second terminal:\n\n  %s\n\nCtrl-C ends everything.\n", t.watchCommand())
}

// watchCommand is a line that a second terminal can run as it is.
func (t *town) watchCommand() string {
	return fmt.Sprintf("env $(cat %s) go run ./cmd/holdfast sale status %s --watch", t.envFile(), demoSale)
}

// envFile writes the configuration of this town where a second terminal finds
// it, readable by this user alone.
func (t *town) envFile() string {
	path := filepath.Join(t.dir, "env")
	var b strings.Builder
	for k, v := range t.env {
		fmt.Fprintf(&b, "%s=%s\n", k, v)
	}
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		return "(" + err.Error() + ")"
	}
	return path
}

func levelsOf(levels []string) []string {
	if len(levels) == 0 {
		return demoLevels
	}
	return levels
}
