package sim

import (
	"context"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/holdfast/holdfast/admission/admissiontest"
	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/operator"
	"github.com/holdfast/holdfast/payment/sandbox/engine"
)

// Cases from the field (docs/cases.md) that need a whole deployment.

// TestCase_A27: far more people than seats, most of whom walk away. In the end
// every seat is sold: nothing is stranded.
func TestCase_A27_UndersoldIsAsBadAsOversold(t *testing.T) {
	const seats, people = 3, 12
	onStageOf(t, seats, people, func(t *testing.T, s *stage) {
		rng := rand.New(rand.NewPCG(27, 1))
		wants := rng.Perm(people)
		for round := 0; len(wants) > 0 && round < 400; round++ {
			n := wants[0]
			wants = wants[1:]
			a, err := s.book(n, "k")
			switch {
			case err != nil || a.status != http.StatusCreated:
				wants = append(wants, n) // comes again
				s.pass(30 * time.Second)
			case rng.IntN(3) == 0:
				s.pays(a)
			default: // never comes back, and says nothing
			}
		}
		s.pass(30 * time.Minute)
		sold := 0
		snapshot, err := s.audit.look()
		s.ok(err)
		for _, b := range snapshot.Bookings {
			if b.State == ledger.Paid {
				sold++
			}
		}
		if len(snapshot.Bookings) != people {
			t.Errorf("only %d of %d came to a booking", len(snapshot.Bookings), people)
		}
		if used := s.redis.Dump(theSale).Total; used != sold {
			t.Errorf("%d seats are sold and %d used: %d are stranded", sold, used, used-sold)
		}
	})
}

// TestCase_B16: every ingress dies in the middle of the sale. Seats of requests
// that died come back within the bound, and whoever holds one keeps it.
func TestCase_B16_AllAPINodesDie(t *testing.T) {
	onStageOf(t, 3, 4, func(t *testing.T, s *stage) {
		kept := s.held(0, "k")
		fault := s.supervised(aim{op: "redis.Attach", v: verdict{kind: crashed}})
		s.broke(1, "k")
		s.until("the dead request's seat is back", 3*time.Minute-time.Since(fault.at)+slack, func() bool { return s.redis.Dump(theSale).Total == 1 })
		if s.state(kept) != ledger.Held {
			t.Errorf("the hold is %s", s.state(kept))
		}
		s.pays(kept)
		s.until("it is paid", time.Minute, func() bool { return s.state(kept) == ledger.Paid })
	})
}

// TestCase_C06: paid in time, and the webhook comes when the hold is over. The
// seat is released later than the page says, so the payment confirms.
func TestCase_C06_WebhookInsideTheGrace(t *testing.T) {
	onStage(t, func(t *testing.T, s *stage) {
		a := s.held(0, "k")
		s.ok(s.pay.SetFaults("", engine.Faults{WebhookDelayMS: 31_000}))
		s.pass(time.Until(a.doc.HoldUntil) - time.Second)
		s.pays(a)
		s.pass(30 * time.Second)
		if time.Now().Before(a.doc.HoldUntil) || s.state(a) != ledger.Held {
			t.Fatalf("before the webhook, after the hold: %s", s.state(a))
		}
		s.until("it is paid", sweepEvery+slack, func() bool { return s.state(a) == ledger.Paid })
		if s.entry(a.doc.BookingID).Successor != "" {
			t.Error("a payment in time was treated as late")
		}
	})
}

// TestCase_C15: money arrives for a booking that its owner gave back: a seat if
// there is one, else the money back, never both and never neither.
func TestCase_C15_MoneyForACancelledPurchase(t *testing.T) {
	for name, taken := range map[string]bool{"a seat is free": false, "sold out": true} {
		t.Run(name, func(t *testing.T) {
			onStage(t, func(t *testing.T, s *stage) {
				a := s.held(0, "k")
				s.paysLate(a)
				if _, err := s.asks(s.crowd[0].p, http.MethodDelete, "/bookings/"+a.doc.BookingID, "", nil); err != nil {
					t.Fatal(err)
				}
				s.until("it is given back", slack, s.free)
				if taken {
					s.pays(s.held(1, "k"))
				}
				s.until("the money has its end", 20*time.Minute, func() bool {
					next := s.entry(a.doc.BookingID).Successor
					seat := next != "" && s.entry(next).State == ledger.Paid
					return seat || s.refundedMinor(a) > 0
				})
				if back := s.refundedMinor(a) > 0; back != taken {
					t.Errorf("money back: %t, seat taken by another: %t", back, taken)
				}
			})
		})
	}
}

// TestCase_C21: the gateway takes eight seconds for one customer. Nobody else
// waits for it.
func TestCase_C21_SlowGatewayDelaysNobodyElse(t *testing.T) {
	onStageOf(t, 2, 4, func(t *testing.T, s *stage) {
		s.aim(aim{op: "gateway.POST /payments", v: verdict{kind: late, delay: 5 * time.Second}})
		slow := make(chan answer, 1)
		s.background(func() {
			a, err := s.request(s.crowd[0].p, rand.New(rand.NewPCG(1, 4)), http.MethodPost, "/sales/"+theSale+"/bookings", s.wish(0), s.header("k"))
			if err == nil {
				slow <- a
			}
		})
		s.until("it waits for the gateway", slack, func() bool { return s.aims[0].hits == 1 })
		for n := 1; n <= 2; n++ { // one who gets a seat, one who is refused
			began := time.Now()
			if a, err := s.book(n, "k"); err != nil || a.status != []int{0, http.StatusCreated, http.StatusConflict}[n] {
				t.Errorf("candidate %d: %d %s, %v", n, a.status, a.doc.Code, err)
			}
			if took := time.Since(began); took > time.Second {
				t.Errorf("candidate %d waited %v", n, took)
			}
		}
		s.until("the slow one has its answer", slack, func() bool { return len(slow) == 1 })
		if a := <-slow; a.status != http.StatusCreated {
			t.Errorf("the slow one: %d %s", a.status, a.doc.Code)
		}
	})
}

// TestCase_C22: the buyer closes the tab on the gateway's page; only the webhook
// tells.
func TestCase_C22_OnlyTheWebhookTells(t *testing.T) {
	onStage(t, func(t *testing.T, s *stage) {
		a := s.held(0, "k")
		s.pays(a)
		s.until("it is paid", slack, func() bool { return s.state(a) == ledger.Paid })
		if n := len(s.did("http.GET /payments")); n > 0 {
			t.Errorf("%d redirects", n)
		}
	})
}

// TestCase_F08: seats are added while it sells, the queue refuses an event, and
// then Redis loses everything and is rebuilt.
func TestCase_F08_MoreStockWhileEverythingFails(t *testing.T) {
	onStageOf(t, 1, 4, func(t *testing.T, s *stage) {
		first := s.held(0, "k")
		if a, err := s.book(1, "k"); err != nil || a.status != http.StatusConflict {
			t.Errorf("more than the cap: %d, %v", a.status, err)
		}
		s.raises(2)
		s.pass(300 * time.Millisecond) // a process may know for so long that it was full (protocol.md 3.12)
		s.aim(aim{op: "queue.Send", v: verdict{kind: failBefore}, times: always})
		if a, err := s.book(1, "k2"); err != nil || a.status != http.StatusServiceUnavailable {
			t.Errorf("with a dead queue: %d, %v", a.status, err)
		}
		s.aims = nil
		second := s.retried(1, "k2", 30*time.Second)
		s.until("it is written", time.Minute, func() bool { return s.state(second) == ledger.Held && s.queueIsEmpty() })
		s.redis.Flush()
		s.promote("")
		s.audit.lossy = true
		s.frozenAndRebuilt()
		d := s.redis.Dump(theSale)
		if d.Seats["A-1"] != first.doc.BookingID || d.Seats["A-2"] != second.doc.BookingID || d.Levels["A"].Cap != 2 {
			t.Errorf("rebuilt as %v, cap %d", d.Seats, d.Levels["A"].Cap)
		}
	})
}

// raises lets an operator set the cap.
func (s *stage) raises(to int) {
	s.tb.Helper()
	done := make(chan error, 1)
	s.operator.p.run(func(ctx context.Context) {
		_, err := s.operator.desk.SetCap(ctx, theSale, "A", to, operator.By{Actor: "operator:ann", Reason: "more chairs"})
		done <- err
	})
	s.until("the cap is set", time.Minute, func() bool { return len(done) == 1 })
	s.ok(<-done)
	if got := s.redis.Dump(theSale).Levels["A"].Cap; got != to || !strings.HasPrefix(s.did("redis.SetCap")[0], "operator") {
		s.tb.Fatalf("the cap is %d", got)
	}
}

// TestNoProcessLogsSecrets plays a booking that meets crashes, a short WAIT, a
// late payment and a refund, and reads what every process has logged: no code, no
// e-mail, no key of a client, no secret of a gateway.
func TestNoProcessLogsSecrets(t *testing.T) {
	onStage(t, func(t *testing.T, s *stage) {
		s.aim(aim{op: "redis.Admit", v: verdict{kind: short, replicas: admissiontest.GhostWait}})
		if _, err := s.book(0, "key-of-the-client"); err != nil {
			t.Fatal(err)
		}
		s.pass(4 * time.Minute)
		s.aims = nil
		s.aim(aim{op: "gateway.POST", v: verdict{kind: failBefore}})
		s.aim(aim{proc: "worker", op: "ledger.Apply T1", v: verdict{kind: failBefore}, times: 3})
		s.refundDies("gateway.POST", true)
		_, err := s.book(2, "key-of-the-client")
		s.ok(err)
		if len(s.logged) < 5 {
			t.Fatalf("only %d lines were logged", len(s.logged))
		}
		for _, line := range s.logged {
			for _, secret := range []string{"CODE-", "person.", "example.org", "key-of-the-client", hookSecret, "pagesecret", "/pay/"} {
				if strings.Contains(line, secret) {
					t.Errorf("%q is in the log: %s", secret, line)
				}
			}
		}
	})
}
