package operator

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/holdfast/holdfast/capacity"
	"github.com/holdfast/holdfast/ledger"
)

// checkReplica makes the round trip that every admission waits for. An INFO
// that names a replica as online says nothing of a write that reaches it.
func (p *Preflight) checkReplica(ctx context.Context, saleID string) Check {
	const name = "replica"
	took, err := p.Prover.Prove(ctx, saleID)
	if err != nil {
		return Check{name, Fail, "a write was not acknowledged as an admission has to be: " + err.Error() + ": look at the replica and at HOLDFAST_REDIS_REPLICAS"}
	}
	return Check{name, Pass, fmt.Sprintf("a write was acknowledged after %s", took.Round(10*time.Microsecond))}
}

// The shares of Redis's memory that a sale may fill.
const (
	memoryTight = 0.7
	memoryFull  = 0.9
)

// checkMemory: with noeviction a full Redis refuses admissions.
func (p *Preflight) checkMemory(ctx context.Context, c ledger.Control) Check {
	const name = "memory"
	h, err := p.Desk.Server.Health(ctx, c.Sale)
	if err != nil {
		return Check{name, Fail, err.Error()}
	}
	more := capacity.RedisBytes(c.RosterSize, c.Plan.TotalCap)
	detail := fmt.Sprintf("%s used, up to %s more when all is sold", megabytes(h.UsedMemory), megabytes(more))
	if h.MaxMemory == 0 {
		return Check{name, Warn, detail + "; Redis has no maxmemory, so the system may kill it when it grows: set one"}
	}
	detail += ", of " + megabytes(h.MaxMemory)
	switch need := float64(h.UsedMemory + more); {
	case need > memoryFull*float64(h.MaxMemory):
		return Check{name, Fail, detail + ": a full Redis admits nobody: choose a larger node"}
	case need > memoryTight*float64(h.MaxMemory):
		return Check{name, Warn, detail + ": choose a larger node"}
	}
	return Check{name, Pass, detail}
}

func megabytes(n int64) string { return fmt.Sprintf("%.0f MB", float64(n)/1e6) }

// checkTable: the ledger is the truth, so it must be there and recoverable.
func (p *Preflight) checkTable(ctx context.Context) Check {
	const name = "ledger"
	t, err := p.Table.Inspect(ctx)
	switch {
	case err != nil:
		return Check{name, Fail, "the table can't be looked at: " + err.Error()}
	case !t.Active:
		return Check{name, Fail, "the table is not active yet: wait, then check again"}
	case t.Hidden != "":
		return Check{name, Warn, "the table answers; whether it could be recovered can't be seen from here: " + t.Hidden}
	case !t.Recoverable:
		return Check{name, Fail, "point-in-time recovery is off: a lost table would be a lost sale; switch it on (aws dynamodb update-continuous-backups)"}
	}
	return Check{name, Pass, "the table answers, point-in-time recovery is on"}
}

// Sweeps leave 60 s of grace to clocks (protocol.md 3.8), so skew never sells a
// seat twice; it releases and refunds at the wrong time.
const (
	skewSeen  = 2 * time.Second
	skewGrave = 30 * time.Second
)

// checkClocks compares this process's clock with those of the servers: ages and
// opening times are Redis's, notes and histories are the processes'.
func (p *Preflight) checkClocks(ctx context.Context, c ledger.Control) Check {
	const name = "clocks"
	redis := Clock{Name: "Redis", Precision: time.Millisecond, Now: func(ctx context.Context) (time.Time, error) {
		live, err := p.Desk.Redis.Status(ctx, c.Sale, c.Plan.LevelNames())
		return live.Now, err
	}}
	var far, said []string
	verdict := Pass
	for _, clock := range append([]Clock{redis}, p.Clocks...) {
		skew, err := p.skew(ctx, clock)
		if err != nil {
			verdict, far = Fail, append(far, clock.Name+"'s can't be read: "+err.Error())
			continue
		}
		said = append(said, fmt.Sprintf("%s %+.3f s", clock.Name, skew.Seconds()))
		switch {
		case skew.Abs() > skewGrave:
			verdict, far = Fail, append(far, fmt.Sprintf("%s's is %+.0f s from this machine's", clock.Name, skew.Seconds()))
		case skew.Abs() > skewSeen:
			if verdict == Pass {
				verdict = Warn
			}
			far = append(far, fmt.Sprintf("%s's is %+.1f s from this machine's", clock.Name, skew.Seconds()))
		}
	}
	if len(far) > 0 {
		return Check{name, verdict, strings.Join(far, "; ") + ": let chrony or the cloud's time service set the clocks"}
	}
	return Check{name, Pass, "to this machine's: " + strings.Join(said, ", ")}
}

// skew is how far the clock surely is from this process's: what the round trip
// and the clock's precision could explain is none.
func (p *Preflight) skew(ctx context.Context, clock Clock) (time.Duration, error) {
	before := p.Desk.Now()
	shown, err := clock.Now(ctx)
	after := p.Desk.Now()
	switch {
	case err != nil:
		return 0, err
	case shown.After(after):
		return shown.Sub(after), nil
	case shown.Add(clock.Precision).Before(before):
		return shown.Add(clock.Precision).Sub(before), nil
	}
	return 0, nil
}
