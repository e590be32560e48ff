package sandbox_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"testing"

	"github.com/holdfast/holdfast/payment"
	"github.com/holdfast/holdfast/payment/sandbox"
	"github.com/holdfast/holdfast/payment/sandbox/engine"
)

func TestScenario34_ExecuteAnswerLostIsFoundByQuery(t *testing.T) {
	w := newWorld(t)
	s := w.create(t, w.exec, "b1")
	w.act(t, s.PaymentID, engine.ActPay)
	wantStatus(t, w.exec, s.PaymentID, payment.StatusApproved)
	w.faults(t, "exec", engine.Faults{LoseExecute: 1, ChargeAgain: engine.Always})
	_, err := w.exec.Execute(t.Context(), s.PaymentID)
	wantUnknown(t, err)
	wantStatus(t, w.exec, s.PaymentID, payment.StatusCompleted)
	if e := w.entry(t, s.PaymentID); e.ExecuteCalls != 1 || e.CapturedMinor != price {
		t.Fatalf("the client executed %d times, captured %d", e.ExecuteCalls, e.CapturedMinor)
	}
	// A caller that executes blindly is charged twice, and the ledger shows it.
	if _, err := w.exec.Execute(t.Context(), s.PaymentID); err != nil {
		t.Fatal(err)
	}
	if e := w.entry(t, s.PaymentID); e.Captures != 2 || e.CapturedMinor != 2*price {
		t.Fatalf("the double charge does not show: %+v", e)
	}
}

func TestExecute_Again(t *testing.T) {
	w := newWorld(t)
	s := w.create(t, w.exec, "b1")
	if _, err := w.exec.Execute(t.Context(), s.PaymentID); !errors.Is(err, payment.ErrRefused) {
		t.Fatalf("execute before approval: %v, want ErrRefused", err)
	}
	w.complete(t, w.exec, s.PaymentID)
	p, err := w.exec.Execute(t.Context(), s.PaymentID)
	if err != nil || p.Status != payment.StatusCompleted {
		t.Fatalf("execute again = %q, %v; want what a query says", p.Status, err)
	}
	if e := w.entry(t, s.PaymentID); e.Captures != 1 {
		t.Fatalf("captured %d times", e.Captures)
	}
	if _, err := w.page.Execute(t.Context(), s.PaymentID); !errors.Is(err, payment.ErrRefused) {
		t.Fatalf("execute at a page account: %v, want ErrRefused", err)
	}
}

func TestCase_C21_SlowGatewayActsAfterItsCallerHasGone(t *testing.T) {
	w := newWorld(t)
	s := w.create(t, w.exec, "b1")
	w.act(t, s.PaymentID, engine.ActPay)
	w.faults(t, "exec", engine.Faults{SlowMS: 200})
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	config := w.config("exec", payment.MovesOnExecute, w.tokens)
	config.HTTPClient.Transport.(*http.Transport).DialContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
		c, err := (&net.Dialer{}).DialContext(ctx, network, addr)
		return leavingConn{c, leave}, err
	}
	impatient, err := sandbox.New(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(impatient.Close)
	_, err = impatient.Execute(ctx, s.PaymentID)
	wantUnknown(t, err)
	waitFor(t, "the money of the impatient caller", func() bool { return w.entry(t, s.PaymentID).CapturedMinor == price })
}

// leavingConn lets its caller leave when the gateway can have the call, and before
// any answer. (A trace of the request says so while it may be in a buffer still.)
type leavingConn struct {
	net.Conn
	leave context.CancelFunc
}

func (c leavingConn) Write(p []byte) (int, error) {
	defer c.leave()
	return c.Conn.Write(p)
}
