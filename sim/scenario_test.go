package sim

import (
	"net/http"
	"testing"
	"time"

	"github.com/holdfast/holdfast/admission/admissiontest"
	"github.com/holdfast/holdfast/ledger"
)

// Scenarios of protocol.md 6 that need whole processes: who stalls, who comes in
// between, and when.

// TestScenario08: the acknowledgement is missing, and the failover keeps the
// admission and loses its undo.
func TestScenario08_GhostOfAShortWait(t *testing.T) {
	onStage(t, func(t *testing.T, s *stage) {
		fault := s.aim(aim{op: "redis.Admit", v: verdict{kind: short, replicas: admissiontest.GhostWait}})
		if a, err := s.book(0, "k"); err != nil || a.status != http.StatusServiceUnavailable {
			t.Fatalf("status %d, %v", a.status, err)
		}
		s.promote(s.health.ReplicationID)
		ghost := s.redis.Dump(theSale).Seats["A-1"]
		if ghost == "" {
			t.Fatal("there is no ghost")
		}
		s.seatBack(fault, 3*time.Minute)
		if n := len(s.did("ledger.Apply T1")); n > 0 || s.entry(ghost).State != ledger.Released {
			t.Errorf("%d writes of HELD, and the booking is %s", n, s.entry(ghost).State)
		}
	})
}

// TestScenario20: a worker stalls past the visibility, before its write arrives
// or after it, and another one gets the same message.
func TestScenario20_TwoWorkersPersistTheSameHeld(t *testing.T) {
	for name, stall := range map[string]verdict{"before": {kind: late, delay: time.Minute}, "after": {}} {
		t.Run(name, func(t *testing.T) {
			onStage(t, func(t *testing.T, s *stage) {
				second, err := s.bootWorker()
				s.ok(err)
				s.workers = append(s.workers, second)
				s.aim(aim{op: "ledger.Apply T1", v: stall, then: func() {
					stalled := s.done[len(s.done)-1].proc
					for _, w := range s.workers {
						if w.p.name == stalled {
							w.p.pausedUntil = time.Now().Add(90 * time.Second)
						}
					}
				}})
				a := s.booked(0, "k")
				s.pass(2 * time.Minute)
				if writers := s.did("ledger.Apply T1"); len(writers) < 2 || writers[0] == writers[1] {
					t.Fatalf("T1 was sent by %v", writers)
				}
				if d := s.redis.Dump(theSale); s.state(a) != ledger.Held || s.pending() || d.Total != 1 || len(d.Records) != 1 {
					t.Errorf("the booking is %s, pending %t, %d seats used", s.state(a), s.pending(), d.Total)
				}
			})
		})
	}
}

// TestScenario21: redelivery settles what its first worker could not, and the
// pending entry goes once.
func TestScenario21_WorkerDiesAfterT1(t *testing.T) {
	onStage(t, func(t *testing.T, s *stage) {
		fault := s.workerDies(aim{op: "ledger.Apply T1"})
		a := s.booked(0, "k")
		s.until("T1", time.Minute, func() bool { return s.state(a) == ledger.Held })
		if !s.pending() {
			t.Error("settled by a worker that is dead")
		}
		s.redelivered(fault)
		if s.pending() || len(s.did("redis.Settle")) != 1 {
			t.Errorf("pending %t, settled by %v", s.pending(), s.did("redis.Settle"))
		}
	})
}

// TestScenario23: the reaper tombstones at the instant when the worker writes
// HELD. One of them is first, and the other obeys.
func TestScenario23_ReaperAndWorkerWriteAtOnce(t *testing.T) {
	for name, onItsWay := range map[string]time.Duration{"tombstone first": 0, "HELD first": 5 * time.Second} {
		t.Run(name, func(t *testing.T) {
			onStage(t, func(t *testing.T, s *stage) {
				fault := s.aim(aim{proc: "reaper", op: "ledger.Apply T4"})
				if onItsWay > 0 { // on its way when the worker wakes up
					fault.v = verdict{kind: late, delay: onItsWay}
				}
				fault.then = func() { s.workers[0].p.pausedUntil = time.Time{} }
				s.workers[0].p.pausedUntil = time.Now().Add(time.Hour)
				a := s.booked(0, "k")
				s.until("the reaper comes", 16*time.Minute+slack, func() bool { return fault.hits > 0 })
				s.pass(30 * time.Second)
				if !s.queueIsEmpty() || len(s.did("worker.handles H:")) == 0 {
					t.Error("the worker did not come")
				}
				if onItsWay > 0 {
					if s.state(a) != ledger.Held || s.free() || s.pending() {
						t.Errorf("the worker was first: %s, free %t, pending %t", s.state(a), s.free(), s.pending())
					}
				} else if s.state(a) != ledger.Released || !s.free() {
					t.Errorf("the reaper was first: %s, free %t", s.state(a), s.free())
				}
			})
		})
	}
}

// TestClockOfAnAPIHostIsTenMinutesFast: Redis decides when a hold ends, so a host
// whose clock is wrong shortens and lengthens nothing.
func TestClockOfAnAPIHostIsTenMinutesFast(t *testing.T) {
	onStage(t, func(t *testing.T, s *stage) {
		s.ingress[0].p.skew.Store(int64(10 * time.Minute))
		s.pass(6 * time.Second) // until its plans are read by that clock
		began := time.Now()
		a := s.held(0, "k")
		if left := a.doc.HoldUntil.Sub(began); left < stageHold-slack || left > stageHold+slack {
			t.Errorf("the hold is %v", left)
		}
		s.pass(stageHold - time.Minute)
		if s.state(a) != ledger.Held {
			t.Errorf("a minute before the end it is %s", s.state(a))
		}
		s.until("the seat is back", time.Minute+time.Minute+sweepEvery+slack, s.free)
	})
}
