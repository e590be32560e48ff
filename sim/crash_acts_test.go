package sim

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/payment/sandbox/engine"
)

// until lets the world go on until cond holds; it fails if that takes longer
// than bound of simulated time, and returns how long it took.
func (s *stage) until(what string, bound time.Duration, cond func() bool) time.Duration {
	s.tb.Helper()
	began := time.Now()
	for !cond() {
		if time.Since(began) > bound {
			s.tb.Fatalf("not within %v: %s\nthe last events:\n%s", bound, what, s.log.tail())
		}
		s.step()
	}
	return time.Since(began)
}

// pass lets the world go on for a while.
func (s *stage) pass(d time.Duration) {
	for end := time.Now().Add(d); time.Now().Before(end); {
		s.step()
	}
}

// book sends the booking request of a candidate and waits for the answer.
func (s *stage) book(n int, key string) (answer, error) {
	s.tb.Helper()
	return s.asks(s.crowd[n].p, http.MethodPost, "/sales/"+theSale+"/bookings", s.wish(n), s.header(key))
}

func (s *stage) wish(n int) string {
	return fmt.Sprintf(`{"code":%q,"email":%q,"level":"A","seats":1}`, s.crowd[n].code, s.crowd[n].mail)
}

func (s *stage) header(key string) http.Header {
	return http.Header{"Content-Type": {"application/json"}, "Idempotency-Key": {key}}
}

func (s *stage) asks(p *process, method, path, body string, h http.Header) (a answer, err error) {
	s.tb.Helper()
	heard := make(chan struct{})
	s.background(func() {
		defer close(heard)
		a, err = s.request(p, rand.New(rand.NewPCG(1, 3)), method, path, body, h)
	})
	s.until(method+" "+path+" is answered", 2*clientPatience, func() bool {
		select {
		case <-heard:
			return true
		default:
			return false
		}
	})
	return a, err
}

// booked is a booking that was answered with 201.
func (s *stage) booked(n int, key string) answer {
	s.tb.Helper()
	a, err := s.book(n, key)
	if err != nil || a.status != http.StatusCreated {
		s.tb.Fatalf("candidate %d: status %d %s, %v\nthe last events:\n%s", n, a.status, a.doc.Code, err, s.log.tail())
	}
	s.audit.acknowledged(a.doc.BookingID)
	return a
}

// held is a booking that the worker has written and settled.
func (s *stage) held(n int, key string) answer {
	s.tb.Helper()
	a := s.booked(n, key)
	s.until("the worker writes it", time.Minute, func() bool { return s.state(a) == ledger.Held && !s.pending() && s.queueIsEmpty() })
	return a
}

// pays is the customer on the gateway's page.
func (s *stage) pays(a answer) {
	s.tb.Helper()
	_, id, _ := strings.Cut(a.doc.PaymentURL, "/pay/")
	_, err := s.pay.Act(id, engine.ActPay, 0)
	s.ok(err)
}

func (s *stage) state(a answer) ledger.State { return s.entry(a.doc.BookingID).State }

func (s *stage) entry(id string) ledger.Booking {
	b, err := s.ledger.Booking(s.ctx, id)
	if err != nil {
		return ledger.Booking{ID: id}
	}
	return b
}

// free reports that every seat can be sold.
func (s *stage) free() bool {
	l := s.redis.Dump(theSale).Levels["A"]
	return l.Used == 0 && len(l.Free) == l.Cap
}

func (s *stage) pending() bool { return len(s.redis.Dump(theSale).Pending) > 0 }

func (s *stage) queueIsEmpty() bool {
	d, err := depthOf(s.cloud)
	s.ok(err)
	return d.Visible+d.InFlight == 0
}

// did are the processes whose turn began like this and took effect.
func (s *stage) did(what string) []string {
	var procs []string
	for _, d := range s.done {
		if strings.HasPrefix(d.what, what) {
			procs = append(procs, d.proc)
		}
	}
	return procs
}

// healer fails the test unless what was done, and by this kind of process alone.
func (s *stage) healer(kind, what string) {
	s.tb.Helper()
	procs := s.did(what)
	if len(procs) == 0 || slices.ContainsFunc(procs, func(p string) bool { return !strings.HasPrefix(p, kind) }) {
		s.tb.Errorf("%s was done by %v, want a %s\nthe last events:\n%s", what, procs, kind, s.log.tail())
	}
}

// finish lets the sweeps alone do the rest; then the invariants hold at rest,
// and the next candidate gets a free seat.
func (s *stage) finish() {
	s.tb.Helper()
	if s.tb.Failed() {
		return
	}
	s.until("everything adds up", time.Hour, func() bool {
		s.pass(20 * time.Second)
		return s.quiet() == nil && s.audit.rest() == nil
	})
}
