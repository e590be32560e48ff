package events_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/holdfast/holdfast/events"
)

// Each row breaks one rule of a valid event; the error must name the field.
func TestEncodeRefusesBrokenEvents(t *testing.T) {
	for _, c := range []struct {
		sample, field string
		spoil         func(*events.Event)
	}{
		{"held", "type", func(e *events.Event) { e.Type = "booking.sold" }},
		{"held", "payload", func(e *events.Event) { e.Held = nil }},
		{"held", "payload", func(e *events.Event) { e.Notice = &events.Notice{} }},
		{"held", "gen", func(e *events.Event) { e.Gen = -1 }},
		{"held", "at", func(e *events.Event) { e.At = time.Time{} }},
		{"held", "sale", func(e *events.Event) { e.Sale = "spring|1" }},
		{"held", "booking_id", func(e *events.Event) { e.BookingID = "" }},
		{"held", "candidate", func(e *events.Event) { e.Candidate = "" }},
		{"held", "candidate", func(e *events.Event) { e.Candidate = strings.Repeat("a", 129) }},
		{"held", "held.level", func(e *events.Event) { e.Held.Level = strings.Repeat("a", 41) }},
		{"held", "held.seats", func(e *events.Event) { e.Held.Seats = nil }},
		{"held", "held.seats", func(e *events.Event) { e.Held.Seats[1].Token = e.Held.Seats[0].Token }},
		{"held", "held.seats", func(e *events.Event) { e.Held.Seats = make([]events.Seat, 11) }},
		{"held", "held.seats.token", func(e *events.Event) { e.Held.Seats[0].Token = "N1 17" }},
		{"held", "held.currency", func(e *events.Event) { e.Held.Currency = "eur" }},
		{"held", "held.amount_minor", func(e *events.Event) { e.Held.AmountMinor = -1 }},
		{"held", "held.admitted_at", func(e *events.Event) { e.Held.AdmittedAt = time.Time{} }},
		{"held", "held.hold_until", func(e *events.Event) { e.Held.HoldUntil = e.Held.AdmittedAt }},
		{"held", "held.payment_id", func(e *events.Event) { e.Held.PaymentID = "pay\x00" }},
		{"held", "held.key", func(e *events.Event) { e.Held.Key = strings.Repeat("k", 256) }},
		{"notice", "notice.event_id", func(e *events.Event) { e.Notice.EventID = "" }},
		{"notice", "notice.payment_id", func(e *events.Event) { e.Notice.PaymentID = "\xff" }},
		{"notice", "notice.source", func(e *events.Event) { e.Notice.Source = "" }},
		{"captured", "booking_id", func(e *events.Event) { e.BookingID = "" }},
		{"captured", "captured.payee", func(e *events.Event) { e.Captured.Payee = strings.Repeat("p", 256) }},
		{"captured", "captured.captured_at", func(e *events.Event) { e.Captured.CapturedAt = time.Time{} }},
	} {
		e := samples()[c.sample]
		c.spoil(&e)
		_, err := events.Encode(e)
		if !errors.Is(err, events.ErrInvalid) || !strings.Contains(err.Error(), ": "+c.field+" ") {
			t.Errorf("spoiled %s of %s: got %v", c.field, c.sample, err)
		}
	}
}

func TestEncodeRefusesTimesBeyondRFC3339(t *testing.T) {
	e := samples()["held"]
	e.At = time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)
	if _, err := events.Encode(e); !errors.Is(err, events.ErrInvalid) {
		t.Errorf("got %v, want ErrInvalid", err)
	}
}

// protocol.md 3A row 7: the whole hash, so that candidates never share a group.
func TestGroupIsTheWholeCandidate(t *testing.T) {
	s := samples()
	for _, name := range []string{"held", "notice", "captured"} {
		if g := s[name].Group(); g != candidate {
			t.Errorf("%s: group %q", name, g)
		}
	}
	again := s["notice-unknown-booking"]
	n := *again.Notice
	n.EventID, n.Source, again.Notice = "evt_11", "webhook", &n
	g := s["notice-unknown-booking"].Group()
	if again.Group() != g || len(g) > 128 || g == "" {
		t.Errorf("notices of one payment must share a group: %q, %q", g, again.Group())
	}
	n.PaymentID = "pay_2"
	if again.Group() == g {
		t.Error("notices of two payments share a group")
	}
}

func TestDedupIDsFollowTheContent(t *testing.T) {
	s := samples()
	if id := s["held"].DedupID(); id != "H:01ARZ3NDEKTSV4RRFFQ69G5FAV" {
		t.Error(id)
	}
	if id := s["captured"].DedupID(); id != "Q:sandbox:pay_1" {
		t.Error(id)
	}
	if a, b := s["notice"].DedupID(), s["notice-unknown-booking"].DedupID(); a == b || a[:2] != "N:" {
		t.Errorf("two gateway events: %q, %q", a, b)
	}
	held := s["held"]
	held.At, held.Gen = held.At.Add(time.Hour), 9 // another attempt to send the same step
	if held.DedupID() != s["held"].DedupID() {
		t.Error("the id depends on when it was sent")
	}
	long := s["captured"]
	c := *long.Captured
	c.PaymentID, long.Captured = "ünïcode "+strings.Repeat("x", 200), &c
	if id := long.DedupID(); len(id) > 128 || strings.Contains(id, " ") {
		t.Errorf("SQS refuses %q", id)
	}
	if id := (events.Event{}).DedupID(); id != "" {
		t.Errorf("an event of no type has id %q", id)
	}
}
