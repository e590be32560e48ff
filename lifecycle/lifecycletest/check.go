package lifecycletest

import (
	"fmt"
	"strings"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/ledger"
)

// view is both stores at one moment when nobody writes.
type view struct {
	bookings   map[string]ledger.Booking
	candidates map[string]string
	seats      map[string]string
	payments   map[ledger.PaymentKey]ledger.PaymentRecord
	records    map[string]admission.Record
	pending    map[string]bool
	inbox      map[ledger.PaymentKey]bool
	status     admission.Status
}

func (w *World) look() view {
	w.T.Helper()
	ctx := w.T.Context()
	v := view{map[string]ledger.Booking{}, map[string]string{}, map[string]string{}, map[ledger.PaymentKey]ledger.PaymentRecord{},
		map[string]admission.Record{}, map[string]bool{}, map[ledger.PaymentKey]bool{}, admission.Status{}}
	w.must(w.Store.Scan(ctx, Sale, ledger.Visitor{
		Booking:   func(b ledger.Booking) error { v.bookings[b.ID] = b; return nil },
		Candidate: func(c, id string) error { v.candidates[c] = id; return nil },
		Seat:      func(token, id string) error { v.seats[token] = id; return nil },
		Payment:   func(p ledger.PaymentRecord) error { v.payments[p.Key] = p; return nil },
	}))
	w.must(w.Redis.ScanRecords(ctx, Sale, func(r admission.Record, pending bool) error {
		v.records[r.BookingID], v.pending[r.BookingID] = r, pending
		return nil
	}))
	w.must(w.Store.Parked(ctx, Sale, func(it ledger.InboxItem) error { v.inbox[it.Payment] = !it.Done; return nil }))
	st, err := w.Redis.Status(ctx, Sale, w.Plan.LevelNames())
	w.must(err)
	v.status = st
	return v
}

// Check fails the test if an invariant that always holds does not: INV1 to INV5
// of protocol.md 3.10. No call may be under way.
func (w *World) Check() {
	w.T.Helper()
	v := w.look()
	var faults []string
	bad := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	v.ledgerOwnsOnce(bad)
	v.ledgerInRedis(bad)
	v.redisExplained(bad)
	v.conserved(bad)
	w.moneyOnce(v, bad)
	if len(faults) > 0 {
		w.T.Fatalf("invariants broken:\n  %s", strings.Join(faults, "\n  "))
	}
}

// Quiet fails the test if anything is left to do: pending entries, owed undos,
// open refunds, or money without an end (protocol.md 3.8, quiescent).
func (w *World) Quiet() {
	w.T.Helper()
	w.Check()
	v := w.look()
	for id, p := range v.pending {
		if p {
			w.T.Errorf("booking %s is still pending", id)
		}
	}
	for id, b := range v.bookings {
		if b.UndoOwed {
			w.T.Errorf("booking %s: the undo is still owed", id)
		}
		if _, ok := v.records[id]; b.State == ledger.Released && ok {
			w.T.Errorf("booking %s is released, and Redis still has it", id)
		}
	}
	for _, gw := range []*Gateway{w.Page, w.Exec} {
		for _, id := range gw.completed() {
			k := ledger.PaymentKey{Gateway: gw.Name(), ID: id}
			p := v.payments[k]
			ended := p.Resolution == ledger.Applied || p.Resolution == ledger.Review || p.Refund == ledger.RefundDone || v.inbox[k]
			if !ended {
				w.T.Errorf("payment %s is captured and has no end: %+v", id, p)
			}
		}
	}
}

// ledgerOwnsOnce: C and S are bijective with the live bookings (INV1, INV2).
func (v view) ledgerOwnsOnce(bad func(string, ...any)) {
	live, seats := 0, 0
	for id, b := range v.bookings {
		if !b.State.Live() {
			continue
		}
		live++
		seats += len(b.Seats)
		if v.candidates[b.Candidate] != id {
			bad("live booking %s does not own candidate %s", id, b.Candidate)
		}
		for _, token := range b.Tokens() {
			if v.seats[token] != id {
				bad("live booking %s does not own seat %s", id, token)
			}
		}
	}
	if len(v.candidates) != live || len(v.seats) != seats {
		bad("%d live bookings with %d seats, but %d candidates and %d seats are owned", live, seats, len(v.candidates), len(v.seats))
	}
}

// ledgerInRedis: L is in R, with the same seats (INV3).
func (v view) ledgerInRedis(bad func(string, ...any)) {
	for id, b := range v.bookings {
		r, ok := v.records[id]
		if b.State.Live() && (!ok || strings.Join(r.Tokens, ",") != strings.Join(b.Tokens(), ",")) {
			bad("live booking %s has seats %v in the ledger and %v in Redis", id, b.Tokens(), r.Tokens)
		}
	}
}

// redisExplained: every seat of R is live, pending, softly held, or its undo is
// owed (INV4).
func (v view) redisExplained(bad func(string, ...any)) {
	for id, r := range v.records {
		b := v.bookings[id]
		if r.Stage != admission.StageSoft && !b.State.Live() && !v.pending[id] && !b.UndoOwed {
			bad("Redis holds booking %s, which is %q in the ledger and not pending: leaked", id, b.State)
		}
	}
}

func (v view) conserved(bad func(string, ...any)) {
	used := 0
	for _, l := range v.status.Levels {
		used += l.Used
		if l.Used+l.Free != l.Cap || l.Used < 0 {
			bad("level %s: %d used + %d free is not the cap %d", l.Name, l.Used, l.Free, l.Cap)
		}
	}
	if used != v.status.Used || used > v.status.TotalCap {
		bad("total %d, levels %d, cap %d", v.status.Used, used, v.status.TotalCap)
	}
}

// moneyOnce: a payment is applied to one paid booking, or it goes back, once;
// and nothing else is paid (INV5).
func (w *World) moneyOnce(v view, bad func(string, ...any)) {
	for k, p := range v.payments {
		b := v.bookings[p.BookingID]
		paid := b.State == ledger.Paid && b.Payment == k
		if (p.Resolution == ledger.Applied) != paid {
			bad("payment %s is %s, and booking %s is %s by %s", k, p.Resolution, b.ID, b.State, b.Payment)
		}
		gw := map[string]*Gateway{"page": w.Page, "exec": w.Exec}[k.Gateway]
		back := gw.Refunds(k.ID)
		if back > 1 || back == 1 && p.Resolution != ledger.Refund {
			bad("payment %s is %s and went back %d times", k, p.Resolution, back)
		}
		if p.Refund == ledger.RefundDone && back != 1 {
			bad("payment %s is refunded in the ledger, and went back %d times", k, back)
		}
	}
	for id, b := range v.bookings {
		if b.State == ledger.Paid && v.payments[b.Payment].BookingID != id {
			bad("booking %s is paid by %s, which belongs to %q", id, b.Payment, v.payments[b.Payment].BookingID)
		}
	}
}
