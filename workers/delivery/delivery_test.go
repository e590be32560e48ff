package delivery_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/holdfast/holdfast/events"
	"github.com/holdfast/holdfast/workers/delivery"
)

type stub struct {
	handle func(ctx context.Context) error
	park   error
	parked []string
}

func (s *stub) Handle(ctx context.Context, _ events.Event, _ events.Meta) error { return s.handle(ctx) }

func (s *stub) Park(_ context.Context, _ string, _ events.Meta, reason string) error {
	s.parked = append(s.parked, reason)
	return s.park
}

func message(t *testing.T) events.Message {
	t.Helper()
	body, err := events.Encode(events.Event{
		Type: events.PaymentNotified, Sale: "spring", Candidate: "c1", BookingID: "B1", At: time.Now(),
		Notice: &events.Notice{Gateway: "sandbox", PaymentID: "p", EventID: "e", Source: "webhook"},
	})
	if err != nil {
		t.Fatal(err)
	}
	return events.Message{Body: string(body), Meta: events.Meta{MessageID: "m1", SentAt: time.Now().Add(-time.Minute), Group: "c1"}}
}

func TestVerdicts(t *testing.T) {
	cause := errors.New("cause")
	for name, c := range map[string]struct {
		body    string // instead of an event
		err     error
		park    error
		want    delivery.Verdict
		reason  string
		deleted bool
	}{
		"done":                 {want: delivery.Ack, deleted: true},
		"fails":                {err: cause, want: delivery.Retry},
		"parks":                {err: events.Park("why", cause), want: delivery.Park, reason: "why", deleted: true},
		"parking fails":        {err: events.Park("why", cause), park: cause, want: delivery.Retry, reason: "why"},
		"undecodable":          {body: "x", want: delivery.Park, reason: delivery.ReasonUndecodable, deleted: true},
		"of a newer version":   {body: `{"v":99}`, want: delivery.Retry},
		"undecodable, no room": {body: "x", park: cause, want: delivery.Retry, reason: delivery.ReasonUndecodable},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &stub{handle: func(context.Context) error { time.Sleep(time.Second); return c.err }, park: c.park}
				var report delivery.Report
				d := delivery.Deliverer{Handler: s, Parker: s, Observe: func(r delivery.Report) { report = r }, Log: slog.New(slog.DiscardHandler)}
				m := message(t)
				took, age := time.Second, time.Minute+time.Second
				typ := events.PaymentNotified
				if c.body != "" {
					m.Body, took, age, typ = c.body, 0, time.Minute, ""
				}
				if got := d.Deliver(t.Context(), m); got != c.deleted {
					t.Errorf("may be deleted: %v", got)
				}
				if (report.Err == nil) != (c.want == delivery.Ack) {
					t.Errorf("error %v with %s", report.Err, c.want)
				}
				report.Err = nil
				if d := cmp.Diff(delivery.Report{Type: typ, Verdict: c.want, Reason: c.reason, Took: took, Age: age}, report); d != "" {
					t.Error(d)
				}
			})
		})
	}
}

func TestHangingHandlerIsCutOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &stub{handle: func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }}
		d := delivery.Deliverer{Handler: s, Parker: s, Log: slog.New(slog.DiscardHandler)}
		start := time.Now()
		if d.Deliver(t.Context(), message(t)) || time.Since(start) != delivery.DefaultTimeout {
			t.Errorf("cut off after %v", time.Since(start))
		}
	})
}

// Logs say where to look and hold nobody's data.
func TestLogHoldsNoCandidate(t *testing.T) {
	var out bytes.Buffer
	s := &stub{handle: func(context.Context) error { return events.Park("why", errors.New("cause")) }}
	d := delivery.Deliverer{Handler: s, Parker: s, Log: slog.New(slog.NewTextHandler(&out, nil))}
	m := message(t)
	m.Meta.Group = "secret-hash"
	d.Deliver(t.Context(), m)
	for _, want := range []string{"level=ERROR", "reason=why", "booking_id=B1", "message_id=m1", "cause"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %s in %s", want, out.String())
		}
	}
	if strings.Contains(out.String(), "secret-hash") || strings.Contains(out.String(), "c1") {
		t.Errorf("the log names the candidate: %s", out.String())
	}
}

func TestGroupsKeepTheirOrder(t *testing.T) {
	var batch []events.Message
	for _, id := range []string{"a1", "b1", "a2", "-1", "b2", "-2", "a3"} {
		batch = append(batch, events.Message{Body: id, Meta: events.Meta{Group: strings.TrimPrefix(id[:1], "-")}})
	}
	var got [][]string
	for _, g := range delivery.Groups(batch) {
		var ids []string
		for _, m := range g {
			ids = append(ids, m.Body)
		}
		got = append(got, ids)
	}
	if d := cmp.Diff([][]string{{"a1", "a2", "a3"}, {"b1", "b2"}, {"-1"}, {"-2"}}, got); d != "" {
		t.Error(d)
	}
}
