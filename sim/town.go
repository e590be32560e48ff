package sim

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/admission/admissiontest"
	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/ledger/ledgertest"
	"github.com/holdfast/holdfast/lifecycle"
	"github.com/holdfast/holdfast/localstack/fifo"
	"github.com/holdfast/holdfast/payment/sandbox"
	"github.com/holdfast/holdfast/payment/sandbox/server"
	"github.com/holdfast/holdfast/sale"
)

const theSale = "spring"

// town is one simulated deployment with its customers.
type town struct {
	options Options
	mutant  Mutant
	rng     *rand.Rand // of whoever has the turn: use it only while nothing else runs
	log     *eventLog
	sched   *scheduler
	faults  *plan
	ctx     context.Context // of everything; ends when the run is over
	cancel  context.CancelFunc

	redis    *admissiontest.Redis
	replicas admissiontest.Fault // what befalls the acknowledgement of the call under way
	health   admission.Health    // of the primary
	ledger   ledger.Store        // without a network in between
	tables   *tables             // not nil: the ledger is in the table engine
	cloud    *fifo.Cloud
	pay      *server.Server
	tokens   *sandbox.MemoryTokens
	hasher   *sale.Hasher
	plan     sale.Sale
	script   script // what this run is made of

	network   *process // what is under way between processes
	ingress   []*ingressRole
	workers   []*workerRole
	reapers   []*reaperRole
	operator  *operatorRole
	crowd     []*candidate
	everybody []*process // that ever was

	touched bool // something was written since the last look of the auditor
	dirty   int  // how often so
	audit   *auditor
	holds   *holdWatch

	calm   atomic.Bool // nothing goes wrong any more
	mu     sync.Mutex
	stray  sync.WaitGroup // copies and late calls
	alarms map[lifecycle.AlarmKind]int
	boots  int
}

// background starts something that no process owns.
func (t *town) background(f func()) { t.stray.Go(f) }

// script is what one seed plays: sizes, speeds and which troubles it sees.
type script struct {
	candidates       int
	gateway          string // "page" or "exec"
	invoiceOnly      bool
	maxReceives      int
	sweepEvery       time.Duration
	refreshEvery     time.Duration
	ingress, workers int
	reapers          int
	resume           bool
	withTable        bool
}

func drawScript(rng *rand.Rand) script {
	s := script{
		candidates: 4 + rng.IntN(6), gateway: []string{"page", "exec"}[rng.IntN(2)], invoiceOnly: rng.IntN(4) == 0,
		maxReceives: []int{4, 7, 20}[rng.IntN(3)], sweepEvery: []time.Duration{20 * time.Second, time.Minute}[rng.IntN(2)],
		refreshEvery: []time.Duration{5 * time.Second, 15 * time.Second, 25 * time.Second}[rng.IntN(3)],
		ingress:      1 + rng.IntN(2), workers: 1 + rng.IntN(2), reapers: 1 + rng.IntN(2), resume: rng.IntN(2) == 0,
	}
	s.withTable = rng.IntN(60) == 0
	return s
}

// drawPlan is a small sale: fewer seats than candidates.
func drawPlan(rng *rand.Rand, start time.Time) sale.Sale {
	p := sale.Sale{ID: theSale, Title: "Spring", Zone: "UTC", OpensAt: start, ClosesAt: start.Add(96 * time.Hour),
		Hold: []time.Duration{time.Minute, 3 * time.Minute, 10 * time.Minute}[rng.IntN(3)], MaxSeats: 1 + rng.IntN(2),
		Price:  sale.Money{AmountMinor: 100_00, Currency: "BDT"},
		Levels: []sale.Level{{Name: "A", Cap: 1 + rng.IntN(3)}}}
	if rng.IntN(2) == 0 {
		p.Levels = append(p.Levels, sale.Level{Name: "B", Cap: 1 + rng.IntN(2), Price: &sale.Money{AmountMinor: 150_00, Currency: "BDT"}})
	}
	if rng.IntN(3) == 0 {
		drawHall(rng, &p)
	}
	p = p.WithDefaults()
	if p.TotalCap > 2 && rng.IntN(4) == 0 {
		p.TotalCap--
	}
	return p
}

func newTown(ctx context.Context, o Options) (*town, error) {
	rng := rand.New(rand.NewPCG(o.Seed, 0x686f6c6466617374))
	t := &town{options: o, mutant: o.Mutant, rng: rng, log: newEventLog(o.Lines), faults: newPlan(rng), script: drawScript(rng),
		alarms: map[lifecycle.AlarmKind]int{}, health: admission.Health{Role: "master", ReplicationID: "r1", ConnectedReplicas: 1}}
	t.ctx, t.cancel = context.WithCancel(ctx)
	t.sched = newScheduler(rng, t.log, t.faults)
	t.plan = drawPlan(rng, time.Now())
	t.network = t.newProcess("network")
	if err := t.openWorld(); err != nil {
		return nil, err
	}
	if err := t.load(); err != nil {
		return nil, err
	}
	t.audit = &auditor{town: t, states: map[string]ledger.State{}}
	t.holds = &holdWatch{town: t, ids: map[string]bool{}, count: map[string]int{}}
	t.log.printf("seed %d: %s", o.Seed, t.describe())
	return t, nil
}

func (t *town) describe() string {
	levels := make([]string, len(t.plan.Levels))
	for i, l := range t.plan.Levels {
		levels[i] = fmt.Sprintf("%s%s:%d", l.Name, l.Kind, l.Cap)
	}
	return fmt.Sprintf("hold %v, %s of %d, %+v, rates %v", t.plan.Hold, strings.Join(levels, " "), t.plan.TotalCap, t.script, t.faults.rate)
}

// load installs the open sale and its roster, on a quiet morning.
func (t *town) load() error {
	p := admission.Plan{Sale: theSale, Gen: 1, OpensAt: t.plan.OpensAt, ClosesAt: t.plan.ClosesAt, Hold: t.plan.Hold,
		TotalCap: t.plan.TotalCap, Open: true, RosterVersion: "r1"}
	next := map[string]int{}
	for _, l := range t.plan.Levels {
		lp := admission.LevelPlan{Name: l.Name, Kind: string(l.Kind), Cap: l.Cap, Next: l.Cap + 1}
		for _, s := range l.Seats {
			lp.Tokens = append(lp.Tokens, s.Name)
		}
		p.Levels = append(p.Levels, lp)
		if l.Kind == sale.KindCounted {
			next[l.Name] = l.Cap + 1
		}
	}
	var entries []admission.RosterEntry
	var rows []ledger.RosterRow
	for i := range t.script.candidates {
		c := t.newCandidate(i)
		t.crowd = append(t.crowd, c)
		entries = append(entries, admission.RosterEntry{Candidate: c.hash, EmailHash: c.mailHash})
		rows = append(rows, ledger.RosterRow{Candidate: c.hash, EmailHash: c.mailHash})
	}
	for _, err := range []error{
		t.ledger.PutRoster(t.ctx, theSale, rows),
		t.redis.Install(t.ctx, p, func(ctx context.Context) error { return t.redis.PutRoster(ctx, theSale, entries) }), // and waits for the replicas
		t.ledger.CreateControl(t.ctx, ledger.Control{Sale: theSale, Gen: 1, Plan: t.plan, Open: true, Next: next, RosterVersion: "r1",
			RosterSize: len(rows), Epoch: 1, ReplicationID: t.health.ReplicationID}),
	} {
		if err != nil {
			return fmt.Errorf("sim: load the sale: %w", err)
		}
	}
	return nil
}

func (t *town) newStore() ledger.Store { return ledgertest.NewStore(time.Now) }

func (t *town) alarm(a lifecycle.Alarm) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.alarms[a.Kind]++
	t.log.printf("ALARM %s %s %s", a.Kind, a.BookingID, a.Detail)
}
