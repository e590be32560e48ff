package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/config"
	"github.com/holdfast/holdfast/events"
	"github.com/holdfast/holdfast/localstack/cloud"
	"github.com/holdfast/holdfast/operator"
	"github.com/holdfast/holdfast/sale"
	"github.com/holdfast/holdfast/wiring"
)

// town is the local cloud, all in this process but its Redis, with a house in it:
// queue, table and gateway are asked over HTTP, as AWS is.
type town struct {
	cloud *cloud.Cloud
	house *wiring.House
}

func openTown(ctx context.Context) (_ *town, err error) {
	t := &town{}
	defer func() {
		if err != nil {
			err = errors.Join(err, t.close())
		}
	}()
	if t.cloud, err = cloud.Start(ctx, cloud.Options{Log: quiet()}); err != nil {
		return nil, err
	}
	env := t.cloud.Env()
	env["HOLDFAST_SECRET"], env["HOLDFAST_OPERATOR_TOKEN"] = strings.Repeat("5c", 32), strings.Repeat("t", 16)
	for name, value := range env { // the AWS SDK reads the environment itself
		if err := os.Setenv(name, value); err != nil {
			return nil, err
		}
	}
	cfg, err := config.Load(os.Getenv)
	if err != nil {
		return nil, err
	}
	t.house, err = wiring.Open(ctx, cfg, quiet())
	return t, err
}

func (t *town) close() error {
	var faults []error
	if t.house != nil {
		faults = append(faults, t.house.Close(context.Background()))
	}
	if t.cloud != nil {
		faults = append(faults, t.cloud.Close(context.Background()))
	}
	return errors.Join(faults...)
}

// arrivals is the yardstick: so many bookings a second are 50,000 in a minute.
const arrivals = 833

// backlog is what the workers have to drain: some seconds of the yardstick.
const backlog = 3000

// drain is how many bookings a second the workers of one process take from the
// queue to the ledger, with the settle in Redis. It has a town of its own, whose
// table and queue nobody has filled before.
func drain(ctx context.Context) (rate float64, err error) {
	t, err := openTown(ctx)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, t.close()) }()
	if err := t.sell(ctx); err != nil {
		return 0, err
	}
	if err := t.fill(ctx); err != nil {
		return 0, err
	}
	work, stop := context.WithCancel(ctx)
	var done sync.WaitGroup
	var fault error
	begin := time.Now()
	done.Go(func() { fault = t.house.Work(work) })
	err = t.rest(ctx)
	rate = backlog / time.Since(begin).Seconds()
	stop()
	done.Wait()
	return rate, errors.Join(err, fault)
}

func (t *town) sell(ctx context.Context) error {
	now := time.Now()
	plan := sale.Sale{ID: townSale, Title: "Drain", Zone: "UTC", OpensAt: now.Add(-time.Minute).Truncate(time.Millisecond),
		ClosesAt: now.Add(time.Hour).Truncate(time.Millisecond), Hold: time.Hour, Price: sale.Money{AmountMinor: 100, Currency: "BDT"},
		Levels: []sale.Level{{Name: level, Cap: backlog}}}.WithDefaults()
	_, err := t.house.Desk().Apply(ctx, plan, operator.By{Actor: "operator:bench", Reason: "benchmark"})
	return err
}

const townSale = "drain"

// fill walks bookings as far as an ingress does.
func (t *town) fill(ctx context.Context) error {
	const callers = 64
	faults := make([]error, callers)
	var wg sync.WaitGroup
	for c := range callers {
		wg.Go(func() {
			for i := c; i < backlog && faults[c] == nil; i += callers {
				faults[c] = t.book(ctx, i)
			}
		})
	}
	wg.Wait()
	return errors.Join(faults...)
}

func (t *town) book(ctx context.Context, i int) error {
	id, candidate, payment := bookingID(), fmt.Sprintf("candidate%034d", i), "pay_"+strconv.Itoa(i)
	r := admission.Request{Sale: townSale, BookingID: id, Candidate: candidate, Level: level, Gen: 1,
		RosterVersion: admission.ProvenRoster, AmountMinor: 100, Currency: "BDT", Count: 1}
	a, err := t.house.Redis.Admit(ctx, r)
	for try := 1; unsure(err) && try < 10; try++ {
		r.BookingID = bookingID() // a short acknowledgement has barred the old one
		a, err = t.house.Redis.Admit(ctx, r)
	}
	if err != nil || a.Outcome != admission.Admitted {
		return fmt.Errorf("booking %d: %v: %w", i, a.Outcome, err)
	}
	score, err := strconv.ParseInt(strings.TrimPrefix(a.Tokens[0], level+"-"), 10, 64)
	if err != nil {
		return err
	}
	if _, err := t.house.Redis.Attach(ctx, admission.Attachment{Sale: townSale, BookingID: r.BookingID, Driver: a.Driver, PaymentID: "page:" + payment,
		URL: "https://pay.example/" + payment, HoldUntil: a.HoldUntil, StashFor: time.Minute}); err != nil {
		return err
	}
	return t.house.Publish.Publish(ctx, events.Event{Type: events.BookingHeld, Sale: townSale, Candidate: candidate, BookingID: r.BookingID, Gen: 1, At: time.Now().UTC(),
		Held: &events.Held{Level: level, Seats: []events.Seat{{Token: a.Tokens[0], Score: score}}, Gateway: "page", PaymentID: payment,
			AmountMinor: 100, Currency: "BDT", AdmittedAt: a.AdmittedAt, HoldUntil: a.HoldUntil}})
}

// rest waits until no booking is pending any more: the ledger has them all.
func (t *town) rest(ctx context.Context) error {
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		s, err := t.house.Redis.Status(ctx, townSale, nil)
		if err != nil {
			return err
		}
		if s.Pending == 0 {
			return nil
		}
	}
	return errors.New("drain: bookings are pending after a minute")
}

func drainContest() contest {
	return contest{"workers of one process drain the emulated queue / 833 bookings/s", "bookings/s", 1, 2, false, drain,
		func(context.Context) (float64, error) { return arrivals, nil }}
}
