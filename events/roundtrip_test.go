package events_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/holdfast/holdfast/events"
	"pgregory.net/rapid"
)

var (
	names   = rapid.StringMatching(`[A-Za-z0-9_-]{1,40}`)
	hashes  = rapid.StringMatching(`[A-Za-z0-9_-]{43}`)
	foreign = rapid.StringMatching(`[ -~äß漢]{1,60}`)
	coins   = rapid.StringMatching(`[A-Z]{3}`)
	money   = rapid.Int64Range(0, 1<<53)
)

func drawTime(t *rapid.T, label string) time.Time {
	zone := time.FixedZone("", rapid.IntRange(-12, 12).Draw(t, label+" zone")*3600)
	return time.Unix(rapid.Int64Range(1, 1<<36).Draw(t, label), rapid.Int64Range(0, 999999999).Draw(t, label+" ns")).In(zone)
}

// drawEvent draws any valid event.
func drawEvent(t *rapid.T) events.Event {
	e := events.Event{
		Type: rapid.SampledFrom([]events.Type{events.BookingHeld, events.PaymentNotified, events.PaymentCaptured}).Draw(t, "type"),
		Sale: names.Draw(t, "sale"), Candidate: hashes.Draw(t, "candidate"), BookingID: names.Draw(t, "bid"),
		Gen: rapid.Int64Range(0, 1<<40).Draw(t, "gen"), At: drawTime(t, "at"),
	}
	switch e.Type {
	case events.BookingHeld:
		h := events.Held{Level: names.Draw(t, "level"), Gateway: names.Draw(t, "gateway"), PaymentID: foreign.Draw(t, "pid"),
			AmountMinor: money.Draw(t, "amount"), Currency: coins.Draw(t, "currency"), AdmittedAt: drawTime(t, "admitted")}
		h.HoldUntil = h.AdmittedAt.Add(time.Duration(rapid.Int64Range(1, int64(time.Hour)).Draw(t, "hold")))
		for _, token := range rapid.SliceOfNDistinct(names, 1, 10, rapid.ID[string]).Draw(t, "seats") {
			h.Seats = append(h.Seats, events.Seat{Token: token, Score: rapid.Int64().Draw(t, "score")})
		}
		e.Held = &h
	case events.PaymentNotified:
		if rapid.Bool().Draw(t, "stray") {
			e.Candidate, e.BookingID = "", ""
		}
		e.Notice = &events.Notice{Gateway: names.Draw(t, "gateway"), PaymentID: foreign.Draw(t, "pid"), EventID: foreign.Draw(t, "eid"), Source: "webhook"}
	case events.PaymentCaptured:
		e.Captured = &events.Captured{Gateway: names.Draw(t, "gateway"), PaymentID: foreign.Draw(t, "pid"), AmountMinor: money.Draw(t, "amount"),
			Currency: coins.Draw(t, "currency"), Payee: foreign.Draw(t, "payee"), CapturedAt: drawTime(t, "captured"), AskedBy: "worker"}
	}
	return e
}

func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := drawEvent(t)
		body, err := events.Encode(e)
		if err != nil {
			t.Fatal(err)
		}
		got, err := events.Decode(body)
		if err != nil {
			t.Fatalf("decode what was encoded: %v\n%s", err, body)
		}
		e.Version = events.Version
		if d := cmp.Diff(e, got); d != "" { // cmp compares instants, not zones
			t.Fatal(d)
		}
		if got.Group() != e.Group() || got.DedupID() != e.DedupID() {
			t.Fatal("group or deduplication id changed on the way")
		}
		again, err := events.Encode(got)
		if err != nil || !bytes.Equal(again, body) {
			t.Fatalf("encoding is not canonical: %v\n%s\n%s", err, body, again)
		}
	})
}

// Whatever arrives, Decode neither panics nor lets anything through that could
// not be sent again.
func FuzzDecode(f *testing.F) {
	files, err := filepath.Glob("testdata/v1/*.json")
	if err != nil || len(files) == 0 {
		f.Fatalf("no golden bodies to start from: %v", err)
	}
	for _, file := range files {
		body, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(body)
	}
	f.Add([]byte(`{"v":2}`))
	f.Add([]byte(`{"v":1,"type":"booking.held","held":null}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		e, err := events.Decode(in)
		if err != nil {
			return
		}
		body, err := events.Encode(e)
		if err != nil {
			t.Fatalf("decoded, but can't be encoded: %v", err)
		}
		back, err := events.Decode(body)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(e, back); d != "" {
			t.Fatal(d)
		}
	})
}
