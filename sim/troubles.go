package sim

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/holdfast/holdfast/payment/sandbox/engine"
)

func crashIngress(t *town, rng *rand.Rand) string { return crashOne(t, rng, t.ingress, t.bootIngress) }
func crashWorker(t *town, rng *rand.Rand) string  { return crashOne(t, rng, t.workers, t.bootWorker) }
func crashReaper(t *town, rng *rand.Rand) string  { return crashOne(t, rng, t.reapers, t.bootReaper) }

// crashOne kills one process of a kind and boots another in its place.
func crashOne[R interface{ self() *process }](t *town, rng *rand.Rand, all []R, boot func() (R, error)) string {
	i := rng.IntN(len(all))
	old := all[i].self()
	old.crash()
	fresh, err := boot()
	t.must(err)
	all[i] = fresh
	return old.name + " is now " + fresh.self().name
}

// houses are the processes of ours.
func (t *town) houses() []*process {
	var all []*process
	for _, r := range t.ingress {
		all = append(all, r.p)
	}
	for _, r := range t.workers {
		all = append(all, r.p)
	}
	for _, r := range t.reapers {
		all = append(all, r.p)
	}
	return all
}

// pause stops a whole process for up to two minutes, as a stalled machine does.
func pause(t *town, rng *rand.Rand) string {
	all := t.houses()
	p := all[rng.IntN(len(all))]
	d := time.Duration(rng.Int64N(int64(2 * time.Minute)))
	p.pausedUntil = time.Now().Add(d)
	return fmt.Sprintf("%s for %v", p.name, d)
}

// jump sets the clock of a process up to ten minutes wrong.
func jump(t *town, rng *rand.Rand) string {
	all := t.houses()
	p := all[rng.IntN(len(all))]
	d := time.Duration(rng.Int64N(int64(20*time.Minute))) - 10*time.Minute
	p.skew.Store(int64(d))
	return fmt.Sprintf("%s by %v", p.name, d)
}

// failover promotes a replica that lacks what was not acknowledged.
func failover(t *town, rng *rand.Rand) string {
	lost := t.redis.Failover(rng.IntN(30))
	t.promote(t.health.ReplicationID)
	return fmt.Sprintf("%d writes lost", lost)
}

// replicaAway cuts the replica off for up to a minute; often the primary dies
// before it is back, so that all that was not acknowledged is lost.
func replicaAway(t *town, rng *rand.Rand) string {
	d := time.Duration(rng.Int64N(int64(time.Minute)))
	t.faults.away = time.Now().Add(d)
	dies := rng.IntN(2) == 0
	if dies {
		t.background(func() {
			time.Sleep(d)
			if t.sched.stand(t.network, "nemesis.primary dies", "").kind == crashed {
				return // the world has ended
			}
			t.log.printf("TROUBLE failover: %d writes lost", t.redis.Failover(1000))
			t.promote(t.health.ReplicationID)
			t.touched = true
		})
	}
	return fmt.Sprintf("for %v, then the primary dies: %t", d, dies)
}

// staleReplica promotes one that lacks acknowledged writes too.
func staleReplica(t *town, rng *rand.Rand) string {
	lost := t.redis.Rewind(1 + rng.IntN(40))
	t.promote(t.health.ReplicationID)
	t.audit.lossy = true
	return fmt.Sprintf("%d writes lost, acknowledged or not", lost)
}

// redisLost empties Redis, or puts an old snapshot in its place; an operator
// rebuilds it.
func redisLost(t *town, rng *rand.Rand) string {
	what := "everything"
	if rng.IntN(2) == 0 {
		t.redis.Flush()
	} else {
		what = fmt.Sprintf("an old snapshot, %d writes lost", t.redis.Rewind(1+rng.IntN(200)))
	}
	t.promote("")
	t.audit.lossy = true
	t.operator.rebuildSoon(time.Duration(rng.Int64N(int64(3 * time.Minute))))
	return what
}

func (t *town) promote(previous string) {
	t.boots++
	t.health.ReplicationID, t.health.PreviousReplication = fmt.Sprintf("r%d", t.boots), previous
}

// gatewayTrouble sets or clears the sandbox's own failure switches.
func gatewayTrouble(t *town, rng *rand.Rand) string {
	f := engine.Faults{}
	some := func() engine.Times { return engine.Times(rng.IntN(3)) }
	switch rng.IntN(7) {
	case 0:
		f.Down = 1 + some()*5
	case 1:
		f.LoseCreate, f.LoseCancel = some(), some()
	case 2:
		f.LoseExecute, f.LoseRefund = 1+some(), some()
	case 3:
		f.QueryUnknown = 2 + some()*4
	case 4:
		f.WebhookDrop = 1 + some()*3
	case 5:
		f.WebhookDuplicate, f.WebhookDelayMS, f.WebhookReorder = rng.IntN(5), rng.Int64N(1_800_000), some()
	case 6:
		f.RefundPendingMS, f.RefuseCreate = rng.Int64N(120_000), some()
	}
	t.must(t.pay.SetFaults("", f))
	return fmt.Sprintf("%+v", f)
}

// outage takes a whole service away for up to two minutes.
func outage(t *town, rng *rand.Rand) string {
	service := services[rng.IntN(len(services))]
	d := time.Duration(rng.Int64N(int64(2 * time.Minute)))
	t.faults.down[service] = time.Now().Add(d)
	return fmt.Sprintf("%s for %v", service, d)
}

// redrive moves the dead letters back into the queue.
func redrive(t *town, _ *rand.Rand) string {
	return t.redriveDead()
}

// backlog stops all workers for up to an hour.
func backlog(t *town, rng *rand.Rand) string {
	until := time.Now().Add(time.Duration(rng.Int64N(int64(time.Hour))))
	for _, w := range t.workers {
		w.p.pausedUntil = until
	}
	return fmt.Sprintf("no worker until %v", until.Format(time.TimeOnly))
}

// weekend lets two days pass with nobody at work, and redrives what is dead.
func weekend(t *town, rng *rand.Rand) string {
	for _, p := range t.houses() {
		p.crash()
	}
	time.Sleep(48 * time.Hour)
	t.boot()
	what := t.redriveDead()
	_ = rng.Uint32()
	return "two days later; " + what
}

func (t *town) redriveDead() string {
	n, err := t.redriveAll()
	t.must(err)
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%d dead letters redriven", n)
}
