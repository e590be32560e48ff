package wiring_test

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	lambdaevents "github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	awsconfig "github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	goredis "github.com/redis/go-redis/v9"

	"github.com/holdfast/holdfast/events"
	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/localstack/cloud"
	"github.com/holdfast/holdfast/operator"
	"github.com/holdfast/holdfast/reaper"
	"github.com/holdfast/holdfast/wiring"
)

// TestPurgeLeavesNobody purges a sale in the real table and the real Redis, and
// then reads every item and every key of both: no hash of anybody is in them,
// the audit holds, and a payment that comes late still comes to its end.
func TestPurgeLeavesNobody(t *testing.T) {
	c, h := openTown(t)
	openSale(t, h, time.Minute)
	by := operator.By{Actor: "operator:test", Reason: "retention is over"}
	candidate := string(h.Hasher.Code("ABCD000001"))
	held := admit(t, h, candidate)
	held.Held.EmailHash = string(h.Hasher.Email("one@example.org"))
	work := function[worker](t, h, wiring.FunctionWorker)
	deliver(t, work, held)
	pay(t, c, work, held)
	act(t, func() error { return h.Desk().Close(t.Context(), saleID, by) })
	secrets := []string{candidate, held.Held.EmailHash}
	for _, s := range secrets {
		if !strings.Contains(everything(t, c), s) {
			t.Fatalf("%s is in neither store: this test proves nothing", s)
		}
	}

	p, err := h.Purge()
	if err != nil {
		t.Fatal(err)
	}
	quick, err := reaper.New(reaper.Options{Steps: h.Steps, Redis: h.Redis, Health: h.Redis, Queue: h.Queue, Wait: func(ctx context.Context, _ time.Duration) error { return ctx.Err() }})
	if err != nil {
		t.Fatal(err)
	}
	p.Refill = wiring.Refill(quick.Rebuilder) // no other process is there to be waited for
	if r, err := p.Run(t.Context(), saleID, false, by); err != nil || r.Roster != 1 || r.Bookings != 1 {
		t.Fatalf("purge: %+v, %v", r, err)
	}
	left := everything(t, c)
	for _, s := range secrets {
		if strings.Contains(left, s) {
			t.Errorf("%s is left", s)
		}
	}
	if b, err := h.Store.Booking(t.Context(), held.BookingID); err != nil || b.State != ledger.Paid || b.Payment.ID != held.Held.PaymentID {
		t.Errorf("the booking is %+v, %v", b, err)
	}
	if a, err := quick.Auditor.Audit(t.Context(), saleID); err != nil || len(a.Violations) > 0 {
		t.Errorf("audit: %v, %v", a.Violations, err)
	}
	notice(t, work, held, "2") // the gateway repeats itself, long after
	if strings.Contains(everything(t, c), candidate) {
		t.Error("a late notice brought the candidate back")
	}
}

// pay presses the gateway's button, and lets the worker hear of it.
func pay(t *testing.T, c *cloud.Cloud, work worker, e events.Event) {
	t.Helper()
	stay := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := stay.PostForm(c.GatewayURL+"/pay/"+e.Held.PaymentID, url.Values{"action": {"pay"}})
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	notice(t, work, e, "1")
}

// notice delivers what the gateway's webhook becomes.
func notice(t *testing.T, work worker, e events.Event, id string) {
	t.Helper()
	n := events.Event{Version: events.Version, Type: events.PaymentNotified, Sale: saleID, Candidate: e.Candidate, BookingID: e.BookingID, Gen: 1, At: time.Now().UTC(),
		Notice: &events.Notice{Gateway: "page", PaymentID: e.Held.PaymentID, EventID: id, Source: "webhook"}}
	deliver(t, work, n)
}

func deliver(t *testing.T, work worker, e events.Event) {
	t.Helper()
	body, err := events.Encode(e)
	if err != nil {
		t.Fatal(err)
	}
	out, err := work(t.Context(), lambdaevents.SQSEvent{Records: []lambdaevents.SQSMessage{record("m", e, string(body))}})
	if err != nil || len(out.BatchItemFailures) > 0 {
		t.Fatalf("%s: %+v, %v", e.Type, out, err)
	}
}

// everything is every item of the table and every key of Redis, as text.
func everything(t *testing.T, c *cloud.Cloud) string {
	t.Helper()
	var all strings.Builder
	cfg, err := awsconfig.LoadDefaultConfig(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	out, err := dynamodb.NewFromConfig(cfg).Scan(t.Context(), &dynamodb.ScanInput{TableName: aws.String("holdfast"), ConsistentRead: aws.Bool(true)})
	if err != nil || len(out.LastEvaluatedKey) > 0 {
		t.Fatalf("read the table: %v", err)
	}
	for _, it := range out.Items {
		for name, v := range it {
			fmt.Fprintf(&all, "%s %s\n", name, text(v))
		}
	}
	redis := goredis.NewClient(&goredis.Options{Addr: c.Redis.Primary.Addr()})
	defer redis.Close()
	for _, key := range redis.Keys(t.Context(), "*").Val() {
		fmt.Fprintln(&all, key, value(t.Context(), redis, key))
	}
	return all.String()
}

func value(ctx context.Context, c *goredis.Client, key string) any {
	switch c.Type(ctx, key).Val() {
	case "hash":
		return c.HGetAll(ctx, key).Val()
	case "zset":
		return c.ZRange(ctx, key, 0, -1).Val()
	case "set":
		return c.SMembers(ctx, key).Val()
	case "list":
		return c.LRange(ctx, key, 0, -1).Val()
	}
	return c.Get(ctx, key).Val()
}

// text is an attribute with everything in it.
func text(v types.AttributeValue) string {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return v.Value
	case *types.AttributeValueMemberB:
		return string(v.Value)
	case *types.AttributeValueMemberM:
		var all string
		for name, v := range v.Value {
			all += name + " " + text(v) + " "
		}
		return all
	case *types.AttributeValueMemberL:
		var all string
		for _, v := range v.Value {
			all += text(v) + " "
		}
		return all
	}
	return fmt.Sprint(v)
}
