package batch_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	lambdaevents "github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"
	"github.com/holdfast/holdfast/events"
	"github.com/holdfast/holdfast/localstack/leak"
	"github.com/holdfast/holdfast/workers/batch"
)

func TestMain(m *testing.M) { leak.Main(m) }

type handlerFunc func(context.Context, events.Event, events.Meta) error

func (f handlerFunc) Handle(ctx context.Context, e events.Event, m events.Meta) error {
	return f(ctx, e, m)
}

// lot records what was parked.
type lot struct {
	mu   sync.Mutex
	held []string
	err  error
}

func (l *lot) Park(_ context.Context, _ string, m events.Meta, reason string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err == nil {
		l.held = append(l.held, m.MessageID+" "+reason)
	}
	return l.err
}

// record is a message as Lambda hands it over; its id is the booking's.
func record(t *testing.T, group, bid string) lambdaevents.SQSMessage {
	t.Helper()
	body, err := events.Encode(events.Event{
		Type: events.PaymentNotified, Sale: "spring", Candidate: group, BookingID: bid, At: time.Now(),
		Notice: &events.Notice{Gateway: "sandbox", PaymentID: "p", EventID: "e", Source: "webhook"},
	})
	if err != nil {
		t.Fatal(err)
	}
	return lambdaevents.SQSMessage{MessageId: bid, Body: string(body), Attributes: map[string]string{
		"MessageGroupId": group, "MessageDeduplicationId": "d-" + bid, "ApproximateReceiveCount": "3", "SentTimestamp": "1772366400000",
	}}
}

func function(t *testing.T, park *lot, h handlerFunc) *batch.Function {
	t.Helper()
	f, err := batch.New(batch.Config{Handler: h, Parker: park, Log: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func invoke(t *testing.T, ctx context.Context, f *batch.Function, records ...lambdaevents.SQSMessage) []string {
	t.Helper()
	out, err := f.Invoke(ctx, lambdaevents.SQSEvent{Records: records})
	if err != nil {
		t.Fatal(err)
	}
	ids := []string{}
	for _, item := range out.BatchItemFailures {
		ids = append(ids, item.ItemIdentifier)
	}
	return ids
}

// protocol.md 1.6: a group stops at its first failure, the others go on.
func TestFirstFailureReportsTheRestOfItsGroup(t *testing.T) {
	var mu sync.Mutex
	var handled []string
	f := function(t, &lot{}, func(_ context.Context, e events.Event, m events.Meta) error {
		mu.Lock()
		defer mu.Unlock()
		handled = append(handled, e.BookingID)
		if want := (events.Meta{ReceiveCount: 3, SentAt: time.UnixMilli(1772366400000).UTC(), MessageID: e.BookingID, Group: e.Candidate, DedupID: "d-" + e.BookingID}); m != want {
			t.Errorf("meta %+v, want %+v", m, want)
		}
		if e.BookingID == "A2" {
			return errors.New("the ledger is away")
		}
		return nil
	})
	failed := invoke(t, t.Context(), f, record(t, "a", "A1"), record(t, "b", "B1"), record(t, "a", "A2"), record(t, "a", "A3"), record(t, "b", "B2"))
	if d := cmp.Diff([]string{"A2", "A3"}, failed); d != "" {
		t.Error(d)
	}
	slices.Sort(handled)
	if d := cmp.Diff([]string{"A1", "A2", "B1", "B2"}, handled); d != "" {
		t.Error(d)
	}
}

func TestPoisonIsParkedAndNotReported(t *testing.T) {
	park := &lot{}
	f := function(t, park, func(_ context.Context, e events.Event, _ events.Meta) error {
		if e.BookingID == "A1" {
			return events.Park("unknown_payment", nil)
		}
		return nil
	})
	records := []lambdaevents.SQSMessage{record(t, "a", "A1"), {MessageId: "A2", Body: "no event", Attributes: map[string]string{"MessageGroupId": "a"}}, record(t, "a", "A3")}
	if failed := invoke(t, t.Context(), f, records...); len(failed) != 0 {
		t.Errorf("reported %v, want none", failed)
	}
	if d := cmp.Diff([]string{"A1 unknown_payment", "A2 undecodable"}, park.held); d != "" {
		t.Error(d)
	}
	park.err = errors.New("the dead letter queue is away")
	if d := cmp.Diff([]string{"A1", "A2", "A3"}, invoke(t, t.Context(), f, records...)); d != "" {
		t.Errorf("poison that could not be parked: %s", d)
	}
}

// Near its deadline the function answers with what it has: what it did not
// reach must come again, what is done must not.
func TestDeadlineReportsTheRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := function(t, &lot{}, func(ctx context.Context, _ events.Event, _ events.Meta) error {
			select {
			case <-time.After(4 * time.Second):
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
		start := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 12*time.Second)
		defer cancel()
		failed := invoke(t, ctx, f, record(t, "a", "A1"), record(t, "a", "A2"), record(t, "a", "A3"), record(t, "a", "A4"))
		if d := cmp.Diff([]string{"A3", "A4"}, failed); d != "" {
			t.Error(d)
		}
		if took := time.Since(start); took != 10*time.Second {
			t.Errorf("answered after %v, want 2 s before the deadline", took)
		}
	})
}

// A handler that does not look at its context may finish; nothing is begun after.
func TestNothingIsBegunAfterTheDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := function(t, &lot{}, func(context.Context, events.Event, events.Meta) error {
			time.Sleep(4 * time.Second)
			return nil
		})
		ctx, cancel := context.WithTimeout(t.Context(), 13*time.Second)
		defer cancel()
		failed := invoke(t, ctx, f, record(t, "a", "A1"), record(t, "a", "A2"), record(t, "a", "A3"), record(t, "a", "A4"))
		if d := cmp.Diff([]string{"A4"}, failed); d != "" {
			t.Error(d)
		}
	})
}

func TestGroupsInParallelWithinBounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		now, most := 0, 0
		f := function(t, &lot{}, func(context.Context, events.Event, events.Meta) error {
			mu.Lock()
			now++
			most = max(most, now)
			mu.Unlock()
			time.Sleep(time.Second)
			mu.Lock()
			now--
			mu.Unlock()
			return nil
		})
		var records []lambdaevents.SQSMessage
		for i := range 25 {
			records = append(records, record(t, fmt.Sprint("c", i), fmt.Sprint("B", i)))
		}
		if failed := invoke(t, t.Context(), f, records...); len(failed) != 0 || most != 10 {
			t.Errorf("%d failed, %d at once; want none and 10", len(failed), most)
		}
	})
}

// Lambda reads this JSON: an empty list is a success.
func TestAnswerOnTheWire(t *testing.T) {
	f := function(t, &lot{}, func(_ context.Context, e events.Event, _ events.Meta) error {
		if e.BookingID == "A1" {
			panic("bug")
		}
		return nil
	})
	for bid, want := range map[string]string{"A1": `{"batchItemFailures":[{"itemIdentifier":"A1"}]}`, "B1": `{"batchItemFailures":[]}`} {
		out, err := f.Invoke(t.Context(), lambdaevents.SQSEvent{Records: []lambdaevents.SQSMessage{record(t, "a", bid)}})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := json.Marshal(out); err != nil || string(got) != want {
			t.Errorf("got %s, %v; want %s", got, err, want)
		}
	}
}

func TestNewSaysWhatIsMissing(t *testing.T) {
	if _, err := batch.New(batch.Config{}); err == nil || !strings.Contains(err.Error(), "Handler") || !strings.Contains(err.Error(), "Parker") {
		t.Errorf("got %v", err)
	}
}
