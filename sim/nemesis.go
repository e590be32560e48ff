package sim

import (
	"math/rand/v2"
	"time"
)

// trouble is one thing that goes wrong between two turns. It reports what it
// did, "" if nothing.
type trouble struct {
	name  string
	every time.Duration // on average, in a run that has it at all
	share float64       // of the runs that have it
	do    func(t *town, rng *rand.Rand) string
}

var troubles = []trouble{
	{"crash ingress", 2 * time.Minute, 0.5, crashIngress},
	{"crash worker", 2 * time.Minute, 0.5, crashWorker},
	{"crash reaper", 2 * time.Minute, 0.4, crashReaper},
	{"pause", 2 * time.Minute, 0.5, pause},
	{"clock jump", 3 * time.Minute, 0.4, jump},
	{"failover", 2 * time.Minute, 0.5, failover},
	{"failovers in a row", 5 * time.Second, 0.1, failover},
	{"replica away", 3 * time.Minute, 0.25, replicaAway},
	{"stale replica", 10 * time.Minute, 0.1, staleReplica},
	{"redis lost", 20 * time.Minute, 0.1, redisLost},
	{"outage", 4 * time.Minute, 0.3, outage},
	{"gateway trouble", 3 * time.Minute, 0.4, gatewayTrouble},
	{"dead letters redriven", 3 * time.Minute, 0.4, redrive},
	{"backlog", 15 * time.Minute, 0.15, backlog},
	{"weekend", 20 * time.Minute, 0.1, weekend},
	{"operator", 30 * time.Second, 0.4, operate},
}

// nemesis plays the troubles of one run.
type nemesis struct {
	town  *town
	rng   *rand.Rand
	due   []time.Time // of each trouble; zero: this run does not have it
	count map[string]int
}

func newNemesis(t *town) *nemesis {
	n := &nemesis{town: t, rng: t.rng, due: make([]time.Time, len(troubles)), count: map[string]int{}}
	for i, tr := range troubles {
		if n.rng.Float64() < tr.share {
			n.plan(i)
		}
	}
	return n
}

func (n *nemesis) plan(i int) {
	n.due[i] = time.Now().Add(time.Duration(n.rng.ExpFloat64() * float64(troubles[i].every)))
}

// next is when the next trouble is due.
func (n *nemesis) next() time.Time {
	first := time.Now().Add(time.Minute)
	for _, at := range n.due {
		if !at.IsZero() && at.Before(first) {
			first = at
		}
	}
	return first
}

// strike plays what is due.
func (n *nemesis) strike() {
	for i, tr := range troubles {
		if n.due[i].IsZero() || time.Now().Before(n.due[i]) {
			continue
		}
		if what := tr.do(n.town, n.rng); what != "" {
			n.count[tr.name]++
			n.town.log.printf("TROUBLE %s: %s", tr.name, what)
			n.town.touched = true
		}
		n.plan(i)
	}
}
