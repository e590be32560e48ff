package linear

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/admission/redis"
)

// Every sale is the same: two seats by number, two by name, three in all, and
// five who want them.
const (
	gen       = int64(1)
	counted   = "A"
	seated    = "N"
	emailHash = "aaaaaaaaaaaaaaa1"
)

var (
	levels     = []string{counted, seated}
	candidates = []string{"c1", "c2", "c3", "c4", "c5"}
	seatNames  = []string{"N1", "N2"}
	onSale     = Seats{Caps: map[string]int{counted: 2, seated: 2}, Total: 3}
)

// bench is one sale, the door to it and its history.
type bench struct {
	id      string
	store   *redis.Store
	door    admission.Admitter // the store itself, or its group commit
	history *History
	seen    func(Op)

	mu    sync.Mutex
	known []Op // admissions that were asked for
}

func (b *bench) tally(o Op) {
	if o.Kind == Admit {
		b.mu.Lock()
		b.known = append(b.known, o)
		b.mu.Unlock()
	}
	b.seen(o)
}

func (b *bench) anyBooking(rng *rand.Rand) (Op, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.known) == 0 {
		return Op{}, false
	}
	return b.known[rng.IntN(len(b.known))], true
}

// lookAtAll reads every booking and the total once more, after everything.
func (b *bench) lookAtAll(ctx context.Context) {
	for _, o := range b.known {
		b.look(ctx, -1, o)
	}
	b.count(ctx, -1)
}

// install puts the sale into Redis, through a store with more patience than the
// one under test: a busy machine is no fault of the round's.
func (b *bench) install(ctx context.Context, patient *redis.Store) error {
	now := time.Now()
	p := admission.Plan{
		Sale: b.id, Gen: gen, OpensAt: now.Add(-time.Hour), ClosesAt: now.Add(time.Hour), Hold: 10 * time.Minute, TotalCap: onSale.Total, Open: true, RosterVersion: "v1",
		Levels: []admission.LevelPlan{
			{Name: counted, Kind: "c", Cap: onSale.Caps[counted], Next: onSale.Caps[counted] + 1},
			{Name: seated, Kind: "s", Cap: onSale.Caps[seated], Next: 1, Tokens: seatNames},
		},
	}
	var rows []admission.RosterEntry
	for _, c := range candidates {
		rows = append(rows, admission.RosterEntry{Candidate: c, EmailHash: emailHash})
	}
	if err := patient.Install(ctx, p, nil); err != nil {
		return fmt.Errorf("linear: install %s: %w", b.id, err)
	}
	return patient.PutRoster(ctx, b.id, rows)
}

// open makes a store on the deployment's address. Without acknowledgement it
// takes every admission as promised, whatever the replica says.
func open(d *Deployment, ignore bool, wait time.Duration) (*redis.Store, error) {
	cfg := redis.Config{Addrs: []string{d.Addr()}, Replicas: 1, WaitTimeout: wait, Dialer: d.Dial, Log: slog.New(slog.DiscardHandler)}
	if ignore {
		cfg.Replicas, cfg.AllowUnacknowledged = 0, true
	}
	return redis.Open(cfg)
}
