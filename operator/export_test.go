package operator_test

import (
	"bytes"
	"encoding/csv"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/lifecycle"
	"github.com/holdfast/holdfast/operator"
	"github.com/holdfast/holdfast/sale"
)

// written puts a booking of the exam straight into the ledger.
func (b *bench) written(id string, n int, seats ...ledger.Seat) ledger.Booking {
	b.t.Helper()
	bk := ledger.Booking{ID: id, Sale: exam, Candidate: b.hash(n), Level: "N1", Seats: seats, Gen: 1, Payment: ledger.PaymentKey{Gateway: "page", ID: "pay-" + id},
		Price: sale.Money{AmountMinor: 350000, Currency: "BDT"}, AdmittedAt: b.World.Now(), HoldUntil: b.World.Now().Add(10 * time.Minute)}
	hold, err := ledger.Hold(bk, "worker", b.World.Now())
	b.must(err)
	b.must(b.World.Store.Apply(b.ctx, hold))
	return bk
}

func (b *bench) export(o operator.ExportOptions) (raw []byte, byID map[string]map[string]string) {
	b.t.Helper()
	var out bytes.Buffer
	n, err := b.Export(b.ctx, exam, &out, o)
	b.must(err)
	raw = out.Bytes()
	rows, err := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(raw, []byte("\ufeff")))).ReadAll()
	b.must(err)
	if n != len(rows)-1 {
		b.t.Errorf("%d rows, it says %d", len(rows)-1, n)
	}
	byID = map[string]map[string]string{}
	for _, r := range rows[1:] {
		cells := map[string]string{}
		for i, name := range rows[0] {
			cells[name] = r[i]
		}
		byID[cells["booking_id"]] = cells
	}
	return raw, byID
}

func TestExportOpensClean(t *testing.T) {
	b := applied(t)
	b.written("B1", 1, ledger.Seat{Token: "N1-1", Score: 1}, ledger.Seat{Token: "N1-2", Score: 2})
	paid := b.written("B2", 2, ledger.Seat{Token: "N1-3", Score: 3})
	paid.State = ledger.Held
	confirm, err := ledger.Confirm(paid, ledger.Capture{Key: paid.Payment, AmountMinor: 350000, Currency: "BDT", At: b.World.Now()}, "worker", b.World.Now().Add(time.Minute))
	b.must(err)
	b.must(b.World.Store.Apply(b.ctx, confirm))
	raw, rows := b.export(operator.ExportOptions{})
	if !bytes.HasPrefix(raw, []byte("booking_id,")) || !bytes.Contains(raw, []byte("\r\n")) || bytes.Contains(bytes.ReplaceAll(raw, []byte("\r\n"), nil), []byte("\n")) {
		t.Errorf("case K08: it does not begin with its header, or has stray line ends: %q", raw[:40])
	}
	for _, c := range raw {
		if c > 126 {
			t.Fatalf("byte %x: without a roster all is ASCII", c)
		}
	}
	want := map[string]string{
		"booking_id": "B2", "state": "paid", "level": "N1", "seats": "N1-3", "amount_minor": "350000", "currency": "BDT", "gateway": "page", "payment_id": "pay-B2",
		"payment_state": "APPLIED", "refund": "", "admitted_at": "2026-05-01 15:00:00", "admitted_at_utc": "2026-05-01 09:00:00",
		"hold_until": "2026-05-01 15:10:00", "hold_until_utc": "2026-05-01 09:10:00", "paid_at": "2026-05-01 15:00:00", "paid_at_utc": "2026-05-01 09:00:00",
		"released_at": "", "released_at_utc": "", "reason": "captured", "actor": "worker", "successor": "", "candidate": plain(b.hash(2)),
	}
	if diff := cmp.Diff(want, rows["B2"]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if rows["B1"]["seats"] != "N1-1 N1-2" || rows["B1"]["state"] != "held" {
		t.Errorf("B1 %v", rows["B1"])
	}
}

// plain is what a hash that begins with a dash looks like in the list.
func plain(hash string) string {
	if strings.HasPrefix(hash, "-") {
		return "'" + hash
	}
	return hash
}

func TestExportJoinsTheRosterAndEscapesFormulas(t *testing.T) {
	b := applied(t)
	b.written("B1", 1, ledger.Seat{Token: "N1-1", Score: 1})
	b.written("B2", 2, ledger.Seat{Token: "N1-2", Score: 2})
	evil := person(1)
	evil.Email = "=cmd|'/c calc'!a1@example.org"
	seq, err := file(evil)()
	b.must(err)
	raw, rows := b.export(operator.ExportOptions{Roster: seq, BOM: true})
	if !bytes.HasPrefix(raw, []byte("\ufeffbooking_id,")) {
		t.Errorf("the mark that was asked for is not there: %q", raw[:20])
	}
	if got := rows["B1"]; got["code"] != "P0001" || got["email"] != "'=cmd|'/c calc'!a1@example.org" {
		t.Errorf("B1 %v", got)
	}
	if got := rows["B2"]; got["code"] != "" || got["email"] != "" {
		t.Errorf("somebody else's: %v", got)
	}
}

func TestCellsThatASpreadsheetWouldRun(t *testing.T) {
	for _, first := range []string{"=", "+", "-", "@", "\t", "\r", "\n", "|", "%"} {
		b := applied(t)
		b.written("B1", 1, ledger.Seat{Token: "N1-1", Score: 1})
		row := person(1)
		row.Email = sale.Email(first + "x")
		seq, err := file(row)()
		b.must(err)
		if _, rows := b.export(operator.ExportOptions{Roster: seq}); rows["B1"]["email"][0] != '\'' {
			t.Errorf("%q stays a formula: %q", first, rows["B1"]["email"])
		}
	}
}

func TestExportShowsReleasedOnesAndTheirReason(t *testing.T) {
	b := applied(t)
	b.written("B1", 1, ledger.Seat{Token: "N1-1", Score: 1})
	b.World.Steps.Controls = b.World.Store
	out, err := b.ReleaseHold(b.ctx, "B1", ann)
	if err != nil || out != lifecycle.Released {
		t.Fatalf("%v, %v", out, err)
	}
	if _, rows := b.export(operator.ExportOptions{}); rows["B1"]["state"] != "released" || rows["B1"]["reason"] != "released_by_operator" || rows["B1"]["actor"] != "operator:ann" {
		t.Errorf("B1 %v", rows["B1"])
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left") }

func TestExportSaysWhenItIsNotComplete(t *testing.T) {
	b := applied(t)
	b.written("B1", 1, ledger.Seat{Token: "N1-1", Score: 1})
	if _, err := b.Export(b.ctx, exam, full{}, operator.ExportOptions{}); err == nil || !strings.Contains(err.Error(), "no space left") {
		t.Errorf("a full disk: %v", err)
	}
	_, err := b.Export(b.ctx, "nowhere", full{}, operator.ExportOptions{})
	refused(t, err, operator.CodeUnknownSale)
}
