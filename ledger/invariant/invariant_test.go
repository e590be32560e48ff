package invariant_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/ledger/invariant"
	"github.com/holdfast/holdfast/sale"
)

var start = time.Date(2026, 3, 1, 4, 0, 0, 0, time.UTC)

func pay(id string) ledger.PaymentKey { return ledger.PaymentKey{Gateway: "g", ID: id} }

// sound is a sale at rest: h is held, p paid, r released and refunded.
func sound() invariant.Snapshot {
	price := sale.Money{AmountMinor: 100, Currency: "BDT"}
	made := func(id, seat, payment string, states ...ledger.State) ledger.Booking {
		b := ledger.Booking{ID: id, Sale: "s", Candidate: "c-" + id, Level: "N1", Seats: []ledger.Seat{{Token: seat}}, Price: price, Payment: pay(payment), Reason: ledger.ReasonHeld}
		for _, to := range states {
			b.History = append(b.History, ledger.Change{From: b.State, To: to, At: start})
			b.State = to
		}
		return b
	}
	return invariant.Snapshot{
		Plan: sale.Sale{ID: "s", TotalCap: 3, Levels: []sale.Level{{Name: "N1", Cap: 2}, {Name: "N2", Cap: 1}}},
		Bookings: map[string]ledger.Booking{
			"h": made("h", "N1-1", "ph", ledger.Held),
			"p": made("p", "N1-2", "pp", ledger.Held, ledger.Paid),
			"r": made("r", "N1-1", "pr", ledger.Held, ledger.Released),
		},
		Claims:     map[string]string{"c-h": "h", "c-p": "p"},
		SeatOwners: map[string]string{"N1-1": "h", "N1-2": "p"},
		Payments: map[ledger.PaymentKey]ledger.PaymentRecord{
			pay("ph"): {Key: pay("ph"), BookingID: "h", Resolution: ledger.Open},
			pay("pp"): {Key: pay("pp"), BookingID: "p", Resolution: ledger.Applied, AmountMinor: 100, Currency: "BDT"},
			pay("pr"): {Key: pay("pr"), BookingID: "r", Resolution: ledger.Refund, Refund: ledger.RefundDone, AmountMinor: 100, Currency: "BDT"},
			pay("pv"): {Key: pay("pv"), BookingID: "r", Resolution: ledger.Review, AmountMinor: 7, Currency: "BDT"},
		},
		Redis: &invariant.RedisView{
			Records: map[string]invariant.Record{
				"h": {Candidate: "c-h", Level: "N1", Tokens: []string{"N1-1"}, Stage: invariant.Attached},
				"p": {Candidate: "c-p", Level: "N1", Tokens: []string{"N1-2"}, Stage: invariant.Settled},
			},
			Seen: map[string]string{"c-h": "h", "c-p": "p"}, Seats: map[string]string{"N1-1": "h", "N1-2": "p"},
			Free: map[string]int{"N1": 0, "N2": 1}, Levels: map[string]int{"N1": 2}, Total: 2,
			Pending: map[string]invariant.Pending{}, Soft: map[string]time.Time{},
		},
		Captured: []invariant.CapturedPayment{{pay("pp"), 100, "BDT"}, {pay("pr"), 100, "BDT"}, {pay("pv"), 8, "BDT"}},
		Acked:    []string{"h", "p", "r"},
		Earlier:  map[string]ledger.State{"p": ledger.Held, "r": ledger.Released},
	}
}

func TestASoundSaleHasNoViolation(t *testing.T) {
	if got := invariant.CheckQuiet(sound()); len(got) != 0 {
		t.Errorf("%+v", got)
	}
	s := sound()
	s.Redis, s.Captured, s.Earlier = nil, nil, nil // what was not looked at accuses nobody
	if got := invariant.CheckQuiet(s); len(got) != 0 {
		t.Errorf("%+v", got)
	}
}

// Each damage is reported by the invariants it breaks, about that id, and by no
// other one.
func TestEachDamageIsReported(t *testing.T) {
	for _, c := range damages {
		t.Run(c.name, func(t *testing.T) {
			s := sound()
			c.damage(&s)
			got := map[string]string{}
			for _, v := range invariant.CheckQuiet(s) {
				if v.Detail == "" {
					t.Errorf("%s of %s says nothing", v.Invariant, v.ID)
				}
				got[v.Invariant] = v.ID
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func edit(s *invariant.Snapshot, id string, change func(*ledger.Booking)) {
	b := s.Bookings[id]
	change(&b)
	s.Bookings[id] = b
}

func repay(s *invariant.Snapshot, id string, change func(*ledger.PaymentRecord)) {
	p := s.Payments[pay(id)]
	change(&p)
	s.Payments[pay(id)] = p
}

type want = map[string]string

var damages = []struct {
	name   string
	damage func(*invariant.Snapshot)
	want   want
}{
	{"level over its cap", func(s *invariant.Snapshot) { s.Plan.Levels[0].Cap = 1; s.Redis.Free["N1"] = -1 }, want{"Caps": "N1"}},
	{"sale over its cap", func(s *invariant.Snapshot) { s.Plan.TotalCap = 1 }, want{"Caps": "s"}},
	{"seat of a level that is not planned", func(s *invariant.Snapshot) { s.Plan.Levels[0].Name = "other"; s.Plan.Levels[0].Cap = 0 }, want{"Caps": "N1"}},
	{"claim is gone", func(s *invariant.Snapshot) { delete(s.Claims, "c-h") }, want{"OneLive": "h"}},
	{"claim of a released booking", func(s *invariant.Snapshot) { s.Claims["c-r"] = "r" }, want{"OneLive": "c-r"}},
	{"two live bookings of one candidate", func(s *invariant.Snapshot) {
		edit(s, "h", func(b *ledger.Booking) { b.Candidate = "c-p" })
	}, want{"OneLive": "c-h", "LsubR": "h", "Quiet": "c-h"}},
	{"seat item is gone", func(s *invariant.Snapshot) { delete(s.SeatOwners, "N1-1") }, want{"TokenOwner": "h"}},
	{"seat item of a released booking", func(s *invariant.Snapshot) {
		s.SeatOwners["N1-9"] = "r"
		s.Plan.Levels[0].Cap, s.Redis.Free["N1"] = 3, 1
	}, want{"TokenOwner": "N1-9"}},
	{"seat of two bookings", func(s *invariant.Snapshot) {
		edit(s, "p", func(b *ledger.Booking) { b.Seats = append(b.Seats, ledger.Seat{Token: "N1-1"}) })
	}, want{"TokenOwner": "p", "LsubR": "p"}},
	{"live without a seat", func(s *invariant.Snapshot) {
		edit(s, "h", func(b *ledger.Booking) { b.Seats = nil })
		delete(s.SeatOwners, "N1-1")
	}, want{"TokenOwner": "h", "LsubR": "h"}},
	{"Redis lost a booking", func(s *invariant.Snapshot) {
		delete(s.Redis.Records, "h")
		delete(s.Redis.Seen, "c-h")
		delete(s.Redis.Seats, "N1-1")
		s.Redis.Levels["N1"], s.Redis.Free["N1"], s.Redis.Total = 1, 1, 1
	}, want{"LsubR": "h"}},
	{"Redis has another seat", func(s *invariant.Snapshot) {
		s.Redis.Records["h"] = invariant.Record{Candidate: "c-h", Level: "N1", Tokens: []string{"N1-7"}}
		s.Redis.Seats["N1-7"] = "h"
		delete(s.Redis.Seats, "N1-1")
	}, want{"LsubR": "h"}},
	{"admission that nobody watches", func(s *invariant.Snapshot) {
		s.Redis.Records["x"] = invariant.Record{Candidate: "c-x", Level: "N2", Tokens: []string{"N2-1"}, Stage: invariant.Attached}
		s.Redis.Seats["N2-1"] = "x"
		s.Redis.Levels["N2"], s.Redis.Free["N2"], s.Redis.Total = 1, 0, 3
	}, want{"NoOrphan": "x", "Quiet": "x"}},
	{"soft hold without a deadline", func(s *invariant.Snapshot) {
		s.Redis.Records["x"] = invariant.Record{Candidate: "c-x", Level: "N2", Tokens: []string{"N2-1"}, Stage: invariant.SoftHeld}
		s.Redis.Seats["N2-1"] = "x"
		s.Redis.Levels["N2"], s.Redis.Free["N2"], s.Redis.Total = 1, 0, 3
	}, want{"NoOrphan": "x", "Quiet": "x"}},
	{"free seat lost", func(s *invariant.Snapshot) { s.Redis.Free["N2"] = 0 }, want{"Conserve": "N2"}},
	{"counter too high", func(s *invariant.Snapshot) { s.Redis.Levels["N2"], s.Redis.Free["N2"] = 1, 0 }, want{"Conserve": "N2"}},
	{"total too low", func(s *invariant.Snapshot) { s.Redis.Total = 1 }, want{"Conserve": "s"}},
	{"seat map names another", func(s *invariant.Snapshot) { s.Redis.Seats["N1-1"] = "p" }, want{"Conserve": "h", "LsubR": "h"}},
	{"pending without a record", func(s *invariant.Snapshot) {
		s.Redis.Pending["c-x"] = invariant.Pending{BookingID: "x", Level: "N1"}
	}, want{"PendHasSeat": "x", "Quiet": "x"}},
	{"pending of another level", func(s *invariant.Snapshot) {
		s.Redis.Pending["c-h"] = invariant.Pending{BookingID: "h", Level: "N2"}
	}, want{"PendHasSeat": "h", "Quiet": "h"}},
	{"captured and open", func(s *invariant.Snapshot) {
		s.Captured = append(s.Captured, invariant.CapturedPayment{Key: pay("ph"), AmountMinor: 100, Currency: "BDT"})
	}, want{"PayOnce": "g:ph"}},
	{"captured and unknown", func(s *invariant.Snapshot) {
		s.Captured = append(s.Captured, invariant.CapturedPayment{Key: pay("px"), AmountMinor: 100, Currency: "BDT"})
	}, want{"PayOnce": "g:px"}},
	{"refund of another amount", func(s *invariant.Snapshot) { s.Captured[1].AmountMinor = 99 }, want{"PayOnce": "g:pr"}},
	{"applied without money", func(s *invariant.Snapshot) { s.Captured = s.Captured[1:] }, want{"PayOnce": "g:pp"}},
	{"applied and refunded", func(s *invariant.Snapshot) {
		repay(s, "pp", func(p *ledger.PaymentRecord) { p.Refund = ledger.RefundDone })
	}, want{"PayOnce": "g:pp"}},
	{"applied to a held booking", func(s *invariant.Snapshot) {
		edit(s, "p", func(b *ledger.Booking) { b.State, b.History = ledger.Held, b.History[:1] })
	}, want{"PayOnce": "g:pp"}},
	{"applied to the price of another", func(s *invariant.Snapshot) {
		edit(s, "p", func(b *ledger.Booking) { b.Price.AmountMinor = 90 })
	}, want{"PayOnce": "g:pp"}},
	{"paid by a payment in review", func(s *invariant.Snapshot) {
		repay(s, "pp", func(p *ledger.PaymentRecord) { p.Resolution = ledger.Review })
	}, want{"PayOnce": "p"}},
	{"refunded, but still paid", func(s *invariant.Snapshot) {
		repay(s, "pp", func(p *ledger.PaymentRecord) { p.Resolution, p.Refund = ledger.Refund, ledger.RefundDone })
	}, want{"PayOnce": "p"}},
	{"refund that is not due", func(s *invariant.Snapshot) {
		repay(s, "pr", func(p *ledger.PaymentRecord) { p.Refund = ledger.NoRefund })
	}, want{"PayOnce": "g:pr"}},
	{"undo still owed", func(s *invariant.Snapshot) { edit(s, "r", func(b *ledger.Booking) { b.UndoOwed = true }) }, want{"Quiet": "r"}},
	{"refund still under way", func(s *invariant.Snapshot) {
		repay(s, "pr", func(p *ledger.PaymentRecord) { p.Refund = ledger.RefundSent })
	}, want{"Quiet": "g:pr"}},
	{"soft hold at rest", func(s *invariant.Snapshot) { s.Redis.Soft["x"] = start }, want{"Quiet": "x"}},
	{"candidate admitted by nobody", func(s *invariant.Snapshot) { s.Redis.Seen["c-r"] = "r" }, want{"Quiet": "c-r"}},
	{"released, then live, by history", func(s *invariant.Snapshot) {
		edit(s, "p", func(b *ledger.Booking) {
			b.History = append(b.History, ledger.Change{From: ledger.Released, To: ledger.Paid})
		})
	}, want{"Terminal": "p"}},
	{"history that ends elsewhere", func(s *invariant.Snapshot) {
		edit(s, "p", func(b *ledger.Booking) { b.History = b.History[:1] })
	}, want{"Terminal": "p"}},
	{"released, then live, by an earlier look", func(s *invariant.Snapshot) { s.Earlier["p"] = ledger.Released }, want{"Terminal": "p"}},
	{"answer without a booking", func(s *invariant.Snapshot) { s.Acked = append(s.Acked, "x") }, want{"AckDurable": "x"}},
	{"release without a reason", func(s *invariant.Snapshot) { edit(s, "r", func(b *ledger.Booking) { b.Reason = "" }) }, want{"AckDurable": "r"}},
}

// Not at rest, what is under way is no violation.
// Money that differs from its booking is a violation unless an operator took it
// as it is.
func TestAcceptedReviewMayDiffer(t *testing.T) {
	for reason, want := range map[ledger.Reason]int{ledger.ReasonCaptured: 1, ledger.ReasonAccepted: 0} {
		s := sound()
		edit(&s, "p", func(b *ledger.Booking) { b.Reason = reason })
		repay(&s, "pp", func(p *ledger.PaymentRecord) { p.AmountMinor = 99 })
		s.Captured[0].AmountMinor = 99
		if got := invariant.PayOnce(s); len(got) != want {
			t.Errorf("%s: %+v", reason, got)
		}
	}
}

func TestWorkUnderWayIsNoViolation(t *testing.T) {
	s := sound()
	edit(&s, "r", func(b *ledger.Booking) { b.UndoOwed = true })
	s.Redis.Records["r"] = invariant.Record{Candidate: "c-r", Level: "N2", Tokens: []string{"N2-1"}, Stage: invariant.Attached}
	s.Redis.Seats["N2-1"], s.Redis.Seen["c-r"] = "r", "r"
	s.Redis.Records["x"] = invariant.Record{Candidate: "c-x", Level: "N2", Tokens: []string{"N2-2"}, Stage: invariant.Admitted}
	s.Redis.Seats["N2-2"], s.Redis.Seen["c-x"] = "x", "x"
	s.Redis.Pending["c-x"] = invariant.Pending{BookingID: "x", Level: "N2", At: start}
	s.Acked = append(s.Acked, "x")
	s.Plan.Levels[1].Cap, s.Redis.Levels["N2"], s.Redis.Free["N2"], s.Redis.Total = 2, 2, 0, 4
	if got := invariant.Check(s); len(got) != 0 {
		t.Errorf("%+v", got)
	}
	if got := invariant.Quiet(s); len(got) == 0 {
		t.Error("Quiet sees nothing of it")
	}
}
