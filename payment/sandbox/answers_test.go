package sandbox_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/holdfast/holdfast/payment"
	"github.com/holdfast/holdfast/payment/sandbox"
)

// canned is a gateway that always answers the same.
type canned struct {
	status int
	body   string
}

func (c canned) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: c.status, Header: http.Header{"Location": {"http://127.0.0.1:1/else"}},
		Body: io.NopCloser(strings.NewReader(c.body)), Request: r}, nil
}

func cannedGateway(t testing.TB, status int, body string) *sandbox.Gateway {
	t.Helper()
	g, err := sandbox.New(sandbox.Config{Name: "page", BaseURL: "http://gateway.example", AppKey: "k", AppSecret: "s",
		WebhookSecret: hookSecret, Payee: "m", Moves: payment.MovesOnPage, HTTPClient: &http.Client{Transport: canned{status, body}}})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// TestAnswers_OnlyTheGatewaysOwnCodesAreANo: what a proxy, a crash or a lie can
// make of an answer leaves the outcome open in every method.
func TestAnswers_OnlyTheGatewaysOwnCodesAreANo(t *testing.T) {
	for name, g := range map[string]*sandbox.Gateway{
		"500":                     cannedGateway(t, 500, `{"code":"internal"}`),
		"502 of a proxy":          cannedGateway(t, 502, `<html>bad gateway</html>`),
		"404 of a proxy":          cannedGateway(t, 404, `404 page not found`),
		"402 of a proxy":          cannedGateway(t, 402, ``),
		"redirect":                cannedGateway(t, 307, ``),
		"empty 200":               cannedGateway(t, 200, ``),
		"200 about nothing":       cannedGateway(t, 200, `{}`),
		"200 about another":       cannedGateway(t, 200, `{"payment_id":"pay_2","status":"cancelled","key":"R:2"}`),
		"200 with a wrong type":   cannedGateway(t, 200, `{"payment_id":7}`),
		"200 that never ends":     cannedGateway(t, 200, strings.Repeat(" ", 1<<20)),
		"a code nobody agreed on": cannedGateway(t, 409, `{"code":"moon_phase"}`),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := g.Create(t.Context(), payment.CreateRequest{Metadata: payment.Metadata{BookingID: "b1"}})
			wantUnknown(t, err)
			_, err = g.Query(t.Context(), "pay_1")
			wantUnknown(t, err)
			wantUnknown(t, g.Cancel(t.Context(), "pay_1"))
			_, err = g.Refund(t.Context(), "pay_1", "R:1", 1)
			wantUnknown(t, err)
			_, err = g.QueryRefund(t.Context(), "pay_1", "R:1")
			wantUnknown(t, err)
		})
	}
}

func TestCreate_URLThatIsNoneIsKeptFromTheCustomer(t *testing.T) {
	for _, u := range []string{"", "javascript:alert(1)", "/pay/1", "http://", "data:text/html,x"} {
		g := cannedGateway(t, 200, `{"payment_id":"pay_1","url":"`+u+`"}`)
		_, err := g.Create(t.Context(), payment.CreateRequest{Metadata: payment.Metadata{BookingID: "b1"}})
		wantUnknown(t, err)
	}
}

func TestCancel_BelievesOnlyAFinalStatus(t *testing.T) {
	for status, want := range map[string]error{"completed": payment.ErrCompleted, "cancelled": nil, "expired": nil, "failed": nil} {
		if err := cannedGateway(t, 200, `{"payment_id":"pay_1","status":"`+status+`"}`).Cancel(t.Context(), "pay_1"); !errors.Is(err, want) {
			t.Errorf("cancel answered %s: %v, want %v", status, err, want)
		}
	}
	for _, status := range []string{"open", "pending", "in_review", ""} {
		wantUnknown(t, cannedGateway(t, 200, `{"payment_id":"pay_1","status":"`+status+`"}`).Cancel(t.Context(), "pay_1"))
	}
}

func FuzzAnswers(f *testing.F) {
	f.Add(200, `{"payment_id":"pay_1","status":"completed","captured_at_ms":1}`)
	f.Add(409, `{"code":"already_completed"}`)
	f.Add(200, `{"payment_id":"pay_1","amount_minor":1e400}`)
	f.Fuzz(func(t *testing.T, status int, body string) {
		g := cannedGateway(t, status, body)
		p, err := g.Query(t.Context(), "pay_1")
		if err == nil && (p.PaymentID != "pay_1" || p.Status == "") {
			t.Fatalf("payment = %+v", p)
		}
		if status != http.StatusOK && err == nil {
			t.Fatalf("HTTP %d was a success", status)
		}
		if s, err := g.QueryRefund(t.Context(), "pay_1", "R:1"); err == nil && s != payment.RefundNone && s != payment.RefundPending && s != payment.RefundDone {
			t.Fatalf("refund status %q", s)
		}
	})
}
