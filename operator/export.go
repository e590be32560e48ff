package operator

import (
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"iter"
	"strconv"
	"strings"
	"time"

	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/sale"
)

// ExportOptions widen an export.
type ExportOptions struct {
	// Roster, if not nil, gives each booking its code and e-mail back: the ledger
	// keeps keyed hashes only, so whoever has the roster can join, nobody else.
	Roster iter.Seq2[sale.Row, error]
	// BOM writes a byte order mark first. Without codes and e-mails every cell is
	// ASCII, and stray bytes at the start break other readers (case K08), so it
	// is off unless somebody asks: for spreadsheets that would take an e-mail
	// beyond ASCII for another encoding.
	BOM bool
}

// exportHead names the columns. Times come twice: as the sale's people say
// them, and in UTC.
var exportHead = []string{
	"booking_id", "state", "level", "seats", "amount_minor", "currency", "gateway", "payment_id", "payment_state", "refund",
	"admitted_at", "admitted_at_utc", "hold_until", "hold_until_utc", "paid_at", "paid_at_utc", "released_at", "released_at_utc",
	"reason", "actor", "successor", "candidate",
}

// Export writes every booking of the sale, released ones too, as CSV (RFC 4180,
// CRLF) and returns how many there are. It comes from the ledger alone. Cells
// that a spreadsheet would run as a formula are escaped. The payments are kept
// in memory, the bookings are not.
func (d *Desk) Export(ctx context.Context, saleID string, out io.Writer, o ExportOptions) (int, error) {
	c, err := d.control(ctx, saleID)
	if err != nil {
		return 0, err
	}
	e := exporter{zone: time.UTC, payments: make(map[ledger.PaymentKey]ledger.PaymentRecord), people: make(map[string][2]string)}
	if loc, err := c.Plan.Location(); err == nil {
		e.zone = loc
	}
	if err := e.readPeople(o.Roster, d.Hasher); err != nil {
		return 0, err
	}
	err = d.Store.Scan(ctx, saleID, ledger.Visitor{Payment: func(p ledger.PaymentRecord) error {
		e.payments[p.Key] = p
		return nil
	}})
	if err != nil {
		return 0, fmt.Errorf("operator: read the payments of sale %s: %w", saleID, err)
	}
	if o.BOM {
		if _, err := io.WriteString(out, "\ufeff"); err != nil {
			return 0, err
		}
	}
	e.csv = csv.NewWriter(out)
	e.csv.UseCRLF = true
	if err := e.write(e.head(o.Roster != nil)); err != nil {
		return 0, err
	}
	err = d.Store.Scan(ctx, saleID, ledger.Visitor{Booking: func(b ledger.Booking) error {
		e.count++
		return e.write(e.row(b, o.Roster != nil))
	}})
	if err != nil {
		return e.count, fmt.Errorf("operator: export sale %s: the list is not complete: %w", saleID, err)
	}
	e.csv.Flush()
	return e.count, e.csv.Error()
}

type exporter struct {
	csv      *csv.Writer
	zone     *time.Location
	payments map[ledger.PaymentKey]ledger.PaymentRecord
	people   map[string][2]string // candidate -> code, e-mail
	count    int
}

func (e *exporter) readPeople(rows iter.Seq2[sale.Row, error], h *sale.Hasher) error {
	if rows == nil {
		return nil
	}
	for row, err := range rows {
		if err != nil {
			return err
		}
		e.people[string(h.Code(row.Code))] = [2]string{string(row.Code), string(row.Email)}
	}
	return nil
}

func (e *exporter) head(people bool) []string {
	if people {
		return append(append([]string{}, exportHead...), "code", "email")
	}
	return exportHead
}

func (e *exporter) row(b ledger.Booking, people bool) []string {
	p := e.payments[b.Payment]
	row := []string{
		b.ID, stateName(b.State), b.Level, strings.Join(b.Tokens(), " "), strconv.FormatInt(b.Price.AmountMinor, 10), b.Price.Currency,
		b.Payment.Gateway, b.Payment.ID, string(p.Resolution), string(p.Refund),
	}
	for _, t := range []time.Time{b.AdmittedAt, b.HoldUntil, b.PaidAt, b.ReleasedAt} {
		row = append(row, e.times(t)...)
	}
	row = append(row, string(b.Reason), string(b.Actor), b.Successor, b.Candidate)
	if people {
		who := e.people[b.Candidate]
		row = append(row, who[0], who[1])
	}
	return row
}

// times is a time in the sale's zone and in UTC, in the form that spreadsheets
// take for a time.
func (e *exporter) times(t time.Time) []string {
	if t.IsZero() {
		return []string{"", ""}
	}
	const layout = "2006-01-02 15:04:05"
	return []string{t.In(e.zone).Format(layout), t.UTC().Format(layout)}
}

func (e *exporter) write(row []string) error {
	safe := make([]string, len(row))
	for i, cell := range row {
		safe[i] = plainCell(cell)
	}
	return e.csv.Write(safe)
}

// plainCell keeps a spreadsheet from running a cell: what begins like a formula
// gets an apostrophe in front, the sign for text.
func plainCell(s string) string {
	if s != "" && strings.ContainsRune("=+-@\t\r\n|%", rune(s[0])) {
		return "'" + s
	}
	return s
}
