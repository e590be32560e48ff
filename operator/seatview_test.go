package operator_test

import (
	"testing"
	"time"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/lifecycle"
	"github.com/holdfast/holdfast/lifecycle/lifecycletest"
	"github.com/holdfast/holdfast/operator"
	"github.com/holdfast/holdfast/sale"
)

// bookSeats lets c2 choose named seats and book them; the ledger has it as held.
func (b *bench) bookSeats(id string, seats ...string) {
	b.t.Helper()
	b.must(b.World.Redis.PutRoster(b.ctx, exam, []admission.RosterEntry{{Candidate: "c2", EmailHash: lifecycletest.Email}}))
	c, err := b.World.Store.Control(b.ctx, exam)
	b.must(err)
	_, err = b.World.Redis.Hold(b.ctx, admission.HoldRequest{Sale: exam, HoldID: "choice", Candidate: "c2", Level: "N2", Gen: c.Gen, EmailHash: lifecycletest.Email,
		AmountMinor: 700000, Currency: "BDT", Seats: seats, For: time.Minute, Max: time.Minute})
	b.must(err)
	a, err := b.World.Redis.Promote(b.ctx, admission.Request{Sale: exam, BookingID: id, Candidate: "c2", Level: "N2", Gen: c.Gen, EmailHash: lifecycletest.Email}, "choice")
	b.must(err)
	if a.Outcome != admission.Admitted {
		b.t.Fatalf("book %v: %v", seats, a.Outcome)
	}
	bk := ledger.Booking{ID: id, Sale: exam, Candidate: "c2", Level: "N2", Gen: c.Gen, Payment: ledger.PaymentKey{Gateway: "page", ID: "pay-" + id},
		Price: sale.Money{AmountMinor: 700000, Currency: "BDT"}, AdmittedAt: a.AdmittedAt, HoldUntil: a.HoldUntil}
	for i, seat := range a.Tokens {
		bk.Seats = append(bk.Seats, ledger.Seat{Token: seat, Score: int64(i + 1)})
	}
	hold, err := ledger.Hold(bk, "worker", b.World.Now())
	b.must(err)
	b.must(b.World.Store.Apply(b.ctx, hold))
}

// TestStatusAndExportKnowSeats follows named seats through what an operator sees
// and does: chosen, booked, written, released.
func TestStatusAndExportKnowSeats(t *testing.T) {
	b, _ := hall(t)
	b.World.Steps.Controls = b.World.Store
	level := func(want operator.LevelView) {
		t.Helper()
		v, err := b.View(b.ctx, exam)
		b.must(err)
		want.Name, want.Cap = "N2", 5
		if got := v.Levels[1]; got != want {
			t.Errorf("level %+v, want %+v", got, want)
		}
		want.Name, want.Cap, want.Free = "total", 15, want.Free+10
		if v.Total != want {
			t.Errorf("total %+v, want %+v", v.Total, want)
		}
	}
	row := func(state string) {
		t.Helper()
		_, rows := b.export(operator.ExportOptions{})
		if got := rows["B1"]; len(rows) != 1 || got["level"] != "N2" || got["seats"] != "A4 A2" || got["state"] != state || got["amount_minor"] != "700000" {
			t.Errorf("export: %v", rows)
		}
	}
	b.choose("A3")
	level(operator.LevelView{Soft: 1, Free: 4})
	b.bookSeats("B1", "A4", "A2") // in the order in which they were chosen
	level(operator.LevelView{Soft: 1, Held: 2, Pending: 2, Free: 2})
	_, err := b.World.Redis.Settle(b.ctx, exam, "B1", "c2", false)
	b.must(err)
	level(operator.LevelView{Soft: 1, Held: 2, Free: 2})
	row("held")
	if out, err := b.ReleaseHold(b.ctx, "B1", ann); err != nil || out != lifecycle.Released {
		t.Fatalf("release: %v, %v", out, err)
	}
	level(operator.LevelView{Soft: 1, Free: 4})
	row("released")
}
