package operator_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/events"
	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/lifecycle"
	"github.com/holdfast/holdfast/operator"
	"github.com/holdfast/holdfast/reaper"
)

// over is a sale that is over, with a paid and a released booking and an item in
// the inbox that was dealt with.
func over(t *testing.T) (*bench, *operator.Purge) {
	t.Helper()
	b := selling(t)
	b.book("N1", 1, 2)
	for n := 1; n <= 2; n++ {
		r, err := b.World.Redis.Record(b.ctx, exam, fmt.Sprintf("X%d", n))
		b.must(err)
		k := lifecycle.BookingFromRecord(exam, r)
		k.Payment = ledger.PaymentKey{Gateway: "page", ID: fmt.Sprintf("pay%d", n)}
		k.InputHash, k.Key = "secret-input", "secret-key"
		b.write(ledger.Hold(k, "worker", b.World.Now()))
		_, err = b.World.Redis.Settle(b.ctx, exam, k.ID, k.Candidate, false)
		b.must(err)
	}
	paid, err := b.World.Store.Booking(b.ctx, "X1")
	b.must(err)
	b.write(ledger.Confirm(paid, ledger.Capture{Key: paid.Payment, AmountMinor: paid.Price.AmountMinor, Currency: paid.Price.Currency, At: b.World.Now()}, "worker", b.World.Now()))
	_, err = b.World.Redis.Settle(b.ctx, exam, "X1", paid.Candidate, true)
	b.must(err)
	_, err = b.ReleaseHold(b.ctx, "X2", ann)
	b.must(err)
	b.must(b.World.Store.Park(b.ctx, ledger.InboxItem{Sale: exam, ID: "i", Detail: `{"candidate":"` + b.hash(1) + `"}`, At: b.World.Now()}))
	b.must(b.World.Store.ResolveParked(b.ctx, exam, "i", "operator:ann"))
	b.must(b.Close(b.ctx, exam, ann))
	return b, b.purge()
}

func (b *bench) write(t ledger.Transition, err error) {
	b.t.Helper()
	b.must(err)
	b.must(b.World.Store.Apply(b.ctx, t))
}

func (b *bench) healers() *reaper.Reaper {
	b.t.Helper()
	r, err := reaper.New(reaper.Options{Steps: b.World.Steps, Redis: b.World.Redis, Health: b.server, Queue: b.queue,
		Wait: func(ctx context.Context, d time.Duration) error { b.Advance(d); return ctx.Err() }})
	b.must(err)
	return r
}

func (b *bench) purge() *operator.Purge {
	return &operator.Purge{Desk: b.Desk, Ledger: b.World.Store, Refill: func(ctx context.Context, saleID string, prepare func(context.Context, func(context.Context) error) error) error {
		_, err := b.healers().Rebuilder.Rebuild(ctx, saleID, reaper.RebuildOptions{Prepare: prepare})
		return err
	}}
}

// known is everything that ledger and Redis still say of the exam, as text.
func (b *bench) known() string {
	b.t.Helper()
	var all strings.Builder
	dump := func(v any) error { fmt.Fprintf(&all, "%+v\n", v); return nil }
	b.must(b.World.Store.Scan(b.ctx, exam, ledger.Visitor{
		Booking: func(k ledger.Booking) error { return dump(k) }, Candidate: func(c, id string) error { return dump(c + id) },
		Payment: func(p ledger.PaymentRecord) error { return dump(p) }, Roster: func(r ledger.RosterRow) error { return dump(r) },
	}))
	b.must(b.World.Store.Parked(b.ctx, exam, func(it ledger.InboxItem) error { return dump(it) }))
	b.must(b.Trail(b.ctx, exam, func(e ledger.AuditEntry) error { return dump(e) }))
	b.must(b.World.Redis.ScanRoster(b.ctx, exam, func(r admission.RosterEntry) error { return dump(r) }))
	b.must(b.World.Redis.ScanRecords(b.ctx, exam, func(r admission.Record, _ bool) error { return dump(r) }))
	return all.String()
}

func (b *bench) secrets() []string {
	list := []string{"secret-input", "secret-key"}
	for n := 1; n <= 30; n++ {
		list = append(list, b.hash(n), string(b.Hasher.Email(person(n).Email)))
	}
	return list
}

func TestPurgeForgetsPeopleAndKeepsTheSale(t *testing.T) {
	b, p := over(t)
	for _, s := range []string{b.hash(1), b.hash(2), "secret-key"} {
		if !strings.Contains(b.known(), s) {
			t.Fatalf("%s was not known before: this test proves nothing", s)
		}
	}
	before, err := b.Totals(b.ctx, exam)
	b.must(err)
	r, err := p.Run(b.ctx, exam, true, ann)
	b.must(err)
	if want := (operator.PurgeResult{Sale: exam, Roster: 30, Bookings: 2, Parked: 1, DryRun: true}); r != want || !strings.Contains(b.known(), b.hash(1)) {
		t.Fatalf("dry run %+v, want %+v and nothing changed", r, want)
	}
	r, err = p.Run(b.ctx, exam, false, ann)
	b.must(err)
	if r.Roster != 30 || r.Bookings != 2 || r.Parked != 1 {
		t.Errorf("result %+v", r)
	}
	known := b.known()
	for _, s := range b.secrets() {
		if strings.Contains(known, s) {
			t.Errorf("%s is still known:\n%s", s, known)
		}
	}
	after, err := b.Totals(b.ctx, exam)
	b.must(err)
	if fmt.Sprint(before) != fmt.Sprint(after) {
		t.Errorf("totals %+v, before %+v", after, before)
	}
	if st := b.end().Redis; st.RosterVersion != operator.PurgedRoster || st.RosterSize != 0 {
		t.Errorf("Redis has roster %q of %d", st.RosterVersion, st.RosterSize)
	}
	audit, err := b.healers().Auditor.Audit(b.ctx, exam)
	b.must(err)
	if len(audit.Violations) > 0 {
		t.Errorf("audit: %v", audit.Violations)
	}
	if !strings.Contains(strings.Join(b.trail(), "\n"), "purge: 30 roster rows, 2 bookings and 1 parked items that tell who -> nobody is known any more (operator:ann, because)") {
		t.Errorf("trail %q", b.trail())
	}
	acts := len(b.trail())
	r, err = p.Run(b.ctx, exam, false, ann)
	b.must(err)
	if !r.Nothing() || len(b.trail()) != acts {
		t.Errorf("again: %+v, %d acts after %d", r, len(b.trail()), acts)
	}
}

func TestPurgeWaitsForWhomItNeeds(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(b *bench)
		says  string
	}{
		"open": {func(b *bench) { b.edit(func(c *ledger.Control) { c.Open = true }) }, "sale exam is open until"},
		"pending": {func(b *bench) {
			b.must(b.Open(b.ctx, exam, ann))
			b.book("N1", 7, 1)
			b.must(b.Close(b.ctx, exam, ann))
		}, "1 admissions or holds in Redis"},
		"held": {func(b *bench) {
			b.write(ledger.Hold(ledger.Booking{ID: "h", Sale: exam, Candidate: "c", Level: "N1", Seats: []ledger.Seat{{Token: "N1-9", Score: 9}}, Gen: 1,
				Payment: ledger.PaymentKey{Gateway: "page", ID: "x"}, Price: b.plan().Price, AdmittedAt: b.World.Now(), HoldUntil: b.World.Now().Add(time.Minute)}, "worker", b.World.Now()))
		}, "1 bookings are held"},
		"money": {func(b *bench) {
			k, err := b.World.Store.Booking(b.ctx, "X1")
			b.must(err)
			b.write(ledger.Cancel(k, "operator:ann", b.World.Now()))
		}, "1 payments do not rest yet"},
		"inbox": {func(b *bench) {
			b.must(b.World.Store.Park(b.ctx, ledger.InboxItem{Sale: exam, ID: "j", At: b.World.Now()}))
		}, "1 items wait for a decision"},
		"dead letters": {func(b *bench) { b.queue.depth = events.Depth{Dead: 2} }, "2 dead letters"},
	} {
		t.Run(name, func(t *testing.T) {
			b, p := over(t)
			c.spoil(b)
			for _, dry := range []bool{true, false} {
				_, err := p.Run(b.ctx, exam, dry, ann)
				r := refused(t, err, operator.CodeNotOver)
				if !strings.Contains(r.Error(), c.says) {
					t.Errorf("the refusal lacks %q: %v", c.says, r)
				}
			}
			if !strings.Contains(b.known(), b.hash(1)) {
				t.Error("it was purged all the same")
			}
		})
	}
	b, p := over(t)
	_, err := p.Run(b.ctx, "nowhere", true, ann)
	refused(t, err, operator.CodeUnknownSale)
}

// TestPurgeOfASaleThatGoesOn: between the purge's look and the freeze somebody
// may open the sale, or the queue bring a booking. Then nobody is forgotten.
func TestPurgeOfASaleThatGoesOn(t *testing.T) {
	for name, goOn := range map[string]func(b *bench){
		"opened": func(b *bench) { b.must(b.Open(b.ctx, exam, ann)) },
		"held": func(b *bench) {
			b.write(ledger.Hold(ledger.Booking{ID: "h", Sale: exam, Candidate: "c", Level: "N1", Seats: []ledger.Seat{{Token: "N1-9", Score: 9}}, Gen: 1,
				Payment: ledger.PaymentKey{Gateway: "page", ID: "x"}, Price: b.plan().Price, AdmittedAt: b.World.Now(), HoldUntil: b.World.Now().Add(time.Minute)}, "worker", b.World.Now()))
		},
	} {
		t.Run(name, func(t *testing.T) {
			b, p := over(t)
			refill := p.Refill
			p.Refill = func(ctx context.Context, saleID string, prepare func(context.Context, func(context.Context) error) error) error {
				goOn(b)
				return refill(ctx, saleID, prepare)
			}
			_, err := p.Run(b.ctx, exam, false, ann)
			r := refused(t, err, operator.CodeNotOver)
			if !strings.Contains(r.Error(), "holdfast rebuild exam") || !b.control().Frozen {
				t.Errorf("frozen %v: %v", b.control().Frozen, r)
			}
			known := b.known()
			for _, s := range []string{b.hash(1), b.hash(30), "secret-key"} {
				if !strings.Contains(known, s) {
					t.Errorf("%s is forgotten", s)
				}
			}
			_, err = b.healers().Rebuilder.Rebuild(b.ctx, exam, reaper.RebuildOptions{})
			b.must(err)
			if st := b.end().Redis; st.RosterSize != 30 {
				t.Errorf("the rebuilt sale has a roster of %d", st.RosterSize)
			}
		})
	}
}

// TestPurgeSeesWhomItMissed: while the purge forgets a worker ends an event that was
// on its way when the sale was frozen, and writes who booked to a part of the table
// that was looked through already.
func TestPurgeSeesWhomItMissed(t *testing.T) {
	b, p := over(t)
	b.at("ledger DropRoster", func() {
		b.write(ledger.Tombstone(ledger.Booking{ID: "late", Sale: exam, Candidate: b.hash(7), Level: "N1", Gen: 1, EmailHash: "e", Key: "secret-key", InputHash: "secret-input"},
			ledger.ReasonOrphan, "reaper", b.World.Now()))
	})
	_, err := p.Run(b.ctx, exam, false, ann)
	b.must(err)
	if _, err := b.World.Store.Booking(b.ctx, "late"); err != nil {
		t.Fatalf("nobody was late: %v", err)
	}
	known := b.known()
	for _, s := range b.secrets() {
		if strings.Contains(known, s) {
			t.Errorf("%s is still known", s)
		}
	}
}

// TestPurgeKeepsItsLeaseWhileItLooks: a large table takes longer than a lease.
func TestPurgeKeepsItsLeaseWhileItLooks(t *testing.T) {
	b, p := over(t)
	refill, kept, looks := p.Refill, 0, 0
	p.Refill = func(ctx context.Context, saleID string, prepare func(context.Context, func(context.Context) error) error) error {
		return refill(ctx, saleID, func(ctx context.Context, keep func(context.Context) error) error {
			before := b.World.Store.Calls()["Scan"]
			return prepare(ctx, func(ctx context.Context) error {
				if kept++; b.World.Store.Calls()["Scan"] == before+1 && b.control().RosterVersion != operator.PurgedRoster {
					looks++
				}
				return keep(ctx)
			})
		})
	}
	_, err := p.Run(b.ctx, exam, false, ann)
	b.must(err)
	if looks < 30 {
		t.Errorf("kept %d times, %d of them while it looked through 32 rows", kept, looks)
	}
}

// TestPurgeCrashedAtEveryStep: whatever a purge that died has left, the next one
// ends it, and nobody is known.
func TestPurgeCrashedAtEveryStep(t *testing.T) {
	crashes := 0
	for _, after := range []bool{false, true} {
		for k := 1; ; k++ {
			b, p := over(t)
			b.Faults.CrashAt(k, after)
			_, err := p.Run(b.ctx, exam, false, ann)
			crashed, ops := b.Faults.Crashed()
			b.Faults.Restart()
			if !crashed {
				b.must(err)
				break
			}
			crashes++
			b.Advance(2 * reaper.DefaultLease) // the dead one's lease
			if _, err := p.Run(b.ctx, exam, false, ann); err != nil {
				t.Fatalf("again after a crash at call %d (answer lost: %v) of %v: %v", k, after, ops, err)
			}
			known := b.known()
			for _, s := range b.secrets() {
				if strings.Contains(known, s) {
					t.Fatalf("after a crash at call %d (answer lost: %v) of %v %s is known", k, after, ops, s)
				}
			}
			c := b.control()
			if c.Frozen || c.RosterVersion != operator.PurgedRoster {
				t.Fatalf("after a crash at call %d of %v: %+v", k, ops, c)
			}
		}
	}
	if crashes < 20 {
		t.Fatalf("only %d crashes", crashes)
	}
}
