package report_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/ledger/ledgertest"
	"github.com/holdfast/holdfast/report"
	"github.com/holdfast/holdfast/sale"
)

var start = time.Date(2026, 5, 1, 4, 0, 0, 0, time.UTC)

// sold is a sale that is over: two paid, one released, one cancelled and
// refunded, one held still, a failover, a freeze and two bad minutes.
func sold(t *testing.T) *ledgertest.Store {
	t.Helper()
	s := ledgertest.NewStore(func() time.Time { return start })
	plan := sale.Sale{ID: "spring", Title: "Spring <exam>", Zone: "Asia/Dhaka", OpensAt: start, ClosesAt: start.Add(time.Hour), Hold: 10 * time.Minute,
		Price: sale.Money{AmountMinor: 150_000, Currency: "BDT"}, Levels: []sale.Level{{Name: "N1", Cap: 3}, {Name: "N2", Cap: 2}}}.WithDefaults()
	must(t, s.CreateControl(t.Context(), ledger.Control{Sale: "spring", Gen: 1, Plan: plan}))
	for n, end := range []string{"paid", "paid", "released", "cancelled", "held"} {
		b := ledger.Booking{ID: fmt.Sprintf("b%d", n), Sale: "spring", Candidate: fmt.Sprintf("c%d", n), Level: plan.Levels[n%2].Name, Seats: []ledger.Seat{{Token: fmt.Sprintf("T-%d", n), Score: int64(n)}},
			Gen: 1, Payment: ledger.PaymentKey{Gateway: "page", ID: fmt.Sprintf("p%d", n)}, Price: plan.Price, AdmittedAt: start.Add(time.Duration(n) * time.Second), HoldUntil: start.Add(10 * time.Minute)}
		apply(t, s)(ledger.Hold(b, "worker", b.AdmittedAt.Add(time.Second)))
		b.State = ledger.Held
		switch end {
		case "paid", "cancelled":
			at := start.Add(time.Duration(n+1) * time.Minute)
			apply(t, s)(ledger.Confirm(b, ledger.Capture{Key: b.Payment, AmountMinor: b.Price.AmountMinor, Currency: "BDT", At: at}, "worker", at))
			if end == "cancelled" {
				b, err := s.Booking(t.Context(), b.ID)
				must(t, err)
				apply(t, s)(ledger.Cancel(b, "operator:ann", at.Add(time.Minute)))
			}
		case "released":
			apply(t, s)(ledger.Release(b, ledger.ReasonOwner, "candidate", start.Add(5*time.Minute)))
		}
	}
	for _, e := range []ledger.AuditEntry{
		{At: start, Actor: "operator:ann", Action: "open", Reason: "as announced", Before: "closed", After: "open"},
		{At: start.Add(time.Minute), Actor: "reaper", Action: "failover", Reason: "a replica has become the primary of Redis", After: "epoch 2"},
		{At: start.Add(2 * time.Minute), Actor: "reaper", Action: "frozen", Reason: "lost"},
		{At: start.Add(3 * time.Minute), Actor: "reaper", Action: "rebuilt", Reason: "filled"},
	} {
		must(t, s.AppendAudit(t.Context(), "spring", e))
	}
	for n, m := range []ledger.Minute{
		{Answers: map[string]int{"created": 5, "level_full": 7}, Created: ledger.Latency{0, 0, 5}, Admit: ledger.Latency{0, 5}, Refused: ledger.Latency{7}},
		{Answers: map[string]int{"unavailable": 30, "closed": 1}, Refused: ledger.Latency{31}},
		{Answers: map[string]int{"payment_unavailable": 2}, Refused: ledger.Latency{13: 2}},
		{Answers: map[string]int{"duplicate": 3}, Refused: ledger.Latency{3}},
	} {
		m.At, m.Process = start.Add(time.Duration(n)*time.Minute), "p"
		must(t, s.PutMinute(t.Context(), "spring", m))
	}
	return s
}

func apply(t *testing.T, s *ledgertest.Store) func(ledger.Transition, error) {
	return func(tr ledger.Transition, err error) {
		t.Helper()
		must(t, err)
		must(t, s.Apply(t.Context(), tr))
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func document(t *testing.T) report.Document {
	t.Helper()
	s := sold(t)
	d, err := report.Collect(t.Context(), s, s, "spring")
	must(t, err)
	d.MadeAt, d.MadeBy = start.Add(time.Hour), "ann"
	d.Audit = report.Audit{At: d.MadeAt, OK: true, Invariants: []string{"Caps", "OneLive"}, InRedis: 3, Captured: 3}
	return d
}

// TestReportAddsUp: totals, refusals, speeds and incidents of a known sale.
func TestReportAddsUp(t *testing.T) {
	d := document(t)
	want := report.Standing{Name: "all levels", Cap: 5, Admitted: 5, Paid: 2, Held: 1, Released: 2}
	if diff := cmp.Diff(want, d.Seats); diff != "" {
		t.Errorf("seats (-want +got):\n%s", diff)
	}
	for _, s := range d.Sums {
		if !s.OK() || s.Left == 0 {
			t.Errorf("%+v", s)
		}
	}
	if !d.Holds() {
		t.Error("it does not hold")
	}
	if diff := cmp.Diff([]report.Count{{Name: "unavailable", Count: 30}, {Name: "level_full", Count: 7}, {Name: "created", Count: 5}, {Name: "duplicate", Count: 3}, {Name: "payment_unavailable", Count: 2}, {Name: "closed", Count: 1}}, d.Answers); diff != "" {
		t.Errorf("answers (-want +got):\n%s", diff)
	}
	if l := d.Latencies; len(l) != 3 || l[1].P99 != 5 || l[2].Count != 43 || l[2].Over != 2 {
		t.Errorf("latencies %+v", l)
	}
	kinds := ""
	for _, in := range d.Incidents {
		kinds += fmt.Sprintf("%s %s %v; ", in.Kind, in.From.Format("15:04"), in.To.Sub(in.From))
	}
	if kinds != "failover 04:01 0s; unavailable 04:01 2m0s; frozen 04:02 1m0s; rebuilt 04:03 0s; " {
		t.Errorf("incidents %s", kinds)
	}
	if len(d.Acts) != 1 || d.Acts[0].Reason != "as announced" {
		t.Errorf("acts %+v", d.Acts)
	}
	last := d.Curve[len(d.Curve)-1]
	if last.Held != 1 || last.Paid != 2 || len(d.Curve) > 181 {
		t.Errorf("the curve ends at %+v after %d points", last, len(d.Curve))
	}
	if m := d.Money[0]; m.Captured != 450_000 || m.Applied != 300_000 || m.Due != 150_000 {
		t.Errorf("money %+v", m)
	}
}

// TestReportSeesWhatDoesNotAddUp: a seat that somebody owns without a booking, a
// claim that is missing.
func TestReportSeesWhatDoesNotAddUp(t *testing.T) {
	s := broken{sold(t)}
	d, err := report.Collect(t.Context(), s, nil, "spring")
	must(t, err)
	d.Audit.OK = true
	bad := 0
	for _, sum := range d.Sums {
		if !sum.OK() {
			bad++
		}
	}
	if bad != 2 || d.Holds() {
		t.Errorf("%d sums differ, want 2: %+v", bad, d.Sums)
	}
	page, err := report.Page(d, nil)
	must(t, err)
	if !bytes.Contains(page, []byte("Not everything holds")) || bytes.Count(page, []byte(">differs<")) != 2 {
		t.Error("the page does not say so")
	}
}

type broken struct{ *ledgertest.Store }

func (b broken) Scan(ctx context.Context, saleID string, v ledger.Visitor) error {
	seat := v.Seat
	v.Candidate = func(string, string) error { return nil }
	v.Seat = func(token, id string) error { return errors.Join(seat(token, id), seat(token+"x", id)) }
	return b.Store.Scan(ctx, saleID, v)
}

func key(t *testing.T) (seed, public string) {
	t.Helper()
	seed, public, err := report.NewKey()
	must(t, err)
	return seed, public
}

// TestVerifyNoticesEveryByte changes one byte after the other.
func TestVerifyNoticesEveryByte(t *testing.T) {
	seed, public := key(t)
	signer, err := report.ReadKey(seed)
	must(t, err)
	reader, err := report.ReadPublicKey(public)
	must(t, err)
	d := document(t)
	page, err := report.Page(d, signer)
	must(t, err)
	again, err := report.Page(d, signer)
	must(t, err)
	if !bytes.Equal(page, again) {
		t.Fatal("the same document is not the same page")
	}
	got, err := report.Verify(page, reader)
	must(t, err)
	if diff := cmp.Diff(d, got); diff != "" {
		t.Errorf("document (-want +got):\n%s", diff)
	}
	t.Logf("%d bytes", len(page))
	at := bytes.Index(page, []byte(`id="seal"`))
	for i := 0; i < len(page); i++ {
		if i < at && i%17 != 0 { // the seal byte by byte, the rest at every 17th
			continue
		}
		changed := bytes.Clone(page)
		changed[i] ^= 1 << (i % 8)
		if _, err := report.Verify(changed, reader); err == nil {
			t.Fatalf("byte %d, %q, was changed and nobody noticed", i, page[max(0, i-20):min(len(page), i+20)])
		}
	}
	for name, changed := range map[string][]byte{"cut": page[:len(page)-1], "longer": append(bytes.Clone(page), '\n'), "empty": nil, "before": append([]byte("x"), page...)} {
		if _, err := report.Verify(changed, reader); err == nil {
			t.Errorf("%s: nobody noticed", name)
		}
	}
}

// TestVerifySaysWhy: each kind of wrong has its own error.
func TestVerifySaysWhy(t *testing.T) {
	seed, public := key(t)
	signer, err := report.ReadKey(seed)
	must(t, err)
	reader, err := report.ReadPublicKey(public)
	must(t, err)
	_, stranger := key(t)
	other, err := report.ReadPublicKey(stranger)
	must(t, err)
	d := document(t)
	page, err := report.Page(d, signer)
	must(t, err)
	unsigned, err := report.Page(d, nil)
	must(t, err)
	later := d
	later.Format = report.Format + 1
	newer, err := report.Page(later, signer)
	must(t, err)
	if _, err := report.Verify(page, other); !errors.Is(err, report.ErrOtherKey) {
		t.Errorf("another key: %v", err)
	}
	for _, c := range []struct {
		page []byte
		want error
	}{
		{unsigned, report.ErrUnsigned},
		{bytes.Replace(page, []byte("as announced"), []byte("as agreed on"), 1), report.ErrChanged},
		{newer, report.ErrLater},
		{[]byte("<!doctype html>"), report.ErrNoReport},
		// Whoever has the key seals a page that shows other figures than its data has.
		{report.SealAgain(bytes.Replace(page, []byte(">as announced<"), []byte(">as agreed on<"), 1), signer), report.ErrNotShown},
		{report.SealAgain(bytes.Replace(page, []byte(`"held":1,`), []byte(`"held":1, `), 1), signer), report.ErrNotShown},
		{report.SealAgain(bytes.Replace(page, []byte(`{"format":`), []byte(`{"more":1,"format":`), 1), signer), report.ErrNotShown},
	} {
		if _, err := report.Verify(c.page, reader); !errors.Is(err, c.want) {
			t.Errorf("got %v, want %v", err, c.want)
		}
	}
}

func TestKeys(t *testing.T) {
	seed, public := key(t)
	path := filepath.Join(t.TempDir(), "key")
	must(t, os.WriteFile(path, []byte(seed+"\n"), 0o600))
	fromFile, err := report.ReadKey("file:" + path)
	must(t, err)
	fromText, err := report.ReadKey(seed)
	must(t, err)
	if !fromFile.Equal(fromText) {
		t.Error("a file is another key than its text")
	}
	digits := strings.Repeat("5c", 32)
	if fromHex, err := report.ReadKey(digits); err != nil || !bytes.Equal(fromHex.Seed(), bytes.Repeat([]byte{0x5c}, 32)) {
		t.Errorf("from hex: %v", err)
	}
	for _, bad := range []string{"", "abc", public[:20], "file:" + path + "x", seed + "AAAA", digits[2:], digits + "5c"} {
		if _, err := report.ReadKey(bad); err == nil {
			t.Errorf("%q is taken for a key", bad)
		}
	}
}

// TestPageRunsNothing: what people wrote is text, and the policy allows nothing.
func TestPageRunsNothing(t *testing.T) {
	d := document(t)
	d.Acts[0].Reason = `</script><script>alert(1)</script>`
	page, err := report.Page(d, nil)
	must(t, err)
	text := string(page)
	if strings.Contains(text, "<script>") || strings.Count(text, "<script") != 2 || strings.Contains(text, "Spring <exam>") {
		t.Error("text became markup")
	}
	for _, elsewhere := range []string{"http://", "https://", "src=", "@import", "url("} {
		if strings.Contains(text, elsewhere) {
			t.Errorf("the page has %q", elsewhere)
		}
	}
	if len(page) > 60<<10 {
		t.Errorf("%d bytes", len(page))
	}
}

// TestOpenBreakerLastsUntilItCloses, as a freeze does until the rebuild.
func TestOpenBreakerLastsUntilItCloses(t *testing.T) {
	s := sold(t)
	for minute, action := range map[int]string{4: "breaker_opened", 6: "breaker_closed"} {
		must(t, s.AppendAudit(t.Context(), "spring", ledger.AuditEntry{At: start.Add(time.Duration(minute) * time.Minute), Actor: "reaper", Action: action}))
	}
	d, err := report.Collect(t.Context(), s, s, "spring")
	must(t, err)
	i := slices.IndexFunc(d.Incidents, func(in report.Incident) bool { return in.Kind == "breaker_opened" })
	if i < 0 || d.Incidents[i].To.Sub(d.Incidents[i].From) != 2*time.Minute {
		t.Errorf("incidents %+v", d.Incidents)
	}
}

// drawn is the page of format 1, by its hash. When this fails the drawing has
// changed: raise Format, so that reports of before are not called forged.
const drawn = "1 3316fcaa10aecd96"

func TestDrawingHasItsFormat(t *testing.T) {
	page, err := report.Page(document(t), nil)
	must(t, err)
	sum := sha256.Sum256(page)
	if got := fmt.Sprintf("%d %s", report.Format, hex.EncodeToString(sum[:8])); got != drawn {
		t.Errorf("the page of format %d changed: %s, was %s", report.Format, got, drawn)
	}
}
