package operator_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/holdfast/holdfast/events"
	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/operator"
	"github.com/holdfast/holdfast/payment"
	"github.com/holdfast/holdfast/payment/sandbox"
)

// around is what a preflight sees of a deployment beside the desk.
type around struct {
	proveErr, tableErr, doorErr, clockErr error
	table                                 operator.TableState
	skew                                  time.Duration // of the queue's clock
}

func (a *around) Prove(context.Context, string) (time.Duration, error) {
	return time.Millisecond, a.proveErr
}
func (a *around) Inspect(context.Context) (operator.TableState, error) { return a.table, a.tableErr }
func (a *around) Knock(context.Context, string) error                  { return a.doorErr }

// ready is a sale about to open in a deployment in which everything is right.
func ready(t *testing.T) (*bench, *operator.Preflight, *around) {
	t.Helper()
	b := selling(t)
	b.server.health.UsedMemory, b.server.health.MaxMemory = 10e6, 100e6
	for kind, counts := range map[string]map[string]int{"sweep": nil, "diff": {"open": 0}, "queue": {"oldest_ms": 5}} {
		b.must(b.World.Store.NoteSweep(b.ctx, exam, ledger.SweepNote{Kind: kind, At: b.World.Now(), Counts: counts}))
	}
	a := &around{table: operator.TableState{Active: true, Recoverable: true}}
	return b, &operator.Preflight{Desk: b.Desk, Prover: a, Table: a, Door: a, Clocks: []operator.Clock{{
		Name: "the queue", Precision: time.Second,
		Now: func(context.Context) (time.Time, error) {
			return b.World.Now().Truncate(time.Second).Add(a.skew), a.clockErr
		},
	}}}, a
}

// TestPreflightNamesWhatIsWrong breaks one thing at a time and wants exactly
// its line to say so.
func TestPreflightNamesWhatIsWrong(t *testing.T) {
	type spoilt struct {
		*bench
		*around
		crowd operator.Crowd
	}
	gone := errors.New("no route")
	for name, c := range map[string]struct {
		spoil   func(s *spoilt)
		line    string
		verdict operator.Verdict
		says    string
	}{
		"evicting":       {func(s *spoilt) { s.server.unsafe = errors.New("the eviction policy is allkeys-lru") }, "redis", operator.Fail, "allkeys-lru"},
		"no ack":         {func(s *spoilt) { s.proveErr = gone }, "replica", operator.Fail, "not acknowledged"},
		"memory full":    {func(s *spoilt) { s.server.health.UsedMemory = 95e6 }, "memory", operator.Fail, "larger node"},
		"memory tight":   {func(s *spoilt) { s.server.health.UsedMemory = 80e6 }, "memory", operator.Warn, "larger node"},
		"memory unbound": {func(s *spoilt) { s.server.health.MaxMemory = 0 }, "memory", operator.Warn, "no maxmemory"},
		"caps differ": {func(s *spoilt) {
			s.edit(func(c *ledger.Control) { c.Plan.Levels[0].Cap, c.Plan.Levels[1].Cap = 11, 4 })
		}, "levels", operator.Fail, "cap 10 in Redis, 11 in the ledger"},
		"roster differs":  {func(s *spoilt) { s.must(s.World.Redis.DropRoster(s.ctx, exam, []string{s.hash(1)})) }, "roster", operator.Fail, "29 candidates"},
		"times differ":    {func(s *spoilt) { s.edit(func(c *ledger.Control) { c.Plan.ClosesAt = c.Plan.ClosesAt.Add(time.Hour) }) }, "times", operator.Fail, "other times"},
		"breaker":         {func(s *spoilt) { s.edit(func(c *ledger.Control) { c.Breaker = "old messages" }) }, "installed", operator.Fail, "breaker is open"},
		"table away":      {func(s *spoilt) { s.tableErr = gone }, "ledger", operator.Fail, "no route"},
		"table not ready": {func(s *spoilt) { s.table.Active = false }, "ledger", operator.Fail, "not active"},
		"no recovery":     {func(s *spoilt) { s.table.Recoverable = false }, "ledger", operator.Fail, "update-continuous-backups"},
		"hidden recovery": {func(s *spoilt) { s.table.Hidden = "not authorized" }, "ledger", operator.Warn, "not authorized"},
		"clock unread":    {func(s *spoilt) { s.clockErr = gone }, "clocks", operator.Fail, "the queue's can't be read"},
		"clock ahead":     {func(s *spoilt) { s.skew = time.Minute }, "clocks", operator.Fail, "the queue's is +60 s"},
		"clock behind":    {func(s *spoilt) { s.skew = -5 * time.Second }, "clocks", operator.Warn, "chrony"},
		"queue away":      {func(s *spoilt) { s.queue.err = gone }, "queue", operator.Fail, "can't be reached"},
		"dead letters":    {func(s *spoilt) { s.queue.depth = events.Depth{Dead: 2, DeadInFlight: 1} }, "queue", operator.Fail, "3 dead letters: holdfast dlq list"},
		"waiting":         {func(s *spoilt) { s.queue.depth = events.Depth{Visible: 7} }, "queue", operator.Warn, "7 events"},
		"late workers":    {func(s *spoilt) { s.note("queue", s.World.Now().Add(time.Second), map[string]int{"oldest_ms": 150_000}) }, "workers", operator.Fail, "2m30s old"},
		"drift":           {func(s *spoilt) { s.note("diff", s.World.Now().Add(time.Second), map[string]int{"open": 3}) }, "drift", operator.Fail, "3 differences"},
		"gateway unknown": {func(s *spoilt) { s.Gateways = payment.Gateways{} }, "gateway", operator.Fail, `new bookings pay at "page"`},
		"gateway away": {func(s *spoilt) {
			s.Gateways = payment.Gateways{"page": deaf{s.Page}}
		}, "gateway", operator.Fail, "nobody could pay"},
		"ingress away":    {func(s *spoilt) { s.doorErr = gone }, "ingress", operator.Fail, "holdfast serve"},
		"crowd too large": {func(s *spoilt) { s.crowd = operator.Crowd{Rate: 50_000, Winners: 10} }, "capacity", operator.Fail, "Redis: one sale, one thread: 50000 of 20000"},
		"late ledger":     {func(s *spoilt) { s.crowd = operator.Crowd{Rate: 1000, Winners: 400} }, "capacity", operator.Warn, "never warmed"},
		"slow gateway":    {func(s *spoilt) { s.crowd = operator.Crowd{Rate: 100, Winners: 50, GatewayRate: 20} }, "capacity", operator.Fail, "payment gateway: 50 of 20"},
	} {
		t.Run(name, func(t *testing.T) {
			b, p, a := ready(t)
			s := &spoilt{bench: b, around: a}
			c.spoil(s)
			checks, err := p.Run(b.ctx, exam, s.crowd)
			b.must(err)
			found := false
			for _, got := range checks {
				switch {
				case got.Name == c.line:
					found = true
					if got.Verdict != c.verdict || !strings.Contains(got.Detail, c.says) {
						t.Errorf("%s is %s: %s; want %s with %q", got.Name, got.Verdict, got.Detail, c.verdict, c.says)
					}
				case got.Verdict != operator.Pass:
					t.Errorf("%s is %s, although only %s is wrong: %s", got.Name, got.Verdict, c.line, got.Detail)
				}
			}
			if !found || operator.Failed(checks) != (c.verdict == operator.Fail) {
				t.Errorf("no line %s, or the whole is judged otherwise: %v", c.line, checks)
			}
		})
	}
}

func (b *bench) note(kind string, at time.Time, counts map[string]int) {
	b.t.Helper()
	b.must(b.World.Store.NoteSweep(b.ctx, exam, ledger.SweepNote{Kind: kind, At: at, Counts: counts}))
}

// deaf is a gateway that does not answer.
type deaf struct{ payment.Gateway }

func (deaf) Query(context.Context, string) (payment.Payment, error) {
	return payment.Payment{}, errors.New("connection refused")
}

func TestPreflightOfAReadySale(t *testing.T) {
	b, p, _ := ready(t)
	checks, err := p.Run(b.ctx, exam, operator.Crowd{})
	b.must(err)
	var names []string
	for _, c := range checks {
		names = append(names, c.Name)
		if c.Verdict != operator.Pass {
			t.Errorf("%s is %s: %s", c.Name, c.Verdict, c.Detail)
		}
	}
	const want = "[redis replica memory installed times levels total cap roster reachable ledger clocks queue workers reaper drift gateway ingress capacity]"
	if got := fmt.Sprint(names); got != want {
		t.Errorf("lines %s, want %s", got, want)
	}
	b.Advance(4 * time.Minute) // nobody sweeps, no worker says a word
	checks, err = p.Run(b.ctx, exam, operator.Crowd{})
	b.must(err)
	for _, c := range checks {
		if want := map[string]operator.Verdict{"reaper": operator.Fail, "workers": operator.Warn}[c.Name]; want != "" && c.Verdict != want {
			t.Errorf("after silence %s is %s: %s", c.Name, c.Verdict, c.Detail)
		}
	}
	_, err = p.Run(b.ctx, "nowhere", operator.Crowd{})
	refused(t, err, operator.CodeUnknownSale)
}

// A sandbox that is not there is what a gateway's outage looks like.
func TestPreflightOfAGatewayThatIsAway(t *testing.T) {
	b, p, _ := ready(t)
	gw, err := sandbox.New(sandbox.Config{Name: "page", BaseURL: "http://127.0.0.1:1", AppKey: "k", AppSecret: "s", WebhookSecret: "w", Payee: "p", Moves: payment.MovesOnPage, Tokens: sandbox.NewMemoryTokens(b.World.Now, 2)})
	b.must(err)
	b.Gateways = payment.Gateways{"page": gw}
	checks, err := p.Run(b.ctx, exam, operator.Crowd{})
	b.must(err)
	for _, c := range checks {
		if (c.Verdict == operator.Fail) != (c.Name == "gateway") {
			t.Errorf("%s is %s: %s", c.Name, c.Verdict, c.Detail)
		}
	}
}
