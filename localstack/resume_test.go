package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/payment/sandbox/engine"
)

// TestKilledBeforeTheAttach kills the ingress while a booking waits for its
// payment: admitted, not attached. The page's retry with the same key gets the
// same booking from the next process, long before the reaper would take it, and
// it is paid.
func TestKilledBeforeTheAttach(t *testing.T) {
	t.Parallel()
	town := newTown(t, townOptions{})
	people, err := town.openDemo(t.Context(), &logWriter{t: t})
	if err != nil {
		t.Fatal(err)
	}
	h, err := town.house(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := h.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	}()
	hang := func(n engine.Times) {
		t.Helper()
		if err := town.cloud.Gateway.SetFaults("page", engine.Faults{TimeOutCreate: n}); err != nil {
			t.Fatal(err)
		}
	}
	ask := wish(t, people.Row(0))
	hang(engine.Always)
	died := make(chan error)
	go func() {
		var err error
		for status := http.StatusServiceUnavailable; err == nil && status == http.StatusServiceUnavailable; { // the page, too, comes again
			status, _, err = town.post(ask, "key of the page")
		}
		died <- err
	}()
	admitted := awaitAdmission(t, h.Redis)
	kill(t, town, "serve")
	hang(0)
	if err := <-died; err == nil {
		t.Fatal("the first request was answered: it was not killed in the middle")
	}
	booked := town.retry(t, ask, "key of the page")
	if booked.BookingID != admitted || booked.PaymentURL == "" {
		t.Fatalf("admitted %s, then booked %+v", admitted, booked)
	}
	press(t, booked.PaymentURL)
	town.await(t, booked.BookingID, "paid")
	if b, err := h.Store.Booking(t.Context(), admitted); err != nil || b.State != ledger.Paid {
		t.Fatalf("the ledger says %s, %v", b.State, err)
	}
}

// awaitAdmission waits for the one booking that is pending and has no payment. It
// has been for a while: one that no replica acknowledged in time is soon undone.
func awaitAdmission(t *testing.T, r admission.Sweepable) string {
	t.Helper()
	last, since := "", time.Now()
	for deadline := time.After(time.Minute); ; {
		id := ""
		if err := r.ScanPending(t.Context(), demoSale, func(p admission.Pending) error { id = p.BookingID; return nil }); err != nil {
			t.Fatal(err)
		}
		if id != last {
			last, since = id, time.Now()
		}
		if id != "" && time.Since(since) > time.Second {
			return id
		}
		select {
		case <-time.After(10 * time.Millisecond):
		case <-deadline:
			t.Fatal("nobody was admitted")
		}
	}
}

func (t *town) post(body []byte, key string) (int, []byte, error) {
	req, err := http.NewRequest(http.MethodPost, t.public+"/sales/"+demoSale+"/bookings", bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Idempotency-Key", key)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	return resp.StatusCode, answer, err
}

// retry is what the page does until it has an answer: a process that does not
// listen yet, 409 in_progress and 503 are none.
func (t *town) retry(tb testing.TB, body []byte, key string) booking {
	tb.Helper()
	for deadline := time.After(60 * time.Second); ; {
		status, answer, err := t.post(body, key)
		if err == nil && status == http.StatusCreated {
			var b booking
			if err := json.Unmarshal(answer, &b); err != nil {
				tb.Fatal(err)
			}
			return b
		}
		select {
		case <-time.After(100 * time.Millisecond):
		case <-deadline:
			tb.Fatalf("status %d, %v: %s; the end of the log:\n%s", status, err, answer, t.logTail())
		}
	}
}
