package sim

import (
	"net/http"
	"testing"
	"time"

	"github.com/holdfast/holdfast/events"
	"github.com/holdfast/holdfast/ledger"
)

// Rows 12 to 20 of the crash table: the worker dies, or the reaper comes in
// between.

// workerDies kills the worker at a turn; another one is started in its place.
func (s *stage) workerDies(a aim) *aim {
	a.proc, a.kills = "worker", true
	a.then = func() {
		fresh, err := s.bootWorker()
		s.ok(err)
		s.workers[0] = fresh
	}
	return s.aim(a)
}

// redelivered lets the world go on until the message has come again and is done:
// half a minute after its worker died.
func (s *stage) redelivered(a *aim) {
	s.tb.Helper()
	s.until("the fault", time.Minute, func() bool { return a.hits > 0 })
	if s.queueIsEmpty() {
		s.tb.Error("the message is gone with its worker")
	}
	s.until("the redelivery is done", 30*time.Second-time.Since(a.at)+slack, s.queueIsEmpty)
}

func TestCrashRow12_WorkerDiesBeforeT1(t *testing.T) {
	onStage(t, func(t *testing.T, s *stage) {
		fault := s.workerDies(aim{op: "ledger.Apply T1", v: verdict{kind: crashed}})
		a := s.booked(0, "k")
		s.redelivered(fault)
		if s.state(a) != ledger.Held || s.pending() {
			t.Errorf("the booking is %s, pending %t", s.state(a), s.pending())
		}
	})
}

func TestCrashRow13_WorkerDiesAfterT1BeforeS3(t *testing.T) {
	t.Run("redelivered", func(t *testing.T) {
		onStage(t, func(t *testing.T, s *stage) {
			fault := s.workerDies(aim{op: "redis.Settle", v: verdict{kind: crashed}})
			a := s.booked(0, "k")
			s.redelivered(fault)
			if s.state(a) != ledger.Held || s.pending() || len(s.did("redis.Settle")) != 1 {
				t.Errorf("the booking is %s, pending %t, settled %v", s.state(a), s.pending(), s.did("redis.Settle"))
			}
		})
	})
	t.Run("the events are lost", func(t *testing.T) {
		onStage(t, func(t *testing.T, s *stage) {
			fault := s.workerDies(aim{op: "redis.Settle", v: verdict{kind: crashed}, times: 2})
			restart := fault.then
			fault.then = func() { s.ok(s.cloud.Purge(events.QueueName)); restart() }
			a := s.booked(0, "k")
			s.until("T1", time.Minute, func() bool { return s.state(a) == ledger.Held && fault.hits == 1 })
			s.pays(a)
			s.until("T2", time.Minute, func() bool { return s.state(a) == ledger.Paid && fault.hits == 2 })
			s.until("the reaper settles", 16*time.Minute+slack, func() bool { return !s.pending() })
			s.healer("reaper", "redis.Settle")
			if s.free() || s.state(a) != ledger.Paid {
				t.Error("the paid seat is gone")
			}
		})
	})
}

func TestCrashRow14_WorkerDiesAfterS3BeforeDelete(t *testing.T) {
	onStage(t, func(t *testing.T, s *stage) {
		fault := s.workerDies(aim{op: "queue.Delete", v: verdict{kind: crashed}})
		a := s.booked(0, "k")
		s.until("the fault", time.Minute, func() bool { return fault.hits > 0 })
		before := s.entry(a.doc.BookingID)
		s.redelivered(fault)
		if after := s.entry(a.doc.BookingID); before.State != ledger.Held || after.State != ledger.Held || !after.HoldUntil.Equal(before.HoldUntil) {
			t.Errorf("the redelivery changed %+v into %+v", before, after)
		}
		if len(s.did("worker.handles")) != 2 {
			t.Errorf("handled by %v", s.did("worker.handles"))
		}
	})
}

// deadLetter is a booking whose booking.held failed until it was a dead letter.
func (s *stage) deadLetter(n int, key string) answer {
	s.tb.Helper()
	fault := s.aim(aim{proc: "worker", op: "ledger.Apply T1", v: verdict{kind: failBefore}, times: always})
	a := s.booked(n, key)
	s.until("HELD is a dead letter", 15*time.Minute, func() bool {
		d, err := depthOf(s.cloud)
		s.ok(err)
		return d.Dead == 1
	})
	fault.hits, fault.times = 1, 1 // it is over
	return a
}

func TestCrashRow15_HeldIsADeadLetterAndTheCustomerPays(t *testing.T) {
	onStage(t, func(t *testing.T, s *stage) {
		a := s.deadLetter(0, "k")
		s.pays(a)
		s.until("T2'", 10*time.Second, func() bool { return s.state(a) == ledger.Paid && s.queueIsEmpty() })
		s.healer("worker", "ledger.Apply T2'")
		_, err := s.redriveAll()
		s.ok(err)
		s.until("HELD is dropped", 10*time.Second, s.queueIsEmpty)
		if s.state(a) != ledger.Paid || s.free() {
			t.Errorf("the redriven HELD made it %s", s.state(a))
		}
	})
}

func TestCrashRow16_HeldIsADeadLetterAndNobodyPays(t *testing.T) {
	onStage(t, func(t *testing.T, s *stage) {
		began := time.Now()
		a := s.deadLetter(0, "k")
		s.until("the seat is back", 16*time.Minute-time.Since(began)+slack, s.free)
		s.healer("reaper", "ledger.Apply T4")
		if s.state(a) != ledger.Released {
			t.Errorf("the booking is %s", s.state(a))
		}
	})
}

func TestCrashRow17_HeldIsRedrivenAfterTheTombstone(t *testing.T) {
	onStage(t, func(t *testing.T, s *stage) {
		a := s.deadLetter(0, "k")
		s.until("the tombstone", 16*time.Minute+slack, func() bool { return s.state(a) == ledger.Released && s.free() })
		s.pass(time.Hour)
		handled := len(s.did("worker.handles"))
		if n, err := s.redriveAll(); n != 1 || err != nil {
			t.Fatalf("%d redriven, %v", n, err)
		}
		s.until("HELD is dropped", 10*time.Second, s.queueIsEmpty)
		if s.state(a) != ledger.Released || !s.free() || len(s.did("worker.handles")) != handled+1 {
			t.Errorf("after the redrive it is %s, the seat free: %t", s.state(a), s.free())
		}
	})
}

func TestCrashRow18_HoldExpiresUnpaid(t *testing.T) {
	onStage(t, func(t *testing.T, s *stage) {
		began := time.Now()
		a := s.held(0, "k")
		s.until("the seat is back", stageHold+time.Minute+sweepEvery-time.Since(began)+slack, s.free)
		if time.Since(began) < stageHold {
			t.Errorf("released after %v", time.Since(began))
		}
		s.healer("reaper", "ledger.Apply T3")
		if s.state(a) != ledger.Released {
			t.Errorf("the booking is %s", s.state(a))
		}
	})
}

// TestCrashRow19 lets two reapers come to the same moment, again and again, in
// whatever order their calls fall.
func TestCrashRow19_TwoReapersOnOneID(t *testing.T) {
	for range 5 {
		onStage(t, func(t *testing.T, s *stage) {
			second, err := s.bootReaper()
			s.ok(err)
			s.reapers = append(s.reapers, second)
			s.held(0, "k")
			for _, r := range s.reapers { // both begin their sweep together
				r.p.pausedUntil = time.Now().Add(stageHold + time.Minute + 5*time.Second)
			}
			s.until("the seat is back", stageHold+2*time.Minute+sweepEvery, s.free)
			if len(s.did("ledger.DueHolds")) < 2 {
				t.Errorf("only %v swept", s.did("ledger.DueHolds"))
			}
			s.pass(2 * time.Minute)
			if !s.free() || s.redis.Dump(theSale).Total != 0 {
				t.Errorf("given back twice: %+v", s.redis.Dump(theSale).Levels)
			}
		})
	}
}

// TestCrashRow20: a script runs as a whole or not at all, so an undo that failed
// is one that did not run.
func TestCrashRow20_UndoFails(t *testing.T) {
	onStage(t, func(t *testing.T, s *stage) {
		a := s.held(0, "k")
		fault := s.aim(aim{proc: "ingress", op: "redis.Undo", v: verdict{kind: failBefore}, times: always})
		if _, err := s.asks(s.crowd[0].p, http.MethodDelete, "/bookings/"+a.doc.BookingID, "", nil); err != nil {
			t.Fatal(err)
		}
		if b := s.entry(a.doc.BookingID); b.State != ledger.Released || !b.UndoOwed || s.free() || len(s.redis.Dump(theSale).Records) != 1 {
			t.Errorf("half undone: %+v", b)
		}
		s.seatBack(fault, sweepEvery)
		s.healer("reaper", "redis.Undo")
	})
}
