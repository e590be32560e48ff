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
// is promised again. The ledger refuses the second sale, and the first is put
// back at once.
func TestCrashRow25_FailoverLosesAnAcknowledgedAdmission(t *testing.T) {
	for name, bookedFirst := range map[string]bool{"booked again before the sweep": true, "swept first": false} {
		t.Run(name, func(t *testing.T) {
			onStage(t, func(t *testing.T, s *stage) {
				first := s.held(0, "k")
				s.pass(2 * time.Second)
				writes := 0
				for !s.free() && writes < 10 {
					s.redis.Rewind(1)
					writes++
				}
				s.audit.lossy = true
				s.promote(s.health.ReplicationID)
				began := time.Now()
				second := answer{}
				if bookedFirst {
					for _, r := range s.reapers {
						r.p.pausedUntil = time.Now().Add(5 * time.Second)
					}
					second = s.booked(1, "k")
				}
				s.until("the first is back", sweepEvery+slack, func() bool {
					return s.redis.Dump(theSale).Seats["A-1"] == first.doc.BookingID
				})
				t.Logf("after %v", time.Since(began))
				if s.state(first) != ledger.Held || bookedFirst && s.state(second) == ledger.Held {
					t.Errorf("first %s, second %s", s.state(first), s.state(second))
				}
				if bookedFirst {
					s.audit.acked = s.audit.acked[:1] // the price of a replica that lied
					s.until("the second ends", time.Minute, func() bool { return s.state(second) == ledger.Released })
				}
			})
		})
	}
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
		s.until("the sale is frozen", sweepEvery+slack, func() bool {
			c, err := s.ledger.Control(s.ctx, theSale)
			s.ok(err)
			return c.Frozen
		})
		s.operator.rebuildSoon(time.Second)
		s.until("it is rebuilt", 5*time.Minute, func() bool {
			c, err := s.ledger.Control(s.ctx, theSale)
			s.ok(err)
			return !c.Frozen && s.redis.Dump(theSale).Seats["A-1"] == a.doc.BookingID
		})
		s.pays(a) // who has a payment page keeps the seat
		s.until("it is paid", time.Minute, func() bool { return s.state(a) == ledger.Paid })
	})
}
