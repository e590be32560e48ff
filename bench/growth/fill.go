package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/sale"
	"github.com/holdfast/holdfast/sale/roster/rostergen"
)

const saleID = "growth"

// plan is a sale of two levels with a seat for every fifth candidate, whose holds
// outlast the measurement.
func plan(candidates int, now time.Time) sale.Sale {
	seats, now := candidates/seatShare, now.Truncate(time.Second)
	return sale.Sale{
		ID: saleID, Title: "Growth", Zone: "UTC", OpensAt: now.Add(-time.Hour), ClosesAt: now.Add(48 * time.Hour), Hold: 24 * time.Hour,
		Price:  sale.Money{AmountMinor: 100, Currency: "EUR"},
		Levels: []sale.Level{{Name: "A", Cap: seats - seats/2, Kind: sale.KindCounted}, {Name: "B", Cap: seats / 2, Kind: sale.KindCounted}},
	}.WithDefaults()
}

// fillers is how many bookings are made at once.
const fillers = 128

// fill books every seat: admitted, its payment attached, held in the ledger,
// settled. Nothing is paid, so no gateway has to know of it.
func (w *world) fill(ctx context.Context, people *rostergen.Roster, seats int) error {
	c, err := w.Store.Control(ctx, saleID)
	if err != nil {
		return err
	}
	work, ctx := errgroup.WithContext(ctx)
	work.SetLimit(fillers)
	for i := range seats {
		work.Go(func() error {
			return w.book(ctx, people.Row(i), []string{"A", "B"}[i%2], c.Gen)
		})
	}
	return work.Wait()
}

// patience is how often a step is tried whose replica is slow.
const patience = 20

func patiently(step func() error) error {
	var err error
	for range patience {
		if err = step(); !errors.Is(err, admission.ErrUnacknowledged) {
			break
		}
	}
	return err
}

func (w *world) book(ctx context.Context, person sale.Row, level string, gen int64) error {
	b := ledger.Booking{Sale: saleID, Candidate: string(w.Hasher.Code(person.Code)), EmailHash: string(w.Hasher.Email(person.Email)),
		Level: level, Gen: gen, Price: sale.Money{AmountMinor: 100, Currency: "EUR"}, InputHash: w.Hasher.Input("growth")}
	var a admission.Answer
	err := patiently(func() (err error) { // what was not acknowledged was undone, so the next try is another booking
		if b.ID, err = w.Hasher.BookingID(rand.Reader); err != nil {
			return err
		}
		a, err = w.Redis.Admit(ctx, admission.Request{Sale: saleID, BookingID: b.ID, Candidate: b.Candidate, Level: level, Gen: gen, InputHash: b.InputHash,
			EmailHash: b.EmailHash, AmountMinor: 100, Currency: "EUR", Count: 1})
		return err
	})
	if err != nil {
		return err
	}
	if a.Outcome != admission.Admitted && a.Outcome != admission.Replayed {
		return fmt.Errorf("candidate %s is answered %v", person.Code, a.Outcome)
	}
	b.Payment = ledger.PaymentKey{Gateway: w.Config.Gateway, ID: "pay-" + b.ID}
	b.AdmittedAt, b.HoldUntil = a.AdmittedAt, a.HoldUntil
	for _, token := range a.Tokens {
		b.Seats = append(b.Seats, ledger.Seat{Token: token, Score: 1})
	}
	err = patiently(func() error {
		_, err := w.Redis.Attach(ctx, admission.Attachment{Sale: saleID, BookingID: b.ID, Driver: a.Driver, PaymentID: b.Payment.ID, URL: "https://pay.example.org",
			HoldUntil: a.HoldUntil, StashFor: time.Second})
		return err
	})
	if err != nil {
		return err
	}
	hold, err := ledger.Hold(b, "growth", w.Now())
	if err != nil {
		return err
	}
	if err := w.Store.Apply(ctx, hold); err != nil {
		return err
	}
	return patiently(func() error {
		_, err := w.Redis.Settle(ctx, saleID, b.ID, b.Candidate, false)
		return err
	})
}
