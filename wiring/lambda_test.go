package wiring_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	lambdaevents "github.com/aws/aws-lambda-go/events"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/config"
	"github.com/holdfast/holdfast/events"
	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/localstack/cloud"
	"github.com/holdfast/holdfast/operator"
	"github.com/holdfast/holdfast/payment"
	"github.com/holdfast/holdfast/reaper"
	"github.com/holdfast/holdfast/sale"
	"github.com/holdfast/holdfast/wiring"
)

const saleID = "lambda"

// worker is the function as lambda.Start would call it.
type worker = func(context.Context, lambdaevents.SQSEvent) (lambdaevents.SQSEventResponse, error)

// sweep is a scheduled function.
type sweep = func(context.Context, wiring.ScheduleInput) (reaper.Report, error)

// TestFunctions runs the Lambda functions against the local cloud: the worker
// writes a booking and clears its pending entry, reports what it could not do,
// and the scheduled sweep gives the seat back when nobody pays.
func TestFunctions(t *testing.T) {
	h := openHouse(t)
	openSale(t, h, 6*time.Second) // a busy machine comes to the worker before it is over
	work := function[worker](t, h, wiring.FunctionWorker)

	held := admit(t, h, "candidate-1")
	body, err := events.Encode(held)
	if err != nil {
		t.Fatal(err)
	}
	// The second message of the group is from a newer build: it has to come again,
	// alone, because what was before it is done.
	newer := strings.Replace(string(body), `"v":1`, `"v":99`, 1)
	out, err := work(t.Context(), lambdaevents.SQSEvent{Records: []lambdaevents.SQSMessage{record("1", held, string(body)), record("2", held, newer)}})
	if err != nil || len(out.BatchItemFailures) != 1 || out.BatchItemFailures[0].ItemIdentifier != "2" {
		t.Fatalf("the worker answered %+v, %v", out, err)
	}
	if b, err := h.Store.Booking(t.Context(), held.BookingID); err != nil || b.State != ledger.Held {
		t.Fatalf("the ledger has %+v, %v", b, err)
	}
	if s := status(t, h); s.Pending != 0 || s.Used != 1 {
		t.Fatalf("Redis has %d pending and %d used", s.Pending, s.Used)
	}
	if _, known, err := (&reaper.NotedAges{Store: h.Store, Now: time.Now}).OldestMessage(t.Context(), saleID); err != nil || !known {
		t.Fatalf("the worker told the breaker nothing: %v", err)
	}

	reap := function[sweep](t, h, wiring.FunctionSweep)
	for deadline := time.After(time.Minute); ; {
		if _, err := reap(t.Context(), wiring.ScheduleInput{Sales: []string{saleID}}); err != nil {
			t.Fatal(err)
		}
		if s := status(t, h); s.Used == 0 {
			break
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-deadline:
			t.Fatal("the seat of a booking that nobody paid never came back")
		}
	}
	for _, name := range []string{wiring.FunctionDiff, wiring.FunctionAudit} {
		if _, err := function[sweep](t, h, name)(t.Context(), wiring.ScheduleInput{}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestUnknownFunctionIsRefused(t *testing.T) {
	h := &wiring.House{}
	if _, err := h.Function(t.Context(), "reap"); err == nil || !strings.Contains(err.Error(), "HOLDFAST_FUNCTION") {
		t.Fatalf("got %v", err)
	}
}

func function[F any](t *testing.T, h *wiring.House, name string) F {
	t.Helper()
	f, err := h.Function(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	typed, ok := f.(F)
	if !ok {
		t.Fatalf("function %s is a %T", name, f)
	}
	return typed
}

func openHouse(t *testing.T) *wiring.House {
	t.Helper()
	_, h := openTown(t)
	return h
}

// openTown is a house and the local cloud that it stands in.
func openTown(t *testing.T) (*cloud.Cloud, *wiring.House) {
	t.Helper()
	c, err := cloud.Start(t.Context(), cloud.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	for k, v := range c.Env() {
		t.Setenv(k, v)
	}
	t.Setenv("HOLDFAST_SECRET", strings.Repeat("5c", 32))
	t.Setenv("HOLDFAST_OPERATOR_TOKEN", strings.Repeat("t", 16))
	cfg, err := config.Load(os.Getenv)
	if err != nil {
		t.Fatal(err)
	}
	h, err := wiring.Open(t.Context(), cfg, slog.New(slog.NewJSONHandler(io.Discard, nil)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return c, h
}

// openSale sells ten seats to a hundred candidates.
func openSale(t *testing.T, h *wiring.House, hold time.Duration) {
	t.Helper()
	by := operator.By{Actor: "operator:test", Reason: "test"}
	now := time.Now()
	plan := sale.Sale{ID: saleID, Title: "Functions", Zone: "UTC", OpensAt: now.Add(-time.Minute).Truncate(time.Millisecond), ClosesAt: now.Add(time.Hour).Truncate(time.Millisecond),
		Hold: hold, Price: sale.Money{AmountMinor: 100, Currency: "BDT"}, Levels: []sale.Level{{Name: "A", Cap: 10}}}.WithDefaults()
	act(t, func() error { _, err := h.Desk().Apply(t.Context(), plan, by); return err })
	rows := func() (iter.Seq2[sale.Row, error], error) {
		return func(yield func(sale.Row, error) bool) {
			yield(sale.Row{Code: "ABCD000001", Email: "one@example.org"}, nil)
		}, nil
	}
	act(t, func() error {
		_, err := h.Desk().ImportRoster(t.Context(), saleID, rows, operator.ImportOptions{}, nil, by)
		return err
	})
	act(t, func() error { return h.Desk().Open(t.Context(), saleID, by) })
}

// act repeats what is safe to repeat, as all acts of an operator are, while a
// replica that has just started, or has no share of the machine, is slow to
// acknowledge.
func act(t *testing.T, do func() error) {
	t.Helper()
	for deadline := time.After(time.Minute); ; {
		err := do()
		if err == nil {
			return
		}
		if !errors.Is(err, admission.ErrUnacknowledged) && !errors.Is(err, admission.ErrUnavailable) {
			t.Fatal(err)
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-deadline:
			t.Fatal(err)
		}
	}
}

// admit walks a booking as far as the ingress does, and returns its event.
func admit(t *testing.T, h *wiring.House, candidate string) events.Event {
	t.Helper()
	var id string
	var a admission.Answer
	act(t, func() (err error) {
		if id, err = sale.NewBookingID(rand.Reader); err == nil { // each attempt has its own
			a, err = h.Redis.Admit(t.Context(), admission.Request{Sale: saleID, BookingID: id, Candidate: candidate, Level: "A", Gen: 1,
				RosterVersion: admission.ProvenRoster, AmountMinor: 100, Currency: "BDT", Count: 1})
		}
		return err
	})
	if a.Outcome != admission.Admitted {
		t.Fatalf("admit: %v", a.Outcome)
	}
	s, err := h.Gateways["page"].Create(t.Context(), payment.CreateRequest{Metadata: payment.Metadata{Sale: saleID, BookingID: id, Candidate: candidate},
		AmountMinor: 100, Currency: "BDT", Title: "seat", ReturnURL: "http://127.0.0.1/return", ExpiresAt: a.HoldUntil})
	if err != nil {
		t.Fatal(err)
	}
	key := ledger.PaymentKey{Gateway: "page", ID: s.PaymentID}
	if _, err := h.Redis.Attach(t.Context(), admission.Attachment{Sale: saleID, BookingID: id, Driver: a.Driver, PaymentID: key.String(), URL: s.URL, HoldUntil: a.HoldUntil, StashFor: time.Minute}); err != nil {
		t.Fatal(err)
	}
	return events.Event{Version: events.Version, Type: events.BookingHeld, Sale: saleID, Candidate: candidate, BookingID: id, Gen: 1, At: time.Now().UTC(),
		Held: &events.Held{Level: "A", Seats: []events.Seat{{Token: a.Tokens[0], Score: 1}}, Gateway: "page", PaymentID: s.PaymentID,
			AmountMinor: 100, Currency: "BDT", AdmittedAt: a.AdmittedAt, HoldUntil: a.HoldUntil}}
}

func record(id string, e events.Event, body string) lambdaevents.SQSMessage {
	return lambdaevents.SQSMessage{MessageId: id, ReceiptHandle: id, Body: body, Attributes: map[string]string{
		"MessageGroupId": e.Group(), "MessageDeduplicationId": e.DedupID(), "ApproximateReceiveCount": "1",
		"SentTimestamp": jsonNumber(time.Now().UnixMilli()),
	}}
}

func jsonNumber(n int64) string {
	b, _ := json.Marshal(n) // an integer always can be
	return string(b)
}

func status(t *testing.T, h *wiring.House) admission.Status {
	t.Helper()
	s, err := h.Redis.Status(t.Context(), saleID, []string{"A"})
	if err != nil {
		t.Fatal(err)
	}
	return s
}
