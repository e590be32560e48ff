package sim

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/holdfast/holdfast/admission/admissiontest"
)

// kind is what befalls a call.
type kind int

// The kinds. A call that comes late or twice is also how calls overtake each
// other.
const (
	none kind = iota
	failBefore
	loseAnswer
	slowAnswer // done at once, its answer comes late: the caller acts on old news
	late       // done later, perhaps after the caller has given up
	twice      // done at once and once more, later
	busy       // of the ledger: nothing was decided
	short      // of Redis: the replicas do not acknowledge
	crashed
	kinds
)

var kindNames = [kinds]string{"none", "fail_before", "lose_answer", "slow_answer", "late", "twice", "busy", "short_wait", "crashed"}

// verdict is what the scheduler decides about one turn.
type verdict struct {
	kind     kind
	delay    time.Duration
	replicas admissiontest.Fault
}

// String is empty for a call without a fault.
func (v verdict) String() string {
	if v.kind == none {
		return ""
	}
	text := " !" + kindNames[v.kind]
	if v.delay > 0 {
		text += fmt.Sprintf(" %v", v.delay)
	}
	if v.replicas == admissiontest.GhostWait {
		text += " ghost"
	}
	return text
}

// plan decides about faults. Rates differ by service, and each run draws its
// own, from none to one call in eight.
type plan struct {
	rate  map[string]float64   // by service: redis, ledger, queue, gateway, http
	calm  bool                 // nothing goes wrong any more
	away  time.Time            // until then the replica acknowledges nothing
	down  map[string]time.Time // services that do nothing until then
	fired map[string]int       // "redis lose_answer" -> times
}

var services = []string{"redis", "ledger", "queue", "gateway", "http"}

func newPlan(rng *rand.Rand) *plan {
	p := &plan{rate: map[string]float64{}, down: map[string]time.Time{}, fired: map[string]int{}}
	for _, s := range services {
		p.rate[s] = []float64{0, 0.005, 0.02, 0.05, 0.12}[rng.IntN(5)]
	}
	return p
}

func serviceOf(op string) string {
	service, _, _ := strings.Cut(op, ".")
	return service
}

// waits are the calls of Redis that wait for the replicas.
var waits = map[string]bool{"redis.Admit": true, "redis.Undo": true, "redis.Attach": true, "redis.Resume": true, "redis.Reseed": true,
	"redis.SetCap": true, "redis.SetOpen": true, "redis.SetTimes": true, "redis.SetHold": true, "redis.SetRosterVersion": true,
	"redis.AcquireExecute": true, "redis.Promote": true, "redis.EditSeats": true, "redis.SetMark": true}

// copied are the calls whose copies can reach their server by themselves: one
// message each. The others are a read, or a read and a write that depends on it,
// of which a copy alone can do nothing.
var copied = map[string]bool{"redis.Admit": true, "redis.Undo": true, "redis.Settle": true, "redis.Attach": true, "redis.Resume": true,
	"redis.Reseed": true, "redis.SetCap": true, "redis.SetOpen": true, "redis.SetMark": true, "redis.AcquireExecute": true, "redis.ReleaseExecute": true,
	"redis.Hold": true, "redis.Extend": true, "redis.Promote": true, "redis.Lapse": true, "ledger.Apply": true, "ledger.Park": true,
	"queue.Send": true, "queue.Park": true, "queue.Delete": true, "gateway": true, "http": true}

func (p *plan) decide(rng *rand.Rand, t *turn) verdict {
	service := serviceOf(t.op)
	if !p.calm && waits[t.op] && time.Now().Before(p.away) {
		p.fired["redis "+kindNames[short]]++
		return shortWait(rng)
	}
	if !p.calm && time.Now().Before(p.down[service]) {
		p.fired[service+" down"]++
		return verdict{kind: failBefore}
	}
	roll := rng.Float64()
	if p.calm || roll >= p.rate[service] {
		return verdict{}
	}
	v := verdict{kind: failBefore + kind(rng.IntN(int(twice)))}
	switch {
	case service == "redis" && waits[t.op] && rng.IntN(3) == 0:
		v = shortWait(rng)
	case service == "ledger" && rng.IntN(5) == 0:
		v = verdict{kind: busy}
	}
	if (v.kind == late || v.kind == twice) && !copied[service] && !copied[t.op] {
		v.kind = slowAnswer
	}
	switch v.kind {
	case slowAnswer, late:
		v.delay = longTail(rng, 30*time.Second)
	case twice: // the network forgets what it kept before the dead marks do (protocol.md 3.8, lifetimes)
		v.delay = longTail(rng, 5*time.Minute)
	}
	p.fired[service+" "+kindNames[v.kind]]++
	return v
}

// shortWait is a replica that does not acknowledge, and sometimes an undo after it
// that fails as well.
func shortWait(rng *rand.Rand) verdict {
	v := verdict{kind: short, replicas: admissiontest.ShortWait}
	if rng.IntN(3) == 0 {
		v.replicas = admissiontest.GhostWait
	}
	return v
}

// longTail is mostly short and sometimes as long as most.
func longTail(rng *rand.Rand, most time.Duration) time.Duration {
	f := rng.Float64()
	return time.Duration(f * f * f * float64(most)).Round(time.Microsecond)
}
