package events_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/holdfast/holdfast/events"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 123456789, time.UTC)

const candidate = "s3Jp0Xr9YyqZ4nUoWm1kFhDgCvBtAeL7iQwPzRxNjMc"

// samples has one event of each kind, by the name of its golden file.
func samples() map[string]events.Event {
	base := events.Event{Version: events.Version, Sale: "spring", Candidate: candidate, BookingID: "01ARZ3NDEKTSV4RRFFQ69G5FAV", Gen: 3, At: noon}
	held, notice, stray, captured := base, base, base, base
	held.Type = events.BookingHeld
	held.Held = &events.Held{
		Level: "N1", Seats: []events.Seat{{Token: "N1-17", Score: 17}, {Token: "N1-18", Score: 18}},
		Key: "k-hash", InputHash: "kq3Zp0Xr9YyqZ4nUoWm1kF", EmailHash: "0123456789abcdef",
		Gateway: "sandbox", PaymentID: "pay_1", AmountMinor: 4500, Currency: "EUR",
		AdmittedAt: noon, HoldUntil: noon.Add(10 * time.Minute),
	}
	notice.Type = events.PaymentNotified
	notice.Notice = &events.Notice{Gateway: "sandbox", PaymentID: "pay_1", EventID: "evt_9", Source: "webhook"}
	stray.Type, stray.Candidate, stray.BookingID = events.PaymentNotified, "", ""
	stray.Notice = &events.Notice{Gateway: "sandbox", PaymentID: "pay_1", EventID: "evt_10", Source: "return"}
	captured.Type = events.PaymentCaptured
	captured.Captured = &events.Captured{Gateway: "sandbox", PaymentID: "pay_1", AmountMinor: 4500, Currency: "EUR", Payee: "Board of Exams", CapturedAt: noon, AskedBy: "reaper"}
	return map[string]events.Event{"held": held, "notice": notice, "notice-unknown-booking": stray, "captured": captured}
}

// The golden files are what released builds have written: never edit one, add a
// directory for a new version.
func TestGoldenBodies(t *testing.T) {
	for name, e := range samples() {
		t.Run(name, func(t *testing.T) {
			golden, err := os.ReadFile(filepath.Join("testdata", "v1", name+".json"))
			if err != nil {
				t.Fatal(err)
			}
			got, err := events.Encode(e)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(strings.TrimSpace(string(golden)), string(got)); d != "" {
				t.Errorf("encoded body changed, which needs a new version (-golden +got):\n%s", d)
			}
			back, err := events.Decode(golden)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(e, back); d != "" {
				t.Errorf("decoded golden (-want +got):\n%s", d)
			}
		})
	}
}

func TestUnknownFieldsAreSkipped(t *testing.T) {
	body, err := events.Encode(samples()["held"])
	if err != nil {
		t.Fatal(err)
	}
	later := strings.Replace(string(body), `"level":`, `"waitlist":{"pos":7},"level":`, 1)
	later = strings.Replace(later, `{"v":1,`, `{"v":1,"trace":"abc",`, 1)
	got, err := events.Decode([]byte(later))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(samples()["held"], got); d != "" {
		t.Error(d)
	}
}

func TestNewerVersionIsRetriedNotParked(t *testing.T) {
	_, err := events.Decode([]byte(`{"v":2,"type":{"of":"another shape"}}`))
	var v *events.VersionError
	if !errors.As(err, &v) || v.Version != 2 {
		t.Fatalf("got %v, want a VersionError of 2", err)
	}
	if errors.Is(err, events.ErrInvalid) {
		t.Error("a newer version must not count as invalid: it would be parked")
	}
}

func TestDecodeRefusesWhatIsNoEvent(t *testing.T) {
	body, err := events.Encode(samples()["held"])
	if err != nil {
		t.Fatal(err)
	}
	swap := func(old, new string) string {
		s := strings.Replace(string(body), old, new, 1)
		if s == string(body) {
			t.Fatalf("the body has no %s to replace", old)
		}
		return s
	}
	for name, in := range map[string]string{
		"empty":             "",
		"not json":          "HELD spring",
		"no version":        `{}`,
		"version 0":         swap(`"v":1`, `"v":0`),
		"text after it":     string(body) + "{}",
		"another type":      swap(`"booking.held"`, `"booking.sold"`),
		"other payload":     swap(`"booking.held"`, `"payment.captured"`),
		"foreign group":     swap(`"group":"s3`, `"group":"s4`),
		"foreign seq":       swap(`"seq":1`, `"seq":2`),
		"fractional amount": swap(`4500`, `4500.5`),
		"too big":           swap(`"gateway":"sandbox"`, `"x":"`+strings.Repeat("x", events.MaxBody)+`","gateway":"sandbox"`),
	} {
		if _, err := events.Decode([]byte(in)); !errors.Is(err, events.ErrInvalid) {
			t.Errorf("%s: got %v, want ErrInvalid", name, err)
		}
	}
}
