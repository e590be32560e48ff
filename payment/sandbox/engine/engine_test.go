package engine_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/holdfast/holdfast/localstack/leak"
	"github.com/holdfast/holdfast/payment"
	"github.com/holdfast/holdfast/payment/sandbox/api"
	"github.com/holdfast/holdfast/payment/sandbox/engine"
)

func TestMain(m *testing.M) { leak.Main(m) }

const amount = 1000

var epoch = time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)

// bench is an engine with an account of each kind and a clock; it is for one
// goroutine, as in a simulator.
type bench struct {
	*engine.Engine
	now time.Time
	ids int
}

func newBench(t testing.TB, maxPayments int) *bench {
	t.Helper()
	b := &bench{now: epoch}
	account := func(name string, moves payment.Moves) engine.Account {
		return engine.Account{Name: name, AppKey: name, AppSecret: "s", WebhookSecret: "h", Payee: "p", Moves: moves,
			WebhookURL: "http://127.0.0.1:1/", InvoiceIdempotent: true}
	}
	e, err := engine.New(engine.Config{
		Accounts: []engine.Account{account("page", payment.MovesOnPage), account("exec", payment.MovesOnExecute)},
		Now:      func() time.Time { return b.now },
		NewID:    func(kind string) string { b.ids++; return fmt.Sprint(kind, "_", b.ids) },

		MaxPayments: maxPayments,
	})
	if err != nil {
		t.Fatal(err)
	}
	b.Engine = e
	return b
}

func (b *bench) request(booking string) payment.CreateRequest {
	return payment.CreateRequest{Metadata: payment.Metadata{Sale: "s", BookingID: booking, Candidate: "c"}, AmountMinor: amount,
		Currency: "BDT", ReturnURL: "https://shop.example/", ExpiresAt: b.now.Add(10 * time.Minute)}
}

func (b *bench) create(t testing.TB, account, booking string) string {
	t.Helper()
	p, err := b.Create(account, booking, b.request(booking))
	if err != nil {
		t.Fatal(err)
	}
	return p.PaymentID
}

func code(err error) string {
	var no *engine.Refusal
	if errors.As(err, &no) {
		return no.Code
	}
	return fmt.Sprint(err)
}

// reach brings a payment into a status by the shortest way.
func (b *bench) reach(t *testing.T, account string, s payment.Status) string {
	t.Helper()
	id := b.create(t, account, "b-"+string(s))
	steps := map[payment.Status]func() error{
		payment.StatusOpen:      func() error { return nil },
		payment.StatusPending:   func() error { _, err := b.Act(id, engine.ActSlow, 0); return err },
		payment.StatusFailed:    func() error { _, err := b.Act(id, engine.ActFail, 0); return err },
		payment.StatusCancelled: func() error { _, err := b.Cancel(account, id); return err },
		payment.StatusExpired:   func() error { b.now = b.now.Add(24 * time.Hour); return nil },
		payment.StatusApproved:  func() error { _, err := b.Act(id, engine.ActPay, 0); return err },
		payment.StatusCompleted: func() error {
			_, err := b.Act(id, engine.ActPay, 0)
			if err == nil && account == "exec" {
				_, err = b.Execute(account, id)
			}
			return err
		},
	}
	if err := steps[s](); err != nil {
		t.Fatalf("reach %s: %v", s, err)
	}
	if p, err := b.Query(account, id); err != nil || p.Status != string(s) {
		t.Fatalf("reached %q, %v; want %q", p.Status, err, s)
	}
	return id
}

// TestEveryCallInEveryStatus: what each call does to a payment in each status,
// as "answer -> status afterwards".
func TestEveryCallInEveryStatus(t *testing.T) {
	calls := map[string]func(b *bench, account, id string) error{
		"pay":     func(b *bench, _, id string) error { _, err := b.Act(id, engine.ActPay, 0); return err },
		"fail":    func(b *bench, _, id string) error { _, err := b.Act(id, engine.ActFail, 0); return err },
		"execute": func(b *bench, a, id string) error { _, err := b.Execute(a, id); return err },
		"cancel":  func(b *bench, a, id string) error { _, err := b.Cancel(a, id); return err },
		"refund":  func(b *bench, a, id string) error { _, err := b.Refund(a, id, "R", amount); return err },
	}
	want := map[string]string{
		"page open pay": "ok completed", "page pending pay": "ok pending", "page completed pay": "ok completed",
		"page cancelled pay": "payment_over cancelled", "page expired pay": "payment_over expired", "page failed pay": "payment_over failed",
		"page open fail": "ok failed", "page pending fail": "ok failed", "page completed fail": "payment_over completed",
		"page cancelled fail": "payment_over cancelled", "page expired fail": "payment_over expired", "page failed fail": "ok failed",
		"page open cancel": "ok cancelled", "page pending cancel": "payment_pending pending", "page completed cancel": "already_completed completed",
		"page cancelled cancel": "ok cancelled", "page expired cancel": "ok expired", "page failed cancel": "ok failed",
		"page completed refund": "ok completed", "page completed execute": "not_supported completed", "page open execute": "not_supported open",

		"exec open pay": "ok approved", "exec approved pay": "ok approved", "exec approved fail": "ok failed",
		"exec open execute": "not_approved open", "exec pending execute": "not_approved pending", "exec approved execute": "ok completed",
		"exec completed execute": "already_completed completed", "exec cancelled execute": "payment_over cancelled",
		"exec expired execute": "payment_over expired", "exec failed execute": "payment_over failed",
		"exec approved cancel": "ok cancelled", "exec completed cancel": "already_completed completed",
		"exec approved refund": "not_captured approved", "exec completed refund": "ok completed",
	}
	for name, expected := range want {
		t.Run(name, func(t *testing.T) {
			part := strings.Fields(name)
			b := newBench(t, 0)
			id := b.reach(t, part[0], payment.Status(part[1]))
			answer := "ok"
			if err := calls[part[2]](b, part[0], id); err != nil {
				answer = code(err)
			}
			p, err := b.Query(part[0], id)
			if err != nil {
				t.Fatal(err)
			}
			if got := answer + " " + p.Status; got != expected {
				t.Fatalf("%s: %s, want %s", name, got, expected)
			}
		})
	}
}

func TestNew_ListsEveryFault(t *testing.T) {
	good := engine.Account{Name: "a", AppKey: "k", AppSecret: "s", WebhookSecret: "h", Payee: "p", Moves: payment.MovesOnPage}
	_, err := engine.New(engine.Config{Accounts: []engine.Account{good, good, {Name: "B", WebhookURL: "nowhere"}}})
	if err == nil {
		t.Fatal("taken")
	}
	for _, want := range []string{"taken", "1 to 20", "AppKey", "WebhookSecret", "Payee", "Moves", "WebhookURL"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error does not speak of %s:\n%v", want, err)
		}
	}
}

func TestCreate_RefusesBadInput(t *testing.T) {
	for name, change := range map[string]func(*payment.CreateRequest){
		"no booking":        func(r *payment.CreateRequest) { r.BookingID = "" },
		"long sale":         func(r *payment.CreateRequest) { r.Sale = strings.Repeat("s", 129) },
		"nothing to pay":    func(r *payment.CreateRequest) { r.AmountMinor = 0 },
		"negative":          func(r *payment.CreateRequest) { r.AmountMinor = -1 },
		"too much":          func(r *payment.CreateRequest) { r.AmountMinor = api.MaxAmountMinor + 1 },
		"no currency":       func(r *payment.CreateRequest) { r.Currency = "taka" },
		"script as return":  func(r *payment.CreateRequest) { r.ReturnURL = "javascript:alert(1)" },
		"no end":            func(r *payment.CreateRequest) { r.ExpiresAt = time.Time{} },
		"title of a kindly": func(r *payment.CreateRequest) { r.Title = strings.Repeat("t", 129) },
	} {
		b := newBench(t, 0)
		r := b.request("b1")
		change(&r)
		if _, err := b.Create("page", "b1", r); code(err) != api.CodeInvalid {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestMemory_IsBounded(t *testing.T) {
	b := newBench(t, 3)
	for i := range 3 {
		b.create(t, "page", fmt.Sprint("b", i))
	}
	if _, err := b.Create("page", "b9", b.request("b9")); code(err) != api.CodeFull {
		t.Fatalf("the fourth of three: %v", err)
	}
	b.create(t, "page", "b1") // a repeat is no new payment
	id := b.create(t, "page", "b0")
	if _, err := b.Act(id, engine.ActPay, 0); err != nil {
		t.Fatal(err)
	}
	for i := range api.MaxRefundKeys + 5 {
		_, err := b.Refund("page", id, fmt.Sprint("R", i), 1)
		if (err == nil) != (i < api.MaxRefundKeys) {
			t.Fatalf("refund %d: %v", i, err)
		}
	}
}

func TestWebhook_IsGivenUpInTheEnd(t *testing.T) {
	b := newBench(t, 0)
	if _, err := b.Act(b.create(t, "page", "b1"), engine.ActPay, 0); err != nil {
		t.Fatal(err)
	}
	attempts := 0
	for b.Waiting() > 0 {
		for _, d := range b.Claim(10) {
			attempts++
			b.Settle(d.ID, false)
			b.Settle(d.ID, false) // twice is harmless
		}
		b.now = b.now.Add(time.Second)
	}
	if attempts != engine.MaxAttempts || b.Fired()["webhook_dead"] != 1 {
		t.Fatalf("%d attempts, want %d; %v", attempts, engine.MaxAttempts, b.Fired())
	}
	if spent := b.now.Sub(epoch); spent < 10*time.Minute || spent > 20*time.Minute {
		t.Fatalf("given up after %s, want about a quarter of an hour", spent)
	}
}

func TestFaults_TheAccountsOwnComeFirstAndAreUsedUp(t *testing.T) {
	b := newBench(t, 0)
	set := func(account string, f engine.Faults) {
		if err := b.SetFaults(account, f); err != nil {
			t.Fatal(err)
		}
	}
	set("", engine.Faults{RefuseCreate: engine.Always})
	set("page", engine.Faults{RefuseCreate: 1})
	for range 2 { // its own, then the gateway's
		if _, err := b.Create("page", "b1", b.request("b1")); code(err) != api.CodeRefused {
			t.Fatalf("create: %v", err)
		}
	}
	if f, err := b.Faults("page"); err != nil || f != (engine.Faults{}) {
		t.Fatalf("left: %+v, %v", f, err)
	}
	set("", engine.Faults{})
	b.create(t, "page", "b1")
	if got := b.Fired()["refuse_create"]; got != 2 {
		t.Fatalf("fired %d times, want 2", got)
	}
}

// TestEngine_RepeatsItself: with clock and ids given, a run is a function of its
// calls, down to the bytes of its webhooks.
func TestEngine_RepeatsItself(t *testing.T) {
	run := func() string {
		b := newBench(t, 0)
		var trace []any
		for i := range 50 {
			id := b.create(t, []string{"page", "exec"}[i%2], fmt.Sprint("b", i))
			action := []engine.Action{engine.ActPay, engine.ActLate, engine.ActSlow, engine.ActFail}[i%4]
			if _, err := b.Act(id, action, 0); err != nil {
				t.Fatal(err)
			}
			b.now = b.now.Add(7 * time.Second)
			for _, d := range b.Claim(3) {
				trace = append(trace, string(d.Body))
				b.Settle(d.ID, d.ID%3 != 0)
			}
		}
		b.now = b.now.Add(time.Hour)
		trace = append(trace, b.Payments(), b.Fired())
		text, err := json.Marshal(trace)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	if diff := cmp.Diff(run(), run()); diff != "" {
		t.Fatalf("two runs differ:\n%s", diff)
	}
}

// TestMoney_AddsUpUnderAnyCalls lets random calls loose and audits the ledger:
// money is captured at most once, never paid back beyond what was captured, and
// a payment that is over stays so unless late money arrives.
func TestMoney_AddsUpUnderAnyCalls(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		b := newBench(t, 0)
		var ids []string
		late := map[string]bool{}
		before := map[string]payment.Status{}
		steps := rapid.IntRange(1, 60).Draw(rt, "steps")
		for range steps {
			account := rapid.SampledFrom([]string{"page", "exec"}).Draw(rt, "account")
			if len(ids) == 0 || rapid.IntRange(0, 3).Draw(rt, "new") == 0 {
				ids = append(ids, b.create(t, account, fmt.Sprint("b", len(ids))))
				continue
			}
			id := rapid.SampledFrom(ids).Draw(rt, "id")
			switch rapid.IntRange(0, 5).Draw(rt, "call") {
			case 0:
				action := rapid.SampledFrom([]engine.Action{engine.ActPay, engine.ActFail, engine.ActLate, engine.ActSlow, engine.ActClose}).Draw(rt, "action")
				late[id] = late[id] || action == engine.ActLate
				_, _ = b.Act(id, action, 0)
			case 1:
				_, _ = b.Execute(account, id)
			case 2:
				_, _ = b.Cancel(account, id)
			case 3:
				key := rapid.SampledFrom([]string{"R1", "R2"}).Draw(rt, "key")
				_, _ = b.Refund(account, id, key, rapid.Int64Range(1, amount).Draw(rt, "amount"))
			case 4:
				if err := b.SetFaults("", engine.Faults{LoseExecute: 1, LoseRefund: 1, LoseCancel: 1, RefundPendingMS: 60_000}); err != nil {
					rt.Fatal(err)
				}
			case 5:
				b.now = b.now.Add(time.Duration(rapid.IntRange(1, 2000).Draw(rt, "seconds")) * time.Second)
			}
			for _, e := range b.Payments() {
				audit(rt, e, before[e.PaymentID], late[e.PaymentID])
				before[e.PaymentID] = e.Status
			}
		}
	})
}

func audit(t *rapid.T, e engine.Entry, before payment.Status, late bool) {
	t.Helper()
	if captured := e.Status == payment.StatusCompleted; captured != (e.CapturedMinor == amount) || captured != (e.Captures == 1) {
		t.Fatalf("%s captured %d in %d captures", e.Status, e.CapturedMinor, e.Captures)
	}
	if e.RefundedMinor+e.RefundPendingMinor > e.CapturedMinor {
		t.Fatalf("more paid back than captured: %+v", e)
	}
	if before.Final() && e.Status != before && (!late || e.Status != payment.StatusCompleted || e.Account != "page") {
		t.Fatalf("%s became %s (late: %v)", before, e.Status, late)
	}
}

// TestCase_C17_TwoWaysToPayTakeTheMoneyOnce: the customer pays late, then by a
// slow method too; both arrive.
func TestCase_C17_TwoWaysToPayTakeTheMoneyOnce(t *testing.T) {
	b := newBench(t, 0)
	id := b.create(t, "page", "b1")
	for _, action := range []engine.Action{engine.ActLate, engine.ActSlow} {
		if _, err := b.Act(id, action, time.Minute); err != nil {
			t.Fatal(err)
		}
	}
	b.now = b.now.Add(time.Hour)
	if e := b.Payments()[0]; e.Captures != 1 || e.CapturedMinor != amount {
		t.Fatalf("ledger: %+v", e)
	}
}

// TestConcurrency_OneOfManyWins: of an execute and cancels at the same moment
// exactly one side has its way.
func TestConcurrency_OneOfManyWins(t *testing.T) {
	e, err := engine.New(engine.Config{Accounts: []engine.Account{{Name: "exec", AppKey: "k", AppSecret: "s", WebhookSecret: "h",
		Payee: "p", Moves: payment.MovesOnExecute, WebhookURL: "http://127.0.0.1:1/"}}})
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{Engine: e, now: time.Now()}
	for i := range 200 {
		id := b.create(t, "exec", fmt.Sprint("b", i))
		if _, err := e.Act(id, engine.ActPay, 0); err != nil {
			t.Fatal(err)
		}
		results := make([]error, 8)
		gate := make(chan struct{})
		var all sync.WaitGroup
		for n := range results {
			all.Go(func() {
				<-gate
				if n%2 == 0 {
					_, results[n] = e.Execute("exec", id)
				} else {
					_, results[n] = e.Cancel("exec", id)
				}
			})
		}
		close(gate)
		all.Wait()
		executed, cancelled := 0, 0
		for n, err := range results {
			if err == nil && n%2 == 0 {
				executed++
			} else if err == nil {
				cancelled++
			}
		}
		if executed > 1 || (executed == 1) == (cancelled > 0) {
			t.Fatalf("%d executes and %d cancels succeeded", executed, cancelled)
		}
	}
}

func BenchmarkCreate(b *testing.B) {
	e := newBench(b, 100_000_000)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		booking := fmt.Sprint("b", i)
		if _, err := e.Create("page", booking, e.request(booking)); err != nil {
			b.Fatal(err)
		}
	}
}
