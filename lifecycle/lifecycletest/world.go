// Package lifecycletest is a whole small Holdfast in memory for tests of the
// walks: ledger, Redis, two gateways, a queue, a clock, a crash at any call,
// healers, and the invariants of protocol.md 3.10.
package lifecycletest

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/admission/admissiontest"
	"github.com/holdfast/holdfast/events"
	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/ledger/ledgertest"
	"github.com/holdfast/holdfast/lifecycle"
	"github.com/holdfast/holdfast/payment"
	"github.com/holdfast/holdfast/sale"
)

// Sale is the one sale: level N1 with two seats at 100.00, level N2 with one
// seat at 150.00, holds of ten minutes.
const Sale = "spring"

// TB is what a world needs of a test; *testing.T and *rapid.T have it.
type TB interface {
	Helper()
	Context() context.Context
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
	Fatal(args ...any)
}

// World is everything that a booking meets. Make one with New.
type World struct {
	T      TB
	Store  *ledgertest.Store
	Redis  *admissiontest.Redis
	Page   *Gateway // moves the money on its page
	Exec   *Gateway // moves it when we execute
	Steps  *lifecycle.Steps
	Faults *Faults
	Plan   sale.Sale

	mu       sync.Mutex
	at       time.Time
	alarms   []lifecycle.Alarm
	queued   []events.Event
	versions int
	booked   int
}

// New makes a world whose sale is open, with candidates c1 to c9 on the roster.
func New(t TB) *World {
	t.Helper()
	return open(t, sale.Sale{TotalCap: 3,
		Levels: []sale.Level{{Name: "N1", Cap: 2}, {Name: "N2", Cap: 1, Price: &sale.Money{AmountMinor: 15000, Currency: "BDT"}}}})
}

// open makes a world with the levels of this plan.
func open(t TB, plan sale.Sale) *World {
	t.Helper()
	start := time.Date(2026, 5, 1, 9, 0, 0, 0, time.UTC)
	w := &World{T: t, at: start, Faults: &Faults{}}
	plan.ID, plan.Title, plan.Zone, plan.OpensAt, plan.ClosesAt = Sale, "Spring", "UTC", start.Add(-time.Hour), start.Add(24*time.Hour)
	plan.Hold, plan.Price = 10*time.Minute, sale.Money{AmountMinor: 10000, Currency: "BDT"}
	w.Plan = plan.WithDefaults()
	w.Store, w.Redis = ledgertest.NewStore(w.Now), admissiontest.New(w.Now)
	w.Page = newGateway("page", payment.MovesOnPage, w.Now, w.Faults)
	w.Exec = newGateway("exec", payment.MovesOnExecute, w.Now, w.Faults)
	w.Steps = &lifecycle.Steps{Store: w.Store, Redis: w.Redis, Gateways: payment.Gateways{"page": w.Page, "exec": w.Exec},
		Guard: w.Redis, Publish: w, Status: w, Controls: w.Store, Now: w.Now, Log: slog.New(slog.DiscardHandler),
		Alarm: func(a lifecycle.Alarm) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.alarms = append(w.alarms, a)
		}}
	w.Install(1)
	var rows []admission.RosterEntry
	for n := range 9 {
		rows = append(rows, admission.RosterEntry{Candidate: fmt.Sprintf("c%d", n+1), EmailHash: Email})
	}
	w.must(w.Redis.PutRoster(t.Context(), Sale, rows))
	w.must(w.Store.CreateControl(t.Context(), ledger.Control{Sale: Sale, Gen: 1, Plan: w.Plan, Open: true}))
	w.Store.Fault, w.Redis.Fault = w.Faults.ledger, w.Faults.redis
	return w
}

// Email is every candidate's e-mail hash.
const Email = "0123456789abcdef"

// Install loads the sale into Redis with a generation.
func (w *World) Install(gen int64) {
	w.T.Helper()
	p := admission.Plan{Sale: Sale, Gen: gen, OpensAt: w.Plan.OpensAt, ClosesAt: w.Plan.ClosesAt, Hold: w.Plan.Hold,
		TotalCap: w.Plan.TotalCap, Open: true, RosterVersion: "r1"}
	for _, l := range w.Plan.Levels {
		level := admission.LevelPlan{Name: l.Name, Kind: string(l.Kind), Cap: l.Cap, Next: l.Cap + 1}
		for _, seat := range l.Seats {
			level.Tokens = append(level.Tokens, seat.Name)
		}
		p.Levels = append(p.Levels, level)
	}
	w.must(w.Redis.Install(w.T.Context(), p, nil))
}

// Control changes the control item.
func (w *World) Control(change func(*ledger.Control)) {
	w.T.Helper()
	_, err := w.Store.UpdateControl(w.T.Context(), Sale, func(c *ledger.Control) error { change(c); return nil })
	w.must(err)
}

// Now is the world's clock: Redis TIME, the ledger's and the workers'.
func (w *World) Now() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.at
}

// Advance moves the clock.
func (w *World) Advance(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.at = w.at.Add(d)
}

// Publish implements events.Publisher.
func (w *World) Publish(_ context.Context, e events.Event) error {
	f := w.Faults.next("queue Publish")
	if f == FailBefore {
		return ErrCrashed
	}
	w.mu.Lock()
	w.queued = append(w.queued, e)
	w.mu.Unlock()
	if f == LoseAnswer {
		return ErrCrashed
	}
	return nil
}

// Queued takes what was published.
func (w *World) Queued() []events.Event {
	w.mu.Lock()
	defer w.mu.Unlock()
	q := w.queued
	w.queued = nil
	return q
}

// Changed implements lifecycle.StatusNotifier.
func (w *World) Changed(string, int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.versions++
}

// Raised is how often an alarm of this kind was raised so far.
func (w *World) Raised(kind lifecycle.AlarmKind) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := 0
	for _, a := range w.alarms {
		if a.Kind == kind {
			n++
		}
	}
	return n
}

// Alarms are the kinds raised so far, each once, joined in order of appearance.
func (w *World) Alarms() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var kinds []string
	seen := map[lifecycle.AlarmKind]bool{}
	for _, a := range w.alarms {
		if !seen[a.Kind] {
			kinds = append(kinds, string(a.Kind))
			seen[a.Kind] = true
		}
	}
	return strings.Join(kinds, " ")
}

// Booked is one booking as far as the ingress brings it.
type Booked struct {
	ID, PaymentID string
	Key           ledger.PaymentKey
	Held          events.Event
}

// Book does what the ingress does up to the event: admit, create, attach. It asks
// for one seat of a counted level, or for these named ones.
func (w *World) Book(candidate, level string, gw *Gateway, seats ...string) Booked {
	w.T.Helper()
	ctx := w.T.Context()
	w.mu.Lock()
	w.booked++
	id := fmt.Sprintf("B%d", w.booked)
	w.mu.Unlock()
	count := 1
	if seats != nil {
		count = 0
	}
	price, err := w.Plan.Amount(sale.Halls(w.Plan, nil), level, count, seats)
	w.must(err)
	a, err := w.Redis.Admit(ctx, admission.Request{Sale: Sale, BookingID: id, Candidate: candidate, Level: level, Gen: w.gen(),
		Key: "key" + id, InputHash: "in", RosterVersion: "r1", EmailHash: Email, AmountMinor: price.AmountMinor, Currency: price.Currency, Count: count, Seats: seats})
	w.must(err)
	if a.Outcome != admission.Admitted {
		w.T.Fatalf("booking %s of %s: %v", id, candidate, a.Outcome)
	}
	s, err := gw.Create(ctx, payment.CreateRequest{Metadata: payment.Metadata{Sale: Sale, BookingID: id, Candidate: candidate},
		AmountMinor: price.AmountMinor, Currency: price.Currency})
	w.must(err)
	key := ledger.PaymentKey{Gateway: gw.Name(), ID: s.PaymentID}
	_, err = w.Redis.Attach(ctx, admission.Attachment{Sale: Sale, BookingID: id, Driver: a.Driver, PaymentID: key.String(), URL: s.URL, StashFor: time.Hour})
	w.must(err)
	r, err := w.Redis.Record(ctx, Sale, id)
	w.must(err)
	return Booked{ID: id, PaymentID: s.PaymentID, Key: key, Held: HeldEvent(r, w.Now())}
}

// HeldEvent is the booking.held of an attached record.
func HeldEvent(r admission.Record, at time.Time) events.Event {
	key, _ := ledger.ParsePaymentKey(r.PaymentID)
	e := events.Event{Version: events.Version, Type: events.BookingHeld, Sale: Sale, Candidate: r.Candidate, BookingID: r.BookingID, Gen: r.Gen, At: at,
		Held: &events.Held{Level: r.Level, Key: r.Key, InputHash: r.InputHash, EmailHash: r.EmailHash, Gateway: key.Gateway, PaymentID: key.ID,
			AmountMinor: r.AmountMinor, Currency: r.Currency, AdmittedAt: r.AdmittedAt, HoldUntil: r.HoldUntil}}
	for i, token := range r.Tokens {
		e.Held.Seats = append(e.Held.Seats, events.Seat{Token: token, Score: r.Scores[i]})
	}
	return e
}

// Notice is a webhook's event about the booking's payment.
func (b Booked) Notice(at time.Time) events.Event {
	return events.Event{Version: events.Version, Type: events.PaymentNotified, Sale: Sale, Candidate: b.Held.Candidate, BookingID: b.ID,
		Gen: b.Held.Gen, At: at, Notice: &events.Notice{Gateway: b.Key.Gateway, PaymentID: b.Key.ID, EventID: "evt", Source: "webhook"}}
}

// Captured is the event of somebody who asked the gateway about the payment.
func (b Booked) Captured(at time.Time) events.Event {
	return events.Event{Version: events.Version, Type: events.PaymentCaptured, Sale: Sale, Candidate: b.Held.Candidate, BookingID: b.ID,
		Gen: b.Held.Gen, At: at, Captured: &events.Captured{Gateway: b.Key.Gateway, PaymentID: b.Key.ID, AmountMinor: b.Held.Held.AmountMinor,
			Currency: b.Held.Held.Currency, Payee: "us", CapturedAt: at, AskedBy: "reaper"}}
}

func (w *World) gen() int64 {
	c, err := w.Store.Control(w.T.Context(), Sale)
	w.must(err)
	return c.Gen
}

func (w *World) must(err error) {
	w.T.Helper()
	if err != nil {
		w.T.Fatal(err)
	}
}

// Booking is the booking as the ledger has it, in state None if it has none.
func (w *World) Booking(id string) ledger.Booking {
	w.T.Helper()
	b, err := w.Store.Booking(w.T.Context(), id)
	if err != nil {
		return ledger.Booking{ID: id}
	}
	return b
}

// Payment is the P item, with an empty resolution if there is none.
func (w *World) Payment(k ledger.PaymentKey) ledger.PaymentRecord {
	p, err := w.Store.Payment(w.T.Context(), k)
	if err != nil {
		return ledger.PaymentRecord{}
	}
	return p
}
