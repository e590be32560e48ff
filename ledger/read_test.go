package ledger_test

import (
	"testing"

	"github.com/holdfast/holdfast/ledger"
)

// The two tables of protocol.md 3.3, and T2' and the late apply beside them,
// for every way in which the items can stand.
func TestVerdicts(t *testing.T) {
	b := booking("b")
	own := func(r ledger.Resolution) *ledger.PaymentRecord {
		return &ledger.PaymentRecord{Key: b.Payment, BookingID: b.ID, Resolution: r}
	}
	stands := func(s ledger.State, payment string) *ledger.Booking {
		now := b
		now.State, now.Payment.ID = s, payment
		return &now
	}
	foreign := &ledger.PaymentRecord{Key: b.Payment, BookingID: "x", Resolution: ledger.Open}
	paid, other := b.Payment.ID, "second"
	const (
		done, released, resolved, alien         = ledger.VerdictDone, ledger.VerdictReleased, ledger.VerdictResolved, ledger.VerdictForeign
		conflict, unheld, second, isHeld, again = ledger.VerdictConflict, ledger.VerdictUnheld, ledger.VerdictSecond, ledger.VerdictHeld, ledger.VerdictAgain
	)
	for _, c := range []struct {
		name                       string
		found                      ledger.Found
		hold, pay, payUnheld, late ledger.Verdict
	}{
		{"nothing", ledger.Found{}, again, unheld, again, again},
		{"held", ledger.Found{Booking: stands(ledger.Held, paid), Candidate: b.ID, Payment: own(ledger.Open)}, done, again, isHeld, released},
		{"paid by this", ledger.Found{Booking: stands(ledger.Paid, paid), Candidate: b.ID, Payment: own(ledger.Applied)}, done, done, done, done},
		{"paid by another", ledger.Found{Booking: stands(ledger.Paid, other)}, done, second, second, done},
		{"released", ledger.Found{Booking: stands(ledger.Released, paid), Payment: own(ledger.Open)}, released, released, released, released},
		{"own payment open", ledger.Found{Payment: own(ledger.Open)}, again, unheld, again, again},
		{"own payment refunded", ledger.Found{Payment: own(ledger.Refund)}, resolved, unheld, resolved, resolved},
		{"own payment in review", ledger.Found{Payment: own(ledger.Review)}, resolved, unheld, resolved, resolved},
		{"own payment applied", ledger.Found{Payment: own(ledger.Applied)}, resolved, unheld, resolved, resolved},
		{"held, payment refunded", ledger.Found{Booking: stands(ledger.Held, paid), Payment: own(ledger.Refund)}, done, resolved, isHeld, released},
		{"held, payment of another", ledger.Found{Booking: stands(ledger.Held, paid), Payment: foreign}, done, alien, isHeld, released},
		{"payment of another", ledger.Found{Payment: foreign}, alien, unheld, alien, again},
		{"candidate of another", ledger.Found{Candidate: "x"}, conflict, unheld, conflict, conflict},
		{"seat of another", ledger.Found{Seats: map[string]string{"t-b": "x"}}, conflict, unheld, conflict, conflict},
		{"payment resolved and seat of another", ledger.Found{Payment: own(ledger.Refund), Candidate: "x"}, resolved, unheld, resolved, resolved},
		{"all ours, but no booking", ledger.Found{Candidate: b.ID, Seats: map[string]string{"t-b": b.ID}}, again, unheld, again, again},
	} {
		for name, v := range map[string][2]ledger.Verdict{
			"T1":   {ledger.ReadHold(b, c.found), c.hold},
			"T2":   {ledger.ReadPay(b, b.Payment, c.found), c.pay},
			"T2'":  {ledger.ReadPayUnheld(b, b.Payment, c.found), c.payUnheld},
			"late": {ledger.ReadLate(b, c.found), c.late},
		} {
			if v[0] != v[1] {
				t.Errorf("%s meets %s: verdict %d, want %d", name, c.name, v[0], v[1])
			}
		}
	}
}

func TestPaymentKeyText(t *testing.T) {
	k := ledger.PaymentKey{Gateway: "sandbox", ID: "a:b#c"}
	if got, ok := ledger.ParsePaymentKey(k.String()); !ok || got != k {
		t.Errorf("%q came back as %+v", k.String(), got)
	}
	for _, bad := range []string{"", "x", ":x", "x:"} {
		if got, ok := ledger.ParsePaymentKey(bad); ok {
			t.Errorf("%q was read as %+v", bad, got)
		}
	}
	if got := (ledger.PaymentKey{Gateway: "g"}).String(); got != "" {
		t.Errorf("no payment is written %q", got)
	}
}
