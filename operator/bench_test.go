package operator_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/events"
	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/lifecycle/lifecycletest"
	"github.com/holdfast/holdfast/operator"
	"github.com/holdfast/holdfast/payment"
	"github.com/holdfast/holdfast/sale"
)

// exam is the sale of these tests; the world brings one of its own, which is
// never to be touched by acts on this one.
const exam = "exam"

var ann = operator.By{Actor: "operator:ann", Reason: "because"}

// bench is a desk on a whole small Holdfast in memory.
type bench struct {
	*operator.Desk
	*lifecycletest.World
	t      *testing.T
	ctx    context.Context
	server *server
	queue  *queue
	public map[string]int64 // the newest version that was passed on
}

// server answers for Redis.
type server struct {
	health admission.Health
	unsafe error
}

func (s *server) Health(context.Context, string) (admission.Health, error) { return s.health, nil }
func (s *server) CheckServer(context.Context, string) error                { return s.unsafe }

// queue answers for the queue.
type queue struct {
	depth events.Depth
	err   error
}

func (q *queue) Depth(context.Context) (events.Depth, error) { return q.depth, q.err }

func newBench(t *testing.T) *bench {
	t.Helper()
	w := lifecycletest.New(t)
	hasher, err := sale.NewHasher([]byte(strings.Repeat("k", 32)))
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{World: w, t: t, ctx: t.Context(), public: map[string]int64{}, queue: &queue{},
		server: &server{health: admission.Health{Role: "master", ReplicationID: "repl-1", EvictionPolicy: "noeviction", ConnectedReplicas: 1, Version: "7.0.15"}}}
	b.Desk = &operator.Desk{
		Store: w.Store, Redis: w.Redis, Server: b.server, Queue: b.queue, Steps: w.Steps, Status: b, Gateways: payment.Gateways{"page": w.Page},
		Gateway: "page", Hasher: hasher, Now: w.Now, Log: slog.New(slog.DiscardHandler),
	}
	return b
}

// Changed implements lifecycle.StatusNotifier.
func (b *bench) Changed(saleID string, version int64) {
	b.public[saleID] = max(b.public[saleID], version)
}

// plan is a small sale: ten seats in N1, five in N2.
func (b *bench) plan() sale.Sale {
	return sale.Sale{ID: exam, Title: "Examination", Zone: "Asia/Dhaka", OpensAt: b.World.Now(), ClosesAt: b.World.Now().Add(time.Hour), Hold: 10 * time.Minute,
		Price: sale.Money{AmountMinor: 350000, Currency: "BDT"}, Levels: []sale.Level{{Name: "N1", Cap: 10}, {Name: "N2", Cap: 5}}}.WithDefaults()
}

func (b *bench) must(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

// applied is a bench on which the exam is installed.
func applied(t *testing.T) *bench {
	t.Helper()
	b := newBench(t)
	b.must(b.apply(b.plan()))
	return b
}

// selling is a bench on which the exam sells.
func selling(t *testing.T) *bench {
	t.Helper()
	b := applied(t)
	b.must(b.load(people(30)...))
	b.must(b.Open(b.ctx, exam, ann))
	return b
}

func (b *bench) apply(plan sale.Sale) error {
	_, err := b.Apply(b.ctx, plan, ann)
	return err
}

// people are candidates P0001 and so on who may book anything.
func people(n int) []sale.Row {
	rows := make([]sale.Row, n)
	for i := range rows {
		rows[i] = person(i + 1)
	}
	return rows
}

func person(n int, levels ...string) sale.Row {
	return sale.Row{Code: sale.Code(fmt.Sprintf("P%04d", n)), Email: sale.Email(fmt.Sprintf("p%d@example.org", n)), Levels: levels}
}

func file(rows ...sale.Row) operator.Rows {
	return func() (iter.Seq2[sale.Row, error], error) {
		return func(yield func(sale.Row, error) bool) {
			for _, r := range rows {
				if !yield(r, nil) {
					return
				}
			}
		}, nil
	}
}

func (b *bench) load(rows ...sale.Row) error {
	_, err := b.ImportRoster(b.ctx, exam, file(rows...), operator.ImportOptions{}, nil, ann)
	return err
}

// book admits n people, from the first-th on, into a level.
func (b *bench) book(level string, first, n int) (tokens []string) {
	b.t.Helper()
	c := b.control()
	for i := first; i < first+n; i++ {
		a, err := b.World.Redis.Admit(b.ctx, admission.Request{Sale: exam, BookingID: fmt.Sprintf("X%d", i), Candidate: b.hash(i), Level: level, Gen: c.Gen,
			InputHash: "in", EmailHash: string(b.Hasher.Email(person(i).Email)), AmountMinor: 1, Currency: "BDT", Count: 1})
		b.must(err)
		if a.Outcome != admission.Admitted {
			b.t.Fatalf("person %d: %v", i, a.Outcome)
		}
		tokens = append(tokens, a.Tokens...)
	}
	return tokens
}

func (b *bench) hash(n int) string { return string(b.Hasher.Code(person(n).Code)) }

func (b *bench) control() ledger.Control {
	b.t.Helper()
	c, err := b.World.Store.Control(b.ctx, exam)
	b.must(err)
	return c
}

// end is all that an act may leave behind: the control item, Redis and both
// rosters. Revisions and status versions count the tries and are left out.
type end struct {
	Control ledger.Control
	Redis   admission.Status
	Ledger  map[string]ledger.RosterRow
	Roster  map[string]admission.RosterEntry
}

func (b *bench) end() end {
	b.t.Helper()
	e := end{Control: b.control(), Ledger: map[string]ledger.RosterRow{}, Roster: map[string]admission.RosterEntry{}}
	e.Control.Rev, e.Control.CapSerial = 0, 0 // how many tries it took says nothing of the end
	var err error
	e.Redis, err = b.World.Redis.Status(b.ctx, exam, e.Control.Plan.LevelNames())
	b.must(err)
	e.Redis.Version = 0
	b.must(b.World.Store.Scan(b.ctx, exam, ledger.Visitor{Roster: func(r ledger.RosterRow) error { e.Ledger[r.Candidate] = r; return nil }}))
	b.must(b.World.Redis.ScanRoster(b.ctx, exam, func(r admission.RosterEntry) error { e.Roster[r.Candidate] = r; return nil }))
	return e
}

func diffEnds(want, got end) string {
	if reflect.DeepEqual(want, got) { // cmp takes seconds for a large roster
		return ""
	}
	return cmp.Diff(want, got, cmpopts.EquateEmpty())
}

// trail are the acts in the audit trail.
func (b *bench) trail() (acts []string) {
	b.t.Helper()
	b.must(b.Trail(b.ctx, exam, func(e ledger.AuditEntry) error {
		acts = append(acts, fmt.Sprintf("%s: %s -> %s (%s, %s)", e.Action, e.Before, e.After, e.Actor, e.Reason))
		return nil
	}))
	return acts
}

// atEveryStep crashes act before and after each of its calls, does it again as a
// new process, and wants the same end as without a crash. check looks at each
// end, and at each state right after a crash.
func atEveryStep(t *testing.T, setup func(*testing.T) *bench, act func(*bench) error, check func(b *bench)) {
	t.Helper()
	calm := setup(t)
	calm.must(act(calm))
	want := calm.end()
	check(calm)
	crashes := 0
	for _, after := range []bool{false, true} {
		for k := 1; ; k++ {
			b := setup(t)
			b.Faults.CrashAt(k, after)
			err := act(b)
			crashed, ops := b.Faults.Crashed()
			b.Faults.Restart()
			if !crashed {
				b.must(err)
				break
			}
			crashes++
			check(b)
			if err := act(b); err != nil {
				t.Fatalf("again after a crash at call %d (answer lost: %v) of %v: %v", k, after, ops, err)
			}
			if diff := diffEnds(want, b.end()); diff != "" {
				t.Fatalf("again after a crash at call %d (answer lost: %v) of %v (-want +got):\n%s", k, after, ops, diff)
			}
			check(b)
			if err := act(b); err != nil {
				t.Fatalf("once more: %v", err)
			}
			if diff := diffEnds(want, b.end()); diff != "" {
				t.Fatalf("once more is not the same (-want +got):\n%s", diff)
			}
		}
	}
	if crashes < 6 {
		t.Fatalf("only %d crashes: the act makes too few calls to be tested", crashes)
	}
}

// conserved holds Redis to used + free = cap, and free seats to what the caps
// allow.
func conserved(b *bench) {
	b.t.Helper()
	c, err := b.World.Store.Control(b.ctx, exam)
	if err != nil {
		return // not applied yet
	}
	st, err := b.World.Redis.Status(b.ctx, exam, c.Plan.LevelNames())
	if errors.Is(err, admission.ErrNotFound) {
		return
	}
	b.must(err)
	for _, l := range st.Levels {
		if l.Used+l.Free != l.Cap {
			b.t.Fatalf("level %s: %d used, %d free, cap %d", l.Name, l.Used, l.Free, l.Cap)
		}
	}
}

// refused wants a refusal with this code and returns it.
func refused(t *testing.T, err error, code operator.Code) *operator.RefusedError {
	t.Helper()
	var r *operator.RefusedError
	if !errors.As(err, &r) || r.Kind != code {
		t.Fatalf("got %v, want a refusal %s", err, code)
	}
	if len(r.Reasons) == 0 || r.Error() == "" || r.Code() != string(code) || r.Numbers() == nil {
		t.Fatalf("the refusal says nothing: %+v", r)
	}
	return r
}
