package operator

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/holdfast/holdfast/capacity"
	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/payment"
)

// notedFor is after what time without a word a worker's note is no news;
// workers note every few seconds. A message that waits for as long has nobody.
const notedFor = 2 * time.Minute

// checkQueue: what waits before a sale opens will still be in the way when it
// does, and a dead letter is a decision that somebody has put off.
func (p *Preflight) checkQueue(ctx context.Context) Check {
	const name = "queue"
	q, err := p.Desk.Queue.Depth(ctx)
	if err != nil {
		return Check{name, Fail, "can't be reached: " + err.Error()}
	}
	if dead := q.Dead + q.DeadInFlight; dead > 0 {
		return Check{name, Fail, fmt.Sprintf("%d dead letters: holdfast dlq list has the reasons, holdfast dlq redrive tries again", dead)}
	}
	if n := q.Visible + q.InFlight; n > 0 {
		return Check{name, Warn, fmt.Sprintf("%d events are waiting or in work: right while another sale sells; else look at the workers", n)}
	}
	return Check{name, Pass, "empty, no dead letters"}
}

// checkWorkers reads the age of the oldest event, which workers note in the
// ledger whether they have work or not.
func (p *Preflight) checkWorkers(ctx context.Context, saleID string) Check {
	const name = "workers"
	n, err := p.Desk.Store.LastSweep(ctx, saleID, "queue")
	switch {
	case errors.Is(err, ledger.ErrNotFound):
		return Check{name, Warn, "none has said a word about this sale yet: a function says one with its first event; a process every few seconds: is holdfast work running?"}
	case err != nil:
		return Check{name, Fail, err.Error()}
	}
	oldest := time.Duration(n.Counts["oldest_ms"]) * time.Millisecond
	silent := p.Desk.Now().Sub(n.At)
	switch {
	case silent > notedFor:
		return Check{name, Warn, fmt.Sprintf("the last word of one is %s old: right where the workers are functions; else: is holdfast work running?", silent.Round(time.Second))}
	case oldest > notedFor:
		return Check{name, Fail, fmt.Sprintf("the oldest event that they see is %s old: run more, or look at their log", oldest.Round(time.Second))}
	}
	return Check{name, Pass, fmt.Sprintf("heard of %s ago, oldest event %s", silent.Round(time.Second), oldest.Round(time.Millisecond))}
}

// checkReaper is Check's look, without its patience: a sale that opens without
// sweeps does not get its seats back.
func (p *Preflight) checkReaper(ctx context.Context, saleID string) Check {
	c := p.Desk.checkSweeps(ctx, saleID)
	if c.Verdict == Warn {
		c.Verdict = Fail
	}
	return c
}

func (p *Preflight) checkDrift(ctx context.Context, saleID string) Check {
	const name = "drift"
	n, err := p.Desk.Store.LastSweep(ctx, saleID, "diff")
	switch {
	case errors.Is(err, ledger.ErrNotFound):
		return Check{name, Warn, "Redis and ledger have not been compared yet: holdfast repair --dry-run does it now"}
	case err != nil:
		return Check{name, Fail, err.Error()}
	case n.Counts["open"] > 0:
		return Check{name, Fail, fmt.Sprintf("%d differences between Redis and ledger: holdfast repair %s --dry-run lists them", n.Counts["open"], saleID)}
	}
	return Check{name, Pass, "none"}
}

// checkGateway asks the gateway whether it is there and knows us.
func (p *Preflight) checkGateway(ctx context.Context) Check {
	c := p.Desk.checkGateway()
	if c.Verdict == Fail {
		return c
	}
	began := p.Desk.Now()
	if err := payment.Answers(ctx, p.Desk.Gateways[p.Desk.Gateway]); err != nil {
		return Check{c.Name, Fail, "it does not answer as it should: " + err.Error() + ": nobody could pay; look at the gateway's status page and at our credentials"}
	}
	c.Detail += fmt.Sprintf(", answers in %s", p.Desk.Now().Sub(began).Round(time.Millisecond))
	return c
}

func (p *Preflight) checkDoor(ctx context.Context, saleID string) Check {
	if err := p.Door.Knock(ctx, saleID); err != nil {
		return Check{"ingress", Fail, err.Error() + ": is holdfast serve running behind HOLDFAST_PUBLIC_URL, and has it had a few seconds to see the sale?"}
	}
	return Check{"ingress", Pass, "the sale's status is served at its public address"}
}

// A crowd of which nothing is known asks as the yardstick does: five requests
// for four candidates in the first minute, each of which could be admitted.
const requestsEach = 1.25

func (c Crowd) guessed(control ledger.Control) Crowd {
	if c.Rate == 0 {
		c.Rate = max(1, float64(control.RosterSize)*requestsEach/60)
	}
	if c.Winners == 0 {
		c.Winners = min(c.Rate, float64(control.Plan.TotalCap))
	}
	if c.RedisMicros == 0 {
		c.RedisMicros = capacity.DefaultRedisMicros
	}
	return c
}

// checkCapacity: what makes the ledger late is a warning, what refuses people
// is not.
func checkCapacity(c Crowd) Check {
	const name = "capacity"
	var less []string
	verdict := Pass
	for _, l := range c.limits() {
		if l.Verdict == capacity.Enough {
			continue
		}
		if verdict == Pass {
			verdict = Warn
		}
		if l.Verdict == capacity.TooLittle && !l.Late {
			verdict = Fail
		}
		less = append(less, fmt.Sprintf("%s: %.0f of %.0f %s, %s", l.Part, l.Need, l.Have, l.Unit, l.Otherwise))
	}
	detail := fmt.Sprintf("for %.0f requests and %.0f bookings in the busiest second", c.Rate, c.Winners)
	if len(less) > 0 {
		detail += ": " + strings.Join(less, "; ")
	}
	return Check{name, verdict, detail}
}
