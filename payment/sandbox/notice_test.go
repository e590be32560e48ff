package sandbox_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/holdfast/holdfast/payment"
	"github.com/holdfast/holdfast/payment/sandbox"
	"github.com/holdfast/holdfast/payment/sandbox/api"
)

const hookSecret = "hook-page"

func receiver(t testing.TB) *sandbox.Gateway {
	t.Helper()
	g, err := sandbox.New(sandbox.Config{Name: "page", BaseURL: "http://127.0.0.1:1", AppKey: "k", AppSecret: "s",
		WebhookSecret: hookSecret, Payee: "m", Moves: payment.MovesOnPage})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func eventBody(t testing.TB, change func(*api.Event)) []byte {
	t.Helper()
	e := api.Event{ID: "evt_1", Type: "payment.completed", Account: "page", PaymentID: "pay_1", Status: "completed",
		Metadata: api.Metadata{Sale: "spring", BookingID: "b1", Candidate: "c0ffee"}}
	if change != nil {
		change(&e)
	}
	body, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	return body
}

func signed(header string) http.Header { return http.Header{api.HeaderSignature: {header}} }

func TestParseWebhook(t *testing.T) {
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	body := eventBody(t, nil)
	good := api.Sign(hookSecret, now, body)
	_, digest, _ := strings.Cut(good, ",")
	otherTime := "t=" + strconv.FormatInt(now.Unix()+60, 10) + "," + digest
	tests := map[string]struct {
		header http.Header
		body   []byte
		now    time.Time
		want   error
	}{
		"good":                     {signed(good), body, now, nil},
		"at the end of the window": {signed(good), body, now.Add(5 * time.Minute), nil},
		"our clock is slow":        {signed(good), body, now.Add(-5 * time.Minute), nil},
		"too old":                  {signed(good), body, now.Add(5*time.Minute + time.Second), payment.ErrBadSignature},
		"from the future":          {signed(good), body, now.Add(-5*time.Minute - time.Second), payment.ErrBadSignature},
		"other body":               {signed(good), eventBody(t, func(e *api.Event) { e.PaymentID = "pay_2" }), now, payment.ErrBadSignature},
		"other secret":             {signed(api.Sign("guess", now, body)), body, now, payment.ErrBadSignature},
		"time swapped":             {signed(otherTime), body, now, payment.ErrBadSignature},
		"no signature":             {http.Header{}, body, now, payment.ErrBadSignature},
		"two signatures":           {http.Header{api.HeaderSignature: {good, good}}, body, now, payment.ErrBadSignature},
		"nonsense":                 {signed("v1=,t=;"), body, now, payment.ErrBadSignature},
		"huge signature":           {signed(good + strings.Repeat("0", 1<<16)), body, now, payment.ErrBadSignature},
		"not JSON":                 {signed(api.Sign(hookSecret, now, []byte("{"))), []byte("{"), now, payment.ErrBadNotice},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			n, err := receiver(t).ParseWebhook(test.header, test.body, test.now)
			if !errors.Is(err, test.want) || (err != nil) != (test.want != nil) {
				t.Fatalf("error = %v, want %v", err, test.want)
			}
			want := payment.Notice{EventID: "evt_1", PaymentID: "pay_1", Metadata: payment.Metadata{Sale: "spring", BookingID: "b1", Candidate: "c0ffee"}}
			if err == nil && n != want {
				t.Fatalf("notice = %+v, want %+v", n, want)
			}
		})
	}
}

func TestParseWebhook_SignedNonsense(t *testing.T) {
	now := time.Now()
	for name, change := range map[string]func(*api.Event){
		"another account": func(e *api.Event) { e.Account = "exec" },
		"no event id":     func(e *api.Event) { e.ID = "" },
		"no payment id":   func(e *api.Event) { e.PaymentID = "" },
		"id with a hash":  func(e *api.Event) { e.PaymentID = "a#b" },
		"endless booking": func(e *api.Event) { e.Metadata.BookingID = strings.Repeat("b", 129) },
	} {
		t.Run(name, func(t *testing.T) {
			body := eventBody(t, change)
			if _, err := receiver(t).ParseWebhook(signed(api.Sign(hookSecret, now, body)), body, now); !errors.Is(err, payment.ErrBadNotice) {
				t.Fatalf("error = %v, want ErrBadNotice", err)
			}
		})
	}
}

func TestScenario35_ForgedReturnIsOnlyAReasonToAsk(t *testing.T) {
	w := newWorld(t)
	s := w.create(t, w.page, "b1")
	n, err := w.page.ParseReturn(url.Values{"payment_id": {s.PaymentID}, "status": {"success"}, "ref": {"evt_1"}})
	if err != nil || n.PaymentID != s.PaymentID {
		t.Fatalf("notice = %+v, %v", n, err)
	}
	if n.EventID == "evt_1" {
		t.Fatal("a redirect could take the id of a webhook")
	}
	wantStatus(t, w.page, n.PaymentID, payment.StatusOpen)
	for _, bad := range []string{"", "a b", "../x", "a#b", strings.Repeat("x", 65)} {
		if _, err := w.page.ParseReturn(url.Values{"payment_id": {bad}}); !errors.Is(err, payment.ErrBadNotice) {
			t.Errorf("ParseReturn(%.20q) = %v, want ErrBadNotice", bad, err)
		}
	}
}

// FuzzParseWebhook signs what it finds, so that the decoder is reached too.
func FuzzParseWebhook(f *testing.F) {
	now := time.Unix(1_772_355_600, 0)
	f.Add(eventBody(f, nil), "", int64(0))
	f.Add([]byte(`{"id":1}`), "t=1,v1=00", int64(301))
	f.Add([]byte(`[[[[`), ",v1=,v1=", int64(-1<<62))
	g := receiver(f)
	f.Fuzz(func(t *testing.T, body []byte, header string, skew int64) {
		if _, err := g.ParseWebhook(signed(header), body, now); err == nil && header != api.Sign(hookSecret, now, body) {
			// The only header that verifies without the secret is one made with it.
			t.Fatalf("forged header %q was taken", header)
		}
		at := now.Add(time.Duration(skew%600) * time.Second)
		n, err := g.ParseWebhook(signed(api.Sign(hookSecret, at, body)), body, now)
		if late := at.Sub(now).Abs() > api.SignatureTolerance; late && !errors.Is(err, payment.ErrBadSignature) {
			t.Fatalf("%s away from now: %v, want ErrBadSignature", at.Sub(now), err)
		}
		if err == nil && (!api.ValidID(n.EventID) || !api.ValidID(n.PaymentID)) {
			t.Fatalf("a notice with unusable ids: %+v", n)
		}
		if err != nil && !errors.Is(err, payment.ErrBadNotice) && !errors.Is(err, payment.ErrBadSignature) {
			t.Fatalf("an error without a verdict: %v", err)
		}
	})
}

func FuzzParseReturn(f *testing.F) {
	f.Add("payment_id=pay_1&status=success&ref=ref_1")
	f.Add("payment_id=%00")
	g := receiver(f)
	f.Fuzz(func(t *testing.T, query string) {
		q, err := url.ParseQuery(query)
		if err != nil {
			return
		}
		n, err := g.ParseReturn(q)
		if err == nil && (!api.ValidID(n.PaymentID) || strings.HasPrefix(n.EventID, "evt_") || strconv.Quote(n.EventID) != `"`+n.EventID+`"`) {
			t.Fatalf("notice = %+v", n)
		}
	})
}
