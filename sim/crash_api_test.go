package sim

import (
	"net/http"
	"testing"
	"time"

	"github.com/holdfast/holdfast/admission/admissiontest"
	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/payment/sandbox/engine"
)

// The rows of the crash table (protocol.md 3.9) on whole deployments: the fault
// of the row, and its bound in simulated time. Rows 1 to 11: the ingress dies or
// its calls fail.

// supervised kills the ingress at a turn; another one is started in its place.
func (s *stage) supervised(a aim) *aim {
	a.proc, a.kills = "ingress", true
	a.then = func() {
		fresh, err := s.bootIngress()
		s.ok(err)
		s.ingress[0] = fresh
	}
	return s.aim(a)
}

// broke fails the test unless the candidate's connection broke.
func (s *stage) broke(n int, key string) {
	s.tb.Helper()
	if a, err := s.book(n, key); err == nil {
		s.tb.Fatalf("the request was answered: %d %s", a.status, a.doc.Code)
	}
}

// seatBack fails the test unless the seat can be sold again within the bound of
// the last hit of the fault.
func (s *stage) seatBack(a *aim, bound time.Duration) {
	s.tb.Helper()
	if a.hits == 0 {
		s.tb.Fatal("the fault did not happen")
	}
	s.until("the seat is back", bound-time.Since(a.at)+slack, s.free)
	s.tb.Logf("the seat was back %v after the fault; the bound is %v", time.Since(a.at).Round(time.Second), bound)
}

// retried books with the same key until there is an answer, as the page does.
func (s *stage) retried(n int, key string, bound time.Duration) (a answer) {
	s.tb.Helper()
	s.until("the retry is answered", bound, func() bool {
		var err error
		if a, err = s.book(n, key); err == nil && a.status/100 == 2 {
			return true
		}
		s.pass(2 * time.Second)
		return false
	})
	s.audit.acknowledged(a.doc.BookingID)
	return a
}

func TestCrashRow01_APIDiesBeforeS1IsSent(t *testing.T) {
	onStage(t, func(t *testing.T, s *stage) {
		s.supervised(aim{op: "redis.Admit", v: verdict{kind: crashed}})
		s.broke(0, "k")
		if !s.free() || s.pending() {
			t.Error("something is left of a request that was never sent")
		}
		s.retried(0, "k", 10*time.Second)
	})
}

func TestCrashRow02_ReplyOfS1IsLost(t *testing.T) {
	onStage(t, func(t *testing.T, s *stage) {
		fault := s.aim(aim{proc: "ingress", op: "redis.Admit", v: verdict{kind: loseAnswer}})
		a, err := s.book(0, "k")
		if err != nil || a.status != http.StatusServiceUnavailable {
			t.Errorf("status %d, %v", a.status, err)
		}
		s.seatBack(fault, 2*time.Second)
		s.healer("ingress", "redis.Undo")
		s.booked(1, "other")
	})
}

func TestCrashRow03_APIDiesAfterS1(t *testing.T) {
	t.Run("the page retries", func(t *testing.T) {
		onStage(t, func(t *testing.T, s *stage) {
			s.supervised(aim{op: "redis.Admit"})
			s.broke(0, "k")
			admitted := s.redis.Dump(theSale).Seats["A-1"]
			a := s.retried(0, "k", 20*time.Second)
			if a.doc.BookingID != admitted || admitted == "" {
				t.Errorf("the retry got booking %q, admitted was %q", a.doc.BookingID, admitted)
			}
			s.pays(a)
			s.until("the same seat is paid", time.Minute, func() bool { return s.state(a) == ledger.Paid })
		})
	})
	t.Run("nobody retries", func(t *testing.T) {
		onStage(t, func(t *testing.T, s *stage) {
			fault := s.supervised(aim{op: "redis.Admit"})
			s.broke(0, "k")
			s.seatBack(fault, 2*time.Minute+sweepEvery)
			s.healer("reaper", "ledger.Apply T4")
			s.healer("reaper", "redis.Undo")
		})
	})
}

func TestCrashRow04_ShortWaitAndTheUndoWorks(t *testing.T) {
	onStage(t, func(t *testing.T, s *stage) {
		fault := s.aim(aim{op: "redis.Admit", v: verdict{kind: short, replicas: admissiontest.ShortWait}})
		if a, err := s.book(0, "k"); err != nil || a.status != http.StatusServiceUnavailable {
			t.Errorf("status %d, %v", a.status, err)
		}
		if fault.hits == 0 || !s.free() || s.pending() {
			t.Error("the seat is not back at once")
		}
		s.retried(0, "k", 5*time.Second)
	})
}

func TestCrashRow05_ShortWaitAndTheUndoIsLost(t *testing.T) {
	onStage(t, func(t *testing.T, s *stage) {
		fault := s.aim(aim{op: "redis.Admit", v: verdict{kind: short, replicas: admissiontest.GhostWait}})
		if a, err := s.book(0, "k"); err != nil || a.status != http.StatusServiceUnavailable {
			t.Errorf("status %d, %v", a.status, err)
		}
		if s.free() {
			t.Error("there is no ghost")
		}
		s.seatBack(fault, 3*time.Minute)
		s.healer("reaper", "ledger.Apply T4")
	})
}

func TestCrashRow06_GatewayRefusesAndTheAPIDiesBeforeS2(t *testing.T) {
	onStage(t, func(t *testing.T, s *stage) {
		s.ok(s.pay.SetFaults("", engine.Faults{RefuseCreate: 1}))
		fault := s.supervised(aim{op: "redis.Undo", v: verdict{kind: crashed}})
		s.broke(0, "k")
		s.seatBack(fault, 3*time.Minute)
		s.healer("reaper", "ledger.Apply T4")
	})
}

// sweeping is supervised for the reaper.
func (s *stage) sweeping(a aim) *aim {
	a.proc, a.kills = "reaper", true
	a.then = func() {
		fresh, err := s.bootReaper()
		s.ok(err)
		s.reapers[0] = fresh
	}
	return s.aim(a)
}

// unsent leaves an attached booking whose event no SendMessage has taken.
func (s *stage) unsent() {
	s.tb.Helper()
	s.aim(aim{op: "queue.Send", v: verdict{kind: failBefore}, times: always})
	if a, err := s.book(0, "k"); err != nil || a.status != http.StatusServiceUnavailable {
		s.tb.Errorf("status %d, %v", a.status, err)
	}
	if s.free() || len(s.did("ledger.Apply")) > 0 {
		s.tb.Error("a driver ended what a retry may have been promised")
	}
}

func TestCrashRow07_DiesBetweenT4AndS2(t *testing.T) {
	onStage(t, func(t *testing.T, s *stage) {
		fault := s.sweeping(aim{op: "redis.Undo", v: verdict{kind: crashed}})
		s.unsent()
		s.until("the reaper dies after its tombstone", 17*time.Minute, func() bool { return fault.hits > 0 })
		s.healer("reaper", "ledger.Apply T4")
		s.seatBack(fault, sweepEvery)
		s.healer("reaper", "redis.Undo")
	})
}

func TestCrashRow08_DiesBetweenS2AndT5(t *testing.T) {
	onStage(t, func(t *testing.T, s *stage) {
		fault := s.sweeping(aim{op: "ledger.Apply T5", v: verdict{kind: crashed}})
		s.unsent()
		s.until("the reaper dies after its undo", 17*time.Minute, func() bool { return fault.hits > 0 })
		if fault.hits == 0 || !s.free() {
			t.Error("the seat is not free already")
		}
		s.until("the flag goes", sweepEvery+slack, func() bool { return len(s.did("ledger.Apply T5")) > 0 })
		s.healer("reaper", "ledger.Apply T5")
	})
}

func TestCrashRow09_DiesAfterAttachBeforeSend(t *testing.T) {
	onStage(t, func(t *testing.T, s *stage) {
		fault := s.supervised(aim{op: "queue.Send", v: verdict{kind: crashed}})
		s.broke(0, "k")
		s.seatBack(fault, 15*time.Minute+sweepEvery)
		s.healer("reaper", "ledger.Apply T4")
		if len(s.did("gateway.POST")) < 2 { // create, and the cancel of who asked
			t.Errorf("the gateway was not asked before the release: %v", s.done)
		}
	})
}

// TestCrashRow10: nobody undoes what may have been sent: a retry hears of the seat
// within seconds, whether the worker was there first or not.
func TestCrashRow10_SendTimedOutButWasSent(t *testing.T) {
	for name, late := range map[string]time.Duration{"the worker is first": 0, "the retry is first": 12 * time.Second} {
		t.Run(name, func(t *testing.T) {
			onStage(t, func(t *testing.T, s *stage) {
				s.workers[0].p.pausedUntil = time.Now().Add(late)
				s.aim(aim{op: "queue.Send", v: verdict{kind: loseAnswer}, times: always})
				if a, err := s.book(0, "k"); err != nil || a.status != http.StatusServiceUnavailable {
					t.Errorf("status %d, %v", a.status, err)
				}
				s.aims = nil
				a := s.retried(0, "k", 10*time.Second)
				s.until("the worker writes it", 30*time.Second, func() bool { return s.state(a) == ledger.Held && s.queueIsEmpty() })
			})
		})
	}
}

func TestCrashRow11_DiesAfterSendBeforeTheReply(t *testing.T) {
	onStage(t, func(t *testing.T, s *stage) {
		s.supervised(aim{op: "queue.Send"})
		s.broke(0, "k")
		admitted := s.redis.Dump(theSale).Seats["A-1"]
		s.until("HELD arrives", 10*time.Second, func() bool { return s.entry(admitted).State == ledger.Held })
		a := s.retried(0, "k", 10*time.Second)
		if a.doc.BookingID != admitted || a.doc.PaymentURL == "" {
			t.Errorf("the retry heard %+v, admitted was %s", a.doc, admitted)
		}
	})
}
