package browsertest

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/holdfast/holdfast/config"
	"github.com/holdfast/holdfast/localstack/cloud"
	"github.com/holdfast/holdfast/localstack/redisproc"
	"github.com/holdfast/holdfast/localstack/roles"
	"github.com/holdfast/holdfast/operator"
	"github.com/holdfast/holdfast/report"
	"github.com/holdfast/holdfast/sale"
	"github.com/holdfast/holdfast/sale/roster/rostergen"
	"github.com/holdfast/holdfast/sale/salefile"
	"github.com/holdfast/holdfast/wiring"
)

// town is all of Holdfast, once for all tests. Every test has a sale of its own.
var town struct {
	desk     *operator.Desk
	public   string // candidates come through the fault proxy
	operator string
	people   *rostergen.Roster
	proxy    *proxy
	redis    *redisproc.Pair
	auditor  string // the public key of the reports
}

const (
	token = "a-token-for-the-browser-tests"
	size  = 40 // candidates on each roster
)

// sales are made before any test runs, because an ingress looks for new ones
// every few seconds only. Name: hold and caps of the levels Early and Late; no caps: a hall with named seats.
var sales = map[string]struct {
	hold        time.Duration
	early, late int
}{
	"way": {10 * time.Minute, 5, 5}, "lost": {10 * time.Minute, 5, 5}, "tabs": {10 * time.Minute, 5, 5}, "back": {10 * time.Minute, 5, 5},
	"skew": {10 * time.Minute, 5, 5}, "storm": {10 * time.Minute, 5, 5}, "words": {10 * time.Minute, 1, 5}, "full": {10 * time.Minute, 1, 1},
	"short": {12 * time.Second, 5, 5}, "late": {20 * time.Second, 1, 1}, "office": {10 * time.Minute, 5, 5}, "messy": {10 * time.Minute, 5, 5}, "keys": {10 * time.Minute, 5, 5},
	"look": {10 * time.Minute, 5, 5}, "german": {10 * time.Minute, 5, 5}, "wait": {10 * time.Minute, 5, 5}, "tiny": {10 * time.Minute, 1, 1},
	"desk": {10 * time.Minute, 30, 10}, "slow": {10 * time.Minute, 5, 5}, "clock": {10 * time.Minute, 5, 5},
	"hall": {10 * time.Minute, 0, 0}, "race": {10 * time.Minute, 0, 0}, "choice": {10 * time.Minute, 0, 0}, "fingers": {10 * time.Minute, 0, 0}, // named seats
	"brief": {30 * time.Second, 0, 0}, // they are kept for as long as a hold at most
}

// together is how many tests run at once: they wait much more than they work.
const together = "6"

func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", together); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func run(m *testing.M) (code int, err error) {
	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	defer running.Wait()
	defer stop()
	log := slog.New(slog.NewTextHandler(logFile(), nil))
	listen, freeListen, err := reserve()
	if err != nil {
		return 1, err
	}
	operatorListen, freeOperator, err := reserve()
	if err != nil {
		return 1, err
	}
	town.operator = "http://" + operatorListen
	town.proxy = newProxy("http://" + listen)
	front := httptest.NewServer(town.proxy)
	defer front.Close()
	town.public = front.URL
	local, err := cloud.Start(ctx, cloud.Options{Log: log, WebhookURL: func(account string) string { return "http://" + listen + "/webhooks/" + account }})
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, local.Close(context.WithoutCancel(ctx))) }()
	town.redis = local.Redis
	seed, public, err := report.NewKey()
	if err != nil {
		return 1, err
	}
	town.auditor = public
	env := local.Env()
	maps.Copy(env, map[string]string{
		"HOLDFAST_SECRET": strings.Repeat("s", 64), "HOLDFAST_OPERATOR_TOKEN": token, "HOLDFAST_REPORT_KEY": seed, "HOLDFAST_LISTEN": listen, "HOLDFAST_PUBLIC_URL": town.public,
		"HOLDFAST_SWEEP_EVERY": "2s", "HOLDFAST_DIFF_EVERY": "10s", "HOLDFAST_RATE_PER_CLIENT": "0", "HOLDFAST_RATE_PER_CODE": "0",
	})
	for name, value := range env {
		if err := os.Setenv(name, value); err != nil { // the AWS SDK reads its own variables
			return 1, err
		}
	}
	var houses []*wiring.House
	defer func() {
		stop()
		running.Wait()
		for _, h := range houses {
			err = errors.Join(err, h.Close(context.WithoutCancel(ctx)))
		}
	}()
	for name, role := range map[string]func(*wiring.House, context.Context) error{"serve": (*wiring.House).Serve, "work": (*wiring.House).Work, "reap": (*wiring.House).Reap} {
		env["HOLDFAST_OPERATOR_LISTEN"] = roles.FreeAddress()
		if name == "serve" {
			env["HOLDFAST_OPERATOR_LISTEN"] = operatorListen
		}
		h, err := open(ctx, env, log)
		if err != nil {
			return 1, err
		}
		houses = append(houses, h)
		if name == "serve" {
			freeListen()
			freeOperator()
		}
		running.Go(func() {
			if err := role(h, ctx); err != nil {
				log.Error("a role ended", "role", name, "err", err)
			}
		})
	}
	town.desk = houses[0].Desk()
	if err := openSales(ctx); err != nil {
		return 1, err
	}
	closeBrowser, err := startBrowser(ctx)
	if err != nil {
		return 1, err
	}
	defer closeBrowser()
	return m.Run(), nil
}

// reserve finds a free address and keeps it until it is freed for who listens
// there: much else on the machine looks for ports meanwhile.
func reserve() (addr string, free func(), err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	return l.Addr().String(), func() { _ = l.Close() }, nil
}

func open(ctx context.Context, env map[string]string, log *slog.Logger) (*wiring.House, error) {
	cfg, err := config.Load(func(name string) string { return env[name] })
	if err != nil {
		return nil, err
	}
	return wiring.Open(ctx, cfg, log)
}

// logFile keeps the roles' log out of the tests' output; HOLDFAST_BROWSER_LOG
// names a file for it.
func logFile() io.Writer {
	if path := os.Getenv("HOLDFAST_BROWSER_LOG"); path != "" {
		if f, err := os.Create(path); err == nil {
			return f
		}
	}
	return io.Discard
}

const (
	saleFile = `sale: %s
title: Winter examination
time_zone: Asia/Dhaka
opens_at: %s
closes_at: %s
hold: %s
max_seats: 4
price: {amount_minor: 350000, currency: BDT}
`
	countedLevels = `levels:
  - {level: Early, cap: %d}
  - {level: Late, cap: %d}
`
	seatedLevels = `levels:
  - level: Hall
    sections:
      - section: Stalls
        price: {amount_minor: 90000, currency: BDT}
        rows:
          - {row: A, seats: [A1..A6, aisle, A7..A12]}
          - {row: B, seats: [B1..B6, aisle, B7..B12], accessible: [B1]}
      - section: Gallery
        rows:
          - {row: C, seats: [C1..C8]}
`
)

var me = operator.By{Actor: "operator:tests", Reason: "browser tests"}

func openSales(ctx context.Context) error {
	var err error
	if town.people, err = rostergen.New(rostergen.Spec{Size: size, Seed: 7, Levels: []string{"Early", "Late"}}); err != nil {
		return err
	}
	for id, s := range sales {
		levels := fmt.Sprintf(countedLevels, s.early, s.late)
		if s.early == 0 {
			levels = seatedLevels
		}
		now := time.Now().UTC()
		plan, err := salefile.Parse(strings.NewReader(fmt.Sprintf(saleFile, id, now.Add(-time.Minute).Format(time.RFC3339), now.Add(48*time.Hour).Format(time.RFC3339), s.hold) + levels))
		if err != nil {
			return err
		}
		for _, act := range []func() error{
			func() error { _, err := town.desk.Apply(ctx, plan, me); return err },
			func() error {
				_, err := town.desk.ImportRoster(ctx, id, func() (iter.Seq2[sale.Row, error], error) { return rows(plan.LevelNames()) }, operator.ImportOptions{}, nil, me)
				return err
			},
			func() error { return town.desk.Open(ctx, id, me) },
		} {
			if err := again(ctx, act); err != nil {
				return err
			}
		}
	}
	for id := range sales {
		if err := answers(ctx, town.public+"/sales/"+id+"/status.json"); err != nil {
			return err
		}
	}
	return nil
}

// rows are the candidates; everybody may book both levels.
func rows(levels []string) (iter.Seq2[sale.Row, error], error) {
	return func(yield func(sale.Row, error) bool) {
		for i := range size {
			row := town.people.Row(i)
			row.Levels = nil
			if i == size-1 && levels[0] == "Early" { // but the last
				row.Levels = []string{"Late"}
			}
			if !yield(row, nil) {
				return
			}
		}
	}, nil
}

func answers(ctx context.Context, url string) error {
	return again(ctx, func() error {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return err
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return err
		}
		_ = resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			return fmt.Errorf("%s: %s", url, resp.Status)
		}
		return nil
	})
}
