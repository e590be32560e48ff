package operator

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/ledger"
)

// Verdict says how a check came out. The set is closed.
type Verdict string

// The verdicts of a check. Only Fail keeps a sale closed.
const (
	Pass Verdict = "ok"
	Warn Verdict = "warn"
	Fail Verdict = "fail"
)

// Check is one thing that has to be right before a sale is opened (case F10).
type Check struct {
	Name    string  `json:"check"`
	Verdict Verdict `json:"verdict"`
	Detail  string  `json:"detail"` // what was found, and if it fails what to do
}

// Check looks at everything that has to be right before the sale is opened. It
// changes nothing. The error is for a sale that does not exist, or a ledger that
// can't be read; everything else is a check that fails.
func (d *Desk) Check(ctx context.Context, saleID string) ([]Check, error) {
	c, err := d.control(ctx, saleID)
	if err != nil {
		return nil, err
	}
	live, err := d.Redis.Status(ctx, saleID, c.Plan.LevelNames())
	list := append([]Check{d.checkRedis(ctx, saleID)}, d.checkSale(ctx, c, live, err)...)
	return append(list, d.checkQueue(ctx), d.checkGateway(), d.checkSweeps(ctx, saleID)), nil
}

// checkSale looks at the sale itself, as ledger and Redis have it; err is why
// Redis's side can't be read.
func (d *Desk) checkSale(ctx context.Context, c ledger.Control, live admission.Status, err error) []Check {
	list := []Check{checkInstalled(c, live, err)}
	if list[0].Verdict == Fail {
		return list // the rest would say the same in other words
	}
	list = append(list, checkTimes(c, live), checkLevels(c, live), checkTotal(c, live))
	return append(list, d.checkRoster(ctx, c, live)...)
}

func whyNotOpen(saleID string, checks []Check) error {
	r := &RefusedError{Kind: CodeChecksFailed, Figures: map[string]int{"failed": 0, "checks": len(checks)}}
	for _, c := range checks {
		if c.Verdict == Fail {
			r.Reasons = append(r.Reasons, c.Name+": "+c.Detail)
			r.Figures["failed"]++
		}
	}
	if len(r.Reasons) == 0 {
		return nil
	}
	r.Reasons[0] = fmt.Sprintf("sale %s stays closed: %s", saleID, r.Reasons[0])
	return r
}

func judge(name string, bad bool, fail, pass string) Check {
	if bad {
		return Check{name, Fail, fail}
	}
	return Check{name, Pass, pass}
}

func (d *Desk) checkRedis(ctx context.Context, saleID string) Check {
	if err := d.Server.CheckServer(ctx, saleID); err != nil {
		return Check{"redis", Fail, strings.ReplaceAll(err.Error(), "\n", "; ")}
	}
	h, err := d.Server.Health(ctx, saleID)
	if err != nil {
		return Check{"redis", Fail, err.Error()}
	}
	return Check{"redis", Pass, fmt.Sprintf("version %s, %s, %d replicas, lag %d bytes", h.Version, h.EvictionPolicy, h.ConnectedReplicas, h.ReplicaLagBytes)}
}

func checkInstalled(c ledger.Control, live admission.Status, err error) Check {
	const name = "installed"
	if why := whyNotWorking(c); why != nil {
		return Check{name, Fail, why.Error()}
	}
	if err != nil || live.Gen != c.Gen {
		return Check{name, Fail, lost(c, err).Error()}
	}
	if c.CapIntent != nil {
		return Check{name, Fail, fmt.Sprintf("a change of the cap of %q to %d is half done: repeat it", c.CapIntent.Level, c.CapIntent.To)}
	}
	if c.Breaker != "" {
		return Check{name, Fail, "the breaker is open: " + c.Breaker}
	}
	return Check{name, Pass, fmt.Sprintf("generation %d in ledger and Redis", c.Gen)}
}

func checkTimes(c ledger.Control, live admission.Status) Check {
	const name = "times"
	p := c.Plan
	if !live.OpensAt.Equal(p.OpensAt) || !live.ClosesAt.Equal(p.ClosesAt) {
		return Check{name, Fail, "Redis has other times than the ledger: apply the sale file again"}
	}
	opens := fmt.Sprintf("opens %s (%s), closes %s (%s)", zoned(p.OpensAt, p), stamp(p.OpensAt), zoned(p.ClosesAt, p), stamp(p.ClosesAt))
	if !live.Now.Before(p.ClosesAt) {
		return Check{name, Fail, "closing time is over: " + opens + ": mend the times in the sale file and apply it"}
	}
	if live.Now.Before(p.OpensAt) {
		return Check{name, Pass, fmt.Sprintf("%s, in %s", opens, p.OpensAt.Sub(live.Now).Round(time.Second))}
	}
	return Check{name, Pass, opens + ", now"}
}

// checkLevels lets a level without a cap pass once the sale has sold: that is how
// a level is retired.
func checkLevels(c ledger.Control, live admission.Status) Check {
	var bad, retired []string
	for _, l := range live.Levels {
		switch planned := planCap(c.Plan, l.Name); {
		case planned == 0 && l.Cap == 0 && live.Bookings > 0:
			retired = append(retired, l.Name)
		case planned == 0:
			bad = append(bad, fmt.Sprintf("level %s has no cap: give it one, or take it out of the sale file", l.Name))
		case l.Cap != planned:
			bad = append(bad, fmt.Sprintf("level %s has cap %d in Redis, %d in the ledger: apply the sale file again", l.Name, l.Cap, planned))
		case l.Used+l.Free != l.Cap:
			bad = append(bad, fmt.Sprintf("level %s has %d used and %d free seats for a cap of %d: run holdfast audit %s", l.Name, l.Used, l.Free, l.Cap, c.Sale))
		}
	}
	if len(bad) == 0 && len(retired) > 0 {
		return Check{"levels", Warn, "nothing is sold in " + strings.Join(retired, ", ") + ": the cap is 0"}
	}
	return judge("levels", len(bad) > 0, strings.Join(bad, "; "), fmt.Sprintf("%d levels, each with a cap", len(live.Levels)))
}

func checkTotal(c ledger.Control, live admission.Status) Check {
	sum, total := sumOfCaps(c.Plan), c.Plan.TotalCap
	switch {
	case live.TotalCap != total:
		return Check{"total cap", Fail, fmt.Sprintf("it is %d in Redis, %d in the ledger: apply the sale file again", live.TotalCap, total)}
	case total < 1 || total > sum:
		return Check{"total cap", Fail, fmt.Sprintf("it is %d, the levels have %d seats: set it to 1 to %d", total, sum, sum)}
	case total < sum:
		return Check{"total cap", Warn, fmt.Sprintf("%d seats are sold at most, the levels have %d: %d of them can't be sold", total, sum, sum-total)}
	}
	return Check{"total cap", Pass, fmt.Sprintf("%d seats, the sum of the levels", total)}
}

func (d *Desk) checkQueue(ctx context.Context) Check {
	depth, err := d.Queue.Depth(ctx)
	if err != nil {
		return Check{"queue", Fail, "can't be reached: " + err.Error()}
	}
	if depth.Dead+depth.DeadInFlight > 0 {
		return Check{"queue", Warn, fmt.Sprintf("%d waiting, %d dead letters: look at holdfast dlq list", depth.Visible, depth.Dead+depth.DeadInFlight)}
	}
	return Check{"queue", Pass, fmt.Sprintf("%d waiting, no dead letters", depth.Visible+depth.InFlight)}
}

func (d *Desk) checkGateway() Check {
	names := make([]string, 0, len(d.Gateways))
	for name := range d.Gateways {
		names = append(names, name)
	}
	slices.Sort(names)
	g, ok := d.Gateways[d.Gateway]
	if !ok {
		return Check{"gateway", Fail, fmt.Sprintf("new bookings pay at %q, and only %v are configured", d.Gateway, names)}
	}
	mode := "test mode"
	if g.Live() {
		mode = "live"
	}
	return Check{"gateway", Pass, fmt.Sprintf("%s, %s, money to %s", g.Name(), mode, g.Payee())}
}

// sweepsLate is when the sweeps are missed (protocol.md 3.9 row 27).
const sweepsLate = 3 * time.Minute

func (d *Desk) checkSweeps(ctx context.Context, saleID string) Check {
	n, err := d.Store.LastSweep(ctx, saleID, "sweep")
	switch {
	case errors.Is(err, ledger.ErrNotFound):
		return Check{"reaper", Warn, "it has not swept this sale yet: is holdfast reap running?"}
	case err != nil:
		return Check{"reaper", Warn, err.Error()}
	}
	if age := d.Now().Sub(n.At); age > sweepsLate {
		return Check{"reaper", Warn, fmt.Sprintf("its last sweep was %s ago: is holdfast reap running?", age.Round(time.Second))}
	}
	return Check{"reaper", Pass, "it sweeps"}
}
