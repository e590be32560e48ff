package operator

import (
	"context"
	"time"

	"github.com/holdfast/holdfast/capacity"
)

// Preflight looks at a deployment as it has to be minutes before a sale opens:
// everything that Check looks at, more strictly, and what else a crowd would
// find out. It changes nothing that anybody sees.
type Preflight struct {
	Desk   *Desk
	Prover Prover
	Table  Table
	Clocks []Clock // of the servers; Redis's own is asked through the desk
	Door   Door
}

// Prover makes a write and has it acknowledged as an admission's is.
type Prover interface {
	// Prove returns how long it took; an error if too few replicas answered.
	Prove(ctx context.Context, sale string) (time.Duration, error)
}

// Table answers for the ledger's table.
type Table interface {
	Inspect(ctx context.Context) (TableState, error)
}

// TableState is what a table says about itself.
type TableState struct {
	Active bool
	// Recoverable to any second of the last weeks. Hidden says why that can't be
	// seen from here; then Recoverable says nothing.
	Recoverable bool
	Hidden      string
}

// Clock is a server's clock, which it shows in units of Precision.
type Clock struct {
	Name      string
	Precision time.Duration
	Now       func(ctx context.Context) (time.Time, error)
}

// Door is the sale's public address.
type Door interface {
	// Knock asks for the sale's status as a candidate would.
	Knock(ctx context.Context, sale string) error
}

// Crowd is who is expected in the busiest second. Zero fields are guessed.
type Crowd struct {
	Rate        float64 // booking requests
	Winners     float64 // bookings admitted
	GatewayRate float64 // payments a second that the gateway allows; 0: nobody knows
	RedisMicros float64 // of Redis's thread for one admission; 0: capacity.DefaultRedisMicros
}

// Run makes every check. The error is for a sale that does not exist, or a
// ledger that can't be read; everything else is a check that fails.
func (p *Preflight) Run(ctx context.Context, saleID string, crowd Crowd) ([]Check, error) {
	d := p.Desk
	c, err := d.control(ctx, saleID)
	if err != nil {
		return nil, err
	}
	live, err := d.Redis.Status(ctx, saleID, c.Plan.LevelNames())
	list := []Check{d.checkRedis(ctx, saleID), p.checkReplica(ctx, saleID), p.checkMemory(ctx, c)}
	list = append(list, d.checkSale(ctx, c, live, err)...)
	return append(list,
		p.checkTable(ctx), p.checkClocks(ctx, c),
		p.checkQueue(ctx), p.checkWorkers(ctx, saleID), p.checkReaper(ctx, saleID), p.checkDrift(ctx, saleID),
		p.checkGateway(ctx), p.checkDoor(ctx, saleID), checkCapacity(crowd.guessed(c)),
	), nil
}

// Failed reports whether one of the checks fails.
func Failed(checks []Check) bool {
	for _, c := range checks {
		if c.Verdict == Fail {
			return true
		}
	}
	return false
}

// limits of the crowd.
func (c Crowd) limits() []capacity.Limit {
	return capacity.Limits(capacity.Input{Sales: 1, Rate: c.Rate, Winners: c.Winners, GatewayRate: c.GatewayRate, RedisMicros: c.RedisMicros})
}
