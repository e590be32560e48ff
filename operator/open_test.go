package operator_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/holdfast/holdfast/admission/admissiontest"
	"github.com/holdfast/holdfast/events"
	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/operator"
	"github.com/holdfast/holdfast/payment"
	"github.com/holdfast/holdfast/sale"
)

// Case F10, and each check's own failure.
func TestOpenIsRefusedWhileACheckFails(t *testing.T) {
	full := func(t *testing.T) *bench {
		b := applied(t)
		b.must(b.load(people(5)...))
		return b
	}
	for name, c := range map[string]struct {
		spoil  func(b *bench)
		reason string
	}{
		"redis":          {func(b *bench) { b.server.unsafe = errors.New("the eviction policy is allkeys-lru") }, "redis: the eviction policy is allkeys-lru"},
		"installed, gen": {func(b *bench) { b.World.Redis.Flush() }, "installed: Redis does not have generation 1"},
		"installed, caps": {func(b *bench) {
			b.edit(func(c *ledger.Control) { c.CapIntent = &ledger.CapIntent{Level: "N1", To: 9} })
		}, "is half done: repeat it"},
		"breaker":        {func(b *bench) { b.edit(func(c *ledger.Control) { c.Breaker = "old messages" }) }, "breaker is open: old messages"},
		"times differ":   {func(b *bench) { b.edit(func(c *ledger.Control) { c.Plan.ClosesAt = c.Plan.ClosesAt.Add(time.Hour) }) }, "times: Redis has other times"},
		"closing passed": {func(b *bench) { b.Advance(time.Hour) }, "times: closing time is over"},
		"caps differ":    {func(b *bench) { b.edit(func(c *ledger.Control) { c.Plan.Levels[0].Cap, c.Plan.TotalCap = 11, 16 }) }, "levels: level N1 has cap 10 in Redis, 11 in the ledger"},
		"no cap":         {func(b *bench) { b.setCap("N2", 0) }, "levels: level N2 has no cap"},
		"total differs":  {func(b *bench) { b.edit(func(c *ledger.Control) { c.Plan.TotalCap = 14 }) }, "total cap: it is 15 in Redis, 14 in the ledger"},
		"roster differs": {func(b *bench) { b.must(b.World.Redis.DropRoster(b.ctx, exam, []string{b.hash(1)})) }, "roster: Redis has 4 candidates"},
		"roster version": {func(b *bench) { b.must(b.World.Redis.SetRosterVersion(b.ctx, exam, 1, "r2")) }, `(version "r2")`},
		"unreachable":    {func(b *bench) { b.must(b.load(person(1, "N1"), person(2, "N1"))) }, "nobody on the roster may book level N2"},
		"queue":          {func(b *bench) { b.queue.err = errors.New("no route") }, "queue: can't be reached: no route"},
		"gateway":        {func(b *bench) { b.Gateways = payment.Gateways{} }, `new bookings pay at "page"`},
	} {
		t.Run(name, func(t *testing.T) {
			b := full(t)
			c.spoil(b)
			acts := len(b.trail())
			r := refused(t, b.Open(b.ctx, exam, ann), operator.CodeChecksFailed)
			if !strings.Contains(r.Error(), c.reason) || !strings.Contains(r.Error(), "sale exam stays closed") {
				t.Errorf("the refusal lacks %q:\n%v", c.reason, r)
			}
			if r.Figures["failed"] != len(r.Reasons) {
				t.Errorf("figures %v for %d reasons", r.Figures, len(r.Reasons))
			}
			if b.control().Open || len(b.trail()) != acts {
				t.Error("it was opened, or the trail says so")
			}
		})
	}
	b := full(t)
	b.must(b.Open(b.ctx, exam, ann)) // and nothing else keeps it closed
}

func (b *bench) edit(change func(*ledger.Control)) {
	b.t.Helper()
	_, err := b.World.Store.UpdateControl(b.ctx, exam, func(c *ledger.Control) error { change(c); return nil })
	b.must(err)
}

func TestAnEmptyRosterKeepsTheSaleClosed(t *testing.T) {
	b := applied(t)
	r := refused(t, b.Open(b.ctx, exam, ann), operator.CodeChecksFailed)
	if !strings.Contains(r.Error(), "roster: it is empty: run holdfast roster import exam") {
		t.Errorf("%v", r)
	}
	refused(t, b.Open(b.ctx, "nowhere", ann), operator.CodeUnknownSale)
}

func TestWarningsDoNotKeepASaleClosed(t *testing.T) {
	b := applied(t)
	b.must(b.load(people(5)...))
	b.queue.depth = events.Depth{Dead: 2}
	b.setCap("", 14)
	checks, err := b.Desk.Check(b.ctx, exam)
	b.must(err)
	got := map[string]operator.Verdict{}
	for _, c := range checks {
		got[c.Name] = c.Verdict
	}
	want := map[string]operator.Verdict{"redis": "ok", "installed": "ok", "times": "ok", "levels": "ok", "total cap": "warn", "roster": "ok", "reachable": "ok", "queue": "warn", "gateway": "ok", "reaper": "warn"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("checks (-want +got):\n%s", diff)
	}
	b.must(b.Open(b.ctx, exam, ann))
}

func TestCheckHearsTheReaper(t *testing.T) {
	b := selling(t)
	b.must(b.World.Store.NoteSweep(b.ctx, exam, ledger.SweepNote{Kind: "sweep", At: b.World.Now()}))
	verdict := func() operator.Verdict {
		checks, err := b.Desk.Check(b.ctx, exam)
		b.must(err)
		return checks[len(checks)-1].Verdict
	}
	if v := verdict(); v != operator.Pass {
		t.Errorf("a fresh sweep: %s", v)
	}
	b.Advance(4 * time.Minute)
	if v := verdict(); v != operator.Warn {
		t.Errorf("an old sweep: %s", v)
	}
}

func TestOpenAndCloseAreAuditedAndRepeatable(t *testing.T) {
	b := selling(t)
	b.must(b.Open(b.ctx, exam, ann))
	if !b.end().Redis.Open || b.public[exam] == 0 {
		t.Error("not open, or the public was not told")
	}
	b.must(b.Close(b.ctx, exam, ann))
	b.must(b.Close(b.ctx, exam, ann))
	if e := b.end(); e.Redis.Open || e.Control.Open {
		t.Errorf("end %+v", e)
	}
	var acts []string
	for _, a := range b.trail() {
		if strings.HasPrefix(a, "open") || strings.HasPrefix(a, "close") {
			acts = append(acts, a)
		}
	}
	want := []string{"open: closed -> open (operator:ann, because)", "close: open -> closed (operator:ann, because)"}
	if len(acts) != 2 || !(acts[0] == want[0] && acts[1] == want[1] || acts[0] == want[1] && acts[1] == want[0]) {
		t.Errorf("trail %q", acts)
	}
}

func TestOpenCloseAndTimesCrashedAtEveryStep(t *testing.T) {
	ready := func(t *testing.T) *bench {
		b := applied(t)
		b.must(b.load(people(5)...))
		return b
	}
	t.Run("open", func(t *testing.T) {
		atEveryStep(t, ready, func(b *bench) error { return b.Open(b.ctx, exam, ann) }, func(b *bench) {
			if e := b.end(); e.Redis.Open && !e.Control.Open {
				t.Fatal("Redis sells what the ledger has closed")
			}
		})
	})
	t.Run("close", func(t *testing.T) {
		atEveryStep(t, selling, func(b *bench) error { return b.Close(b.ctx, exam, ann) }, conserved)
	})
	t.Run("times", func(t *testing.T) {
		atEveryStep(t, selling, func(b *bench) error {
			return b.SetTimes(b.ctx, exam, b.plan().OpensAt.Add(-time.Minute), b.plan().ClosesAt.Add(time.Hour), ann)
		}, conserved)
	})
}

// A sale must be closable while everything else is broken.
func TestCloseDoesWhatItCan(t *testing.T) {
	b := selling(t)
	b.World.Redis.Fault = func(op string) admissiontest.Fault {
		if op == "SetOpen" || op == "Status" {
			return admissiontest.FailBefore
		}
		return admissiontest.NoFault
	}
	if err := b.Close(b.ctx, exam, ann); err == nil {
		t.Error("Redis is gone, and nobody says so")
	}
	b.World.Redis.Fault = nil
	if e := b.end(); e.Control.Open || !e.Redis.Open {
		t.Errorf("ledger open %v, Redis open %v", e.Control.Open, e.Redis.Open)
	}
	b.must(b.Close(b.ctx, exam, ann))
	if b.end().Redis.Open {
		t.Error("still open")
	}
}

func TestSetTimes(t *testing.T) {
	b := selling(t)
	before := b.end()
	b.must(b.SetTimes(b.ctx, exam, time.Time{}, time.Time{}, ann))
	if diff := diffEnds(before, b.end()); diff != "" {
		t.Errorf("no time changes something:\n%s", diff)
	}
	till := b.plan().ClosesAt.Add(30 * time.Minute)
	b.must(b.SetTimes(b.ctx, exam, time.Time{}, till, ann))
	if e := b.end(); !e.Redis.ClosesAt.Equal(till) || !e.Control.Plan.ClosesAt.Equal(till) || !e.Redis.OpensAt.Equal(b.plan().OpensAt) {
		t.Errorf("end %+v", e)
	}
	var faults *sale.FaultsError
	if err := b.SetTimes(b.ctx, exam, till, till, ann); !errors.As(err, &faults) {
		t.Errorf("a sale that closes as it opens: %v", err)
	}
}
