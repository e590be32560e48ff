//go:build lambda

package lambdatest_test

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"iter"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	lambdaevents "github.com/aws/aws-lambda-go/events"
	goredis "github.com/redis/go-redis/v9"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/config"
	"github.com/holdfast/holdfast/events"
	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/localstack/cloud"
	"github.com/holdfast/holdfast/operator"
	"github.com/holdfast/holdfast/payment"
	"github.com/holdfast/holdfast/sale"
	"github.com/holdfast/holdfast/wiring"
)

const saleID = "functions"

// ground is a local cloud with an open sale, and this test's own way in.
type ground struct {
	cloud *cloud.Cloud
	house *wiring.House
	env   map[string]string // of the functions
}

func openGround(t *testing.T, hold time.Duration) *ground {
	t.Helper()
	c, err := cloud.Start(t.Context(), cloud.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	g := &ground{cloud: c, env: c.Env()}
	g.env["HOLDFAST_SECRET"], g.env["HOLDFAST_OPERATOR_TOKEN"] = strings.Repeat("5c", 32), strings.Repeat("t", 16)
	for k, v := range g.env {
		t.Setenv(k, v)
	}
	cfg, err := config.Load(os.Getenv)
	if err != nil {
		t.Fatal(err)
	}
	if g.house, err = wiring.Open(t.Context(), cfg, slog.New(slog.NewJSONHandler(io.Discard, nil))); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := g.house.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	// As on AWS, a function finds table and queues; it does not make them.
	g.env["HOLDFAST_CREATE_RESOURCES"] = "false"
	g.addFunctionUser(t)
	g.openSale(t, hold)
	return g
}

func (g *ground) openSale(t *testing.T, hold time.Duration) {
	t.Helper()
	by, now := operator.By{Actor: "operator:test", Reason: "test"}, time.Now()
	plan := sale.Sale{ID: saleID, Title: "Functions", Zone: "UTC", OpensAt: now.Add(-time.Minute).Truncate(time.Millisecond), ClosesAt: now.Add(time.Hour).Truncate(time.Millisecond),
		Hold: hold, Price: sale.Money{AmountMinor: 100, Currency: "BDT"}, Levels: []sale.Level{{Name: "A", Cap: 10}}}.WithDefaults()
	again(t, func() error {
		_, err := g.house.Desk().Apply(t.Context(), plan, by)
		return err
	})
	rows := func() (iter.Seq2[sale.Row, error], error) {
		return func(yield func(sale.Row, error) bool) {
			yield(sale.Row{Code: "ABCD000001", Email: "one@example.org"}, nil)
		}, nil
	}
	again(t, func() error {
		_, err := g.house.Desk().ImportRoster(t.Context(), saleID, rows, operator.ImportOptions{}, nil, by)
		return err
	})
	again(t, func() error { return g.house.Desk().Open(t.Context(), saleID, by) })
}

// admit walks a booking as far as the ingress does, and returns its event.
func (g *ground) admit(t *testing.T, candidate string) events.Event {
	t.Helper()
	id, err := sale.NewBookingID(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	var a admission.Answer
	again(t, func() (err error) {
		a, err = g.house.Redis.Admit(t.Context(), admission.Request{Sale: saleID, BookingID: id, Candidate: candidate, Level: "A", Gen: 1,
			RosterVersion: admission.ProvenRoster, AmountMinor: 100, Currency: "BDT", Count: 1})
		return err
	})
	if len(a.Tokens) != 1 {
		t.Fatalf("admit: %v", a.Outcome)
	}
	s, err := g.house.Gateways["page"].Create(t.Context(), payment.CreateRequest{Metadata: payment.Metadata{Sale: saleID, BookingID: id, Candidate: candidate},
		AmountMinor: 100, Currency: "BDT", Title: "seat", ReturnURL: "http://127.0.0.1/return", ExpiresAt: a.HoldUntil})
	if err != nil {
		t.Fatal(err)
	}
	key := ledger.PaymentKey{Gateway: "page", ID: s.PaymentID}
	if _, err := g.house.Redis.Attach(t.Context(), admission.Attachment{Sale: saleID, BookingID: id, Driver: a.Driver, PaymentID: key.String(), URL: s.URL, HoldUntil: a.HoldUntil, StashFor: time.Minute}); err != nil {
		t.Fatal(err)
	}
	return events.Event{Version: events.Version, Type: events.BookingHeld, Sale: saleID, Candidate: candidate, BookingID: id, Gen: 1, At: time.Now().UTC(),
		Held: &events.Held{Level: "A", Seats: []events.Seat{{Token: a.Tokens[0], Score: 1}}, Gateway: "page", PaymentID: s.PaymentID,
			AmountMinor: 100, Currency: "BDT", AdmittedAt: a.AdmittedAt, HoldUntil: a.HoldUntil}}
}

func (g *ground) used(t *testing.T) int {
	t.Helper()
	s, err := g.house.Redis.Status(t.Context(), saleID, []string{"A"})
	if err != nil {
		t.Fatal(err)
	}
	return s.Used
}

// functionUser is who the functions are to Redis, so that their connections can
// be told from this test's.
const functionUser = "function"

func (g *ground) redis(t *testing.T) *goredis.Client {
	t.Helper()
	c := goredis.NewClient(&goredis.Options{Addr: g.cloud.Redis.Primary.Addr(), PoolSize: 1})
	t.Cleanup(func() { _ = c.Close() }) // nothing is in flight
	return c
}

// addFunctionUser makes the user and gives it to the functions.
func (g *ground) addFunctionUser(t *testing.T) {
	t.Helper()
	if err := g.redis(t).Do(t.Context(), "ACL", "SETUSER", functionUser, "on", ">function", "~*", "&*", "+@all").Err(); err != nil {
		t.Fatal(err)
	}
	g.env["HOLDFAST_REDIS_USERNAME"], g.env["HOLDFAST_REDIS_PASSWORD"] = functionUser, "function"
}

// connections counts those of the functions.
func (g *ground) connections(t *testing.T, c *goredis.Client) int {
	t.Helper()
	list, err := c.ClientList(t.Context()).Result()
	if err != nil {
		t.Fatal(err)
	}
	return strings.Count(list, "user="+functionUser+" ")
}

// again repeats what a busy machine may fail: an admission or an installation
// that the replica did not acknowledge in time.
func again(t *testing.T, f func() error) {
	t.Helper()
	var last error
	for range 20 {
		if last = f(); last == nil || !errors.Is(last, admission.ErrUnacknowledged) {
			break
		}
	}
	if last != nil {
		t.Fatal(last)
	}
}

func encode(t *testing.T, e events.Event) string {
	t.Helper()
	b, err := events.Encode(e)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func record(id, group, body string) lambdaevents.SQSMessage {
	return lambdaevents.SQSMessage{MessageId: id, ReceiptHandle: id, Body: body, Attributes: map[string]string{
		"MessageGroupId": group, "MessageDeduplicationId": "d" + id, "ApproximateReceiveCount": "1", "SentTimestamp": strconv.FormatInt(time.Now().UnixMilli(), 10),
	}}
}

// await waits for a condition; what names it.
func await(t *testing.T, within time.Duration, what string, ok func() bool) {
	t.Helper()
	for deadline := time.After(within); !ok(); {
		select {
		case <-deadline:
			t.Fatalf("waited %v for %s", within, what)
		case <-time.After(20 * time.Millisecond):
		}
	}
}
