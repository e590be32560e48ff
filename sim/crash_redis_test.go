package sim

import (
	"net/http"
	"testing"
	"time"

	"github.com/holdfast/holdfast/admission/admissiontest"
	"github.com/holdfast/holdfast/ledger"
)

// Rows 21 to 26 of the crash table: Redis fails over, or loses its data.

// failsOver promotes the replica, which lacks the last writes: all those that no
// replica had, or so many whether it had them or not.
func (s *stage) failsOver(acknowledgedToo int) {
	s.tb.Helper()
	lost := 0
	if acknowledgedToo > 0 {
		lost = s.redis.Rewind(acknowledgedToo)
		s.audit.lossy = true
	} else {
		lost = s.redis.Failover(1)
	}
	if lost == 0 {
		s.tb.Fatal("the failover lost nothing")
	}
	s.promote(s.health.ReplicationID)
}

func TestCrashRow21_FailoverLosesTheUndo(t *testing.T) {
	onStage(t, func(t *testing.T, s *stage) {
		a := s.held(0, "k")
		s.aim(aim{proc: "ingress", op: "redis.Undo", v: verdict{kind: short, replicas: admissiontest.ShortWait}, times: always})
		if _, err := s.asks(s.crowd[0].p, http.MethodDelete, "/bookings/"+a.doc.BookingID, "", nil); err != nil {
			t.Fatal(err)
		}
		if !s.free() || !s.entry(a.doc.BookingID).UndoOwed {
			t.Fatalf("free %t, %+v", s.free(), s.entry(a.doc.BookingID))
		}
		s.failsOver(0)
		if s.free() {
			t.Fatal("the undo was not lost")
		}
		s.until("the seat is back", sweepEvery+slack, s.free)
		s.until("the flag goes", time.Second, func() bool { return !s.entry(a.doc.BookingID).UndoOwed })
		s.healer("reaper", "ledger.Apply T5")
	})
}

func TestCrashRow22_FailoverLosesTheSettle(t *testing.T) {
	onStage(t, func(t *testing.T, s *stage) {
		a := s.booked(0, "k")
		s.until("it is settled", time.Minute, func() bool { return s.state(a) == ledger.Held && !s.pending() })
		s.pays(a)
		s.until("it is paid", time.Minute, func() bool { return s.state(a) == ledger.Paid && s.queueIsEmpty() })
		settled := len(s.did("redis.Settle"))
		s.redis.Failover(2) // the settle of the payment and the one of the hold
		s.promote(s.health.ReplicationID)
		if !s.pending() {
			t.Fatal("the settle was not lost")
		}
		s.until("the reaper settles", 16*time.Minute+slack, func() bool { return !s.pending() })
		if procs := s.did("redis.Settle")[settled:]; len(procs) == 0 || procs[0][:6] != "reaper" {
			t.Errorf("settled by %v", procs)
		}
		if s.state(a) != ledger.Paid || s.free() {
			t.Error("something was wrong meanwhile")
		}
	})
}

func TestCrashRow23_FailoverLosesTheAttach(t *testing.T) {
	t.Run("the worker settles", func(t *testing.T) {
		onStage(t, func(t *testing.T, s *stage) {
			s.aim(aim{op: "redis.Attach", then: func() { s.failsOver(0) }})
			a := s.booked(0, "k")
			s.until("pending is cleared", 5*time.Second, func() bool { return s.state(a) == ledger.Held && !s.pending() })
			s.healer("worker", "redis.Settle")
		})
	})
	t.Run("reaped, and paid late", func(t *testing.T) {
		onStage(t, func(t *testing.T, s *stage) {
			s.aim(aim{op: "redis.Attach", then: func() { s.failsOver(0) }})
			s.workers[0].p.pausedUntil = time.Now().Add(4 * time.Minute)
			began := time.Now()
			a := s.booked(0, "k")
			s.pays(a)
			s.until("it is reaped", 3*time.Minute+slack, s.free)
			t.Logf("reaped after %v", time.Since(began))
			s.until("the late path", 2*time.Minute, func() bool {
				next := s.entry(a.doc.BookingID).Successor
				return next != "" && s.entry(next).State == ledger.Paid
			})
		})
	})
}

func TestCrashRow24_FailoverKeepsAnUnacknowledgedAdmission(t *testing.T) {
	onStage(t, func(t *testing.T, s *stage) {
		fault := s.aim(aim{op: "redis.Admit", v: verdict{kind: short, replicas: admissiontest.GhostWait}})
		if a, err := s.book(0, "k"); err != nil || a.status != http.StatusServiceUnavailable {
			t.Errorf("status %d, %v", a.status, err)
		}
		s.promote(s.health.ReplicationID)
		if s.free() {
			t.Fatal("the failover lost it")
		}
		s.seatBack(fault, 3*time.Minute)
		s.healer("reaper", "ledger.Apply T4")
	})
}

// TestCrashRow25: a stale replica forgets an acknowledged admission, and the seat
// may be promised again. The ledger refuses the second sale, and the first is put
// back at once. If the replica lacks the reaper's mark too, nothing is sold until
// it is rebuilt.
func TestCrashRow25_FailoverLosesAnAcknowledgedAdmission(t *testing.T) {
	t.Run("booked again before the sweep", func(t *testing.T) {
		onStage(t, func(t *testing.T, s *stage) {
			first := s.forgotten(false)
			s.reapers[0].p.pausedUntil = time.Now().Add(5 * time.Second)
			second := s.booked(1, "k")
			s.backAtOnce(first)
			s.audit.acked = s.audit.acked[:1] // the price of a replica that lied
			s.until("the second ends", time.Minute, func() bool { return s.state(second) == ledger.Released })
		})
	})
	t.Run("swept first", func(t *testing.T) {
		onStage(t, func(_ *testing.T, s *stage) { s.backAtOnce(s.forgotten(false)) })
	})
	t.Run("the mark is gone too", func(t *testing.T) {
		onStage(t, func(_ *testing.T, s *stage) {
			first := s.forgotten(true)
			s.frozenAndRebuilt()
			s.backAtOnce(first)
		})
	})
}

// forgotten is a held booking of which the new primary knows nothing.
func (s *stage) forgotten(markToo bool) answer {
	s.tb.Helper()
	noted := func() bool { return len(s.did("ledger.NoteSweep mark")) > 0 }
	if !markToo {
		s.until("a mark is noted", sweepEvery, noted)
		s.pass(5 * time.Second)
	}
	a := s.held(0, "k")
	if markToo {
		s.until("another mark is noted", 2*sweepEvery, noted)
		s.pass(2 * sweepEvery)
	}
	for n := 0; !s.free() && n < 40; n++ {
		s.redis.Rewind(1)
	}
	s.audit.lossy = true
	s.promote(s.health.ReplicationID)
	return a
}

// backAtOnce fails the test unless the next sweep's diff puts the booking back.
func (s *stage) backAtOnce(a answer) {
	s.tb.Helper()
	s.until("the first is back", sweepEvery+slack, func() bool { return s.redis.Dump(theSale).Seats["A-1"] == a.doc.BookingID })
	if s.state(a) != ledger.Held {
		s.tb.Errorf("the first is %s", s.state(a))
	}
}

// frozenAndRebuilt waits until the sale is frozen, and has an operator rebuild it.
func (s *stage) frozenAndRebuilt() {
	s.tb.Helper()
	frozen := func() bool {
		c, err := s.ledger.Control(s.ctx, theSale)
		s.ok(err)
		return c.Frozen
	}
	s.until("the sale is frozen", sweepEvery+slack, frozen)
	s.pass(6 * time.Second) // until every process has read it (protocol.md 3.9)
	if a, err := s.book(2, "k"); err != nil || a.status != http.StatusServiceUnavailable {
		s.tb.Errorf("while it is frozen: %d %s, %v", a.status, a.doc.Code, err)
	}
	s.operator.rebuildSoon(time.Second)
	s.until("it is rebuilt", 5*time.Minute, func() bool { return !frozen() })
}

func TestCrashRow26_AllOfRedisLost(t *testing.T) {
	onStage(t, func(t *testing.T, s *stage) {
		a := s.held(0, "k")
		s.redis.Flush()
		s.promote("")
		s.audit.lossy = true
		if got, err := s.book(1, "k"); err != nil || got.status != http.StatusServiceUnavailable {
			t.Errorf("status %d, %v", got.status, err)
		}
		s.frozenAndRebuilt()
		if got := s.redis.Dump(theSale).Seats["A-1"]; got != a.doc.BookingID {
			t.Errorf("the seat is %q's", got)
		}
		s.pays(a) // who has a payment page keeps the seat
		s.until("it is paid", time.Minute, func() bool { return s.state(a) == ledger.Paid })
	})
}
