package lifecycletest

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/holdfast/holdfast/payment"
)

// ErrGatewayDown is what a gateway that can't be reached answers.
var ErrGatewayDown = errors.New("lifecycletest: injected: the gateway is away")

// Gateway is a payment gateway in memory, with switches. Set them before the
// calls they are for.
type Gateway struct {
	Down          bool   // every call fails and does nothing
	Mute          bool   // Query answers StatusUnknown
	LoseExecute   bool   // Execute takes the money, but its answer is lost
	BreakExecute  bool   // Execute fails with an unknown outcome and takes nothing
	BeforeCancel  func() // what happens between the last question and a Cancel
	DuringExecute func() // what happens while an Execute is under way

	name   string
	moves  payment.Moves
	now    func() time.Time
	faults *Faults

	mu       sync.Mutex
	payments map[string]*payment.Payment
	refunds  map[string]int // payment -> times that money went back
	executed map[string]int // payment -> times that Execute was called
}

func newGateway(name string, moves payment.Moves, now func() time.Time, f *Faults) *Gateway {
	return &Gateway{name: name, moves: moves, now: now, faults: f, payments: map[string]*payment.Payment{},
		refunds: map[string]int{}, executed: map[string]int{}}
}

var _ payment.Gateway = (*Gateway)(nil)

// Name implements payment.Gateway.
func (g *Gateway) Name() string { return g.name }

// Moves implements payment.Gateway.
func (g *Gateway) Moves() payment.Moves { return g.moves }

// Payee implements payment.Gateway.
func (g *Gateway) Payee() string { return "us" }

// Live implements payment.Gateway.
func (g *Gateway) Live() bool { return true }

func (g *Gateway) do(op string, f func() error) error {
	fault := g.faults.next("gateway " + op)
	if fault == FailBefore {
		return ErrCrashed
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.Down {
		return ErrGatewayDown
	}
	err := f()
	if fault == LoseAnswer {
		return ErrCrashed
	}
	return err
}

// Create implements payment.Gateway; one payment per booking.
func (g *Gateway) Create(_ context.Context, r payment.CreateRequest) (s payment.Session, err error) {
	err = g.do("Create", func() error {
		id := "pay-" + r.BookingID
		if g.payments[id] == nil {
			g.payments[id] = &payment.Payment{PaymentID: id, Status: payment.StatusOpen, AmountMinor: r.AmountMinor,
				Currency: r.Currency, Payee: "us", Live: true, Metadata: r.Metadata}
		}
		s = payment.Session{PaymentID: id, URL: "https://pay.example/" + id}
		return nil
	})
	return s, err
}

// Query implements payment.Gateway.
func (g *Gateway) Query(_ context.Context, paymentID string) (p payment.Payment, err error) {
	err = g.do("Query", func() error {
		found := g.payments[paymentID]
		if found == nil {
			return payment.ErrNotFound
		}
		p = *found
		if g.Mute {
			p.Status = payment.StatusUnknown
		}
		return nil
	})
	return p, err
}

// Execute implements payment.Gateway.
func (g *Gateway) Execute(_ context.Context, paymentID string) (p payment.Payment, err error) {
	if g.DuringExecute != nil {
		g.DuringExecute()
	}
	err = g.do("Execute", func() error {
		g.executed[paymentID]++
		found := g.payments[paymentID]
		switch {
		case found == nil || found.Status != payment.StatusApproved:
			return payment.ErrRefused
		case g.BreakExecute:
			return ErrGatewayDown
		}
		found.Status, found.CapturedAt = payment.StatusCompleted, g.now()
		p = *found
		if g.LoseExecute {
			return ErrGatewayDown
		}
		return nil
	})
	return p, err
}

// Cancel implements payment.Gateway.
func (g *Gateway) Cancel(_ context.Context, paymentID string) error {
	if g.BeforeCancel != nil {
		g.BeforeCancel()
	}
	return g.do("Cancel", func() error {
		found := g.payments[paymentID]
		switch {
		case found == nil:
			return payment.ErrNotFound
		case found.Status == payment.StatusCompleted:
			return payment.ErrCompleted
		}
		found.Status = payment.StatusCancelled
		return nil
	})
}

// Refund implements payment.Gateway; one refund per payment and key.
func (g *Gateway) Refund(_ context.Context, paymentID, _ string, amountMinor int64) (payment.RefundStatus, error) {
	err := g.do("Refund", func() error {
		found := g.payments[paymentID]
		if found == nil || found.Status != payment.StatusCompleted {
			return payment.ErrRefused
		}
		if found.RefundedMinor == 0 {
			found.RefundedMinor = amountMinor
			g.refunds[paymentID]++
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	return payment.RefundDone, nil
}

// QueryRefund implements payment.Gateway.
func (g *Gateway) QueryRefund(_ context.Context, paymentID, _ string) (s payment.RefundStatus, err error) {
	err = g.do("QueryRefund", func() error {
		s = payment.RefundNone
		if g.refunds[paymentID] > 0 {
			s = payment.RefundDone
		}
		return nil
	})
	return s, err
}

// ParseWebhook implements payment.Gateway; nothing here comes by HTTP.
func (g *Gateway) ParseWebhook(http.Header, []byte, time.Time) (payment.Notice, error) {
	return payment.Notice{}, payment.ErrBadNotice
}

// ParseReturn implements payment.Gateway; nothing here comes by HTTP.
func (g *Gateway) ParseReturn(url.Values) (payment.Notice, error) {
	return payment.Notice{}, payment.ErrBadNotice
}

// Edit changes a payment by hand: a customer who pays, a wrong amount, a status
// that nobody knows. It creates one that does not exist.
func (g *Gateway) Edit(paymentID string, change func(*payment.Payment)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.payments[paymentID] == nil {
		g.payments[paymentID] = &payment.Payment{PaymentID: paymentID, Status: payment.StatusOpen, Payee: "us", Live: true}
	}
	change(g.payments[paymentID])
}

// Pay is the customer on the gateway's page: captured where the page moves the
// money, approved where we do. It reports whether the page still took it.
func (g *Gateway) Pay(paymentID string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	p := g.payments[paymentID]
	if p == nil || p.Status != payment.StatusOpen {
		return false
	}
	p.Status = payment.StatusApproved
	if g.moves == payment.MovesOnPage {
		p.Status, p.CapturedAt = payment.StatusCompleted, g.now()
	}
	return true
}

// Executes is how often Execute was called for the payment.
func (g *Gateway) Executes(paymentID string) int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.executed[paymentID]
}

// Refunds is how often money of the payment went back.
func (g *Gateway) Refunds(paymentID string) int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.refunds[paymentID]
}

// Status is the payment's status.
func (g *Gateway) Status(paymentID string) payment.Status {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.payments[paymentID].Status
}

// completed lists the payments whose money was captured.
func (g *Gateway) completed() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	var ids []string
	for id, p := range g.payments {
		if p.Status == payment.StatusCompleted {
			ids = append(ids, id)
		}
	}
	return ids
}
