package server_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/holdfast/holdfast/payment"
	"github.com/holdfast/holdfast/payment/sandbox/api"
	"github.com/holdfast/holdfast/payment/sandbox/engine"
	"github.com/holdfast/holdfast/payment/sandbox/server"
)

func (w *world) send(t *testing.T, method, path, bearer, body string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, w.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+bearer)
	r.Header.Set(api.HeaderAppKey, "key")
	resp, answer := do(t, r)
	return resp.StatusCode, answer
}

func TestAdmin_TurnsSwitchesAtRunTime(t *testing.T) {
	w := newWorld(t, payment.MovesOnPage)
	for _, path := range []string{"/admin/faults", "/admin/accounts/sandbox/faults"} {
		if status, answer := w.send(t, http.MethodPut, path, adminToken, `{"refuse_create":1}`); status != http.StatusOK {
			t.Fatalf("PUT %s: HTTP %d %s", path, status, answer)
		}
		_, err := w.gateway.Create(t.Context(), payment.CreateRequest{Metadata: payment.Metadata{BookingID: "b0"}, AmountMinor: 1, Currency: "BDT",
			ReturnURL: "https://shop.example/", ExpiresAt: w.clock.Now()})
		if !errors.Is(err, payment.ErrRefused) || w.server.Fired()["refuse_create"] == 0 {
			t.Fatalf("create after PUT %s: %v", path, err)
		}
		if status, answer := w.send(t, http.MethodGet, path, adminToken, ""); status != http.StatusOK || strings.TrimSpace(answer) != "{}" {
			t.Fatalf("the switch is not used up: HTTP %d %s", status, answer)
		}
	}
	w.create(t, "b1")
}

func TestAdmin_RefusesWhatItDoesNotUnderstand(t *testing.T) {
	w := newWorld(t, payment.MovesOnPage)
	for _, test := range []struct {
		method, path, token, body string
		want                      int
	}{
		{http.MethodPut, "/admin/faults", "", `{}`, 401},
		{http.MethodPut, "/admin/faults", adminToken + "x", `{}`, 401},
		{http.MethodGet, "/admin/payments", "secret", ``, 401},
		{http.MethodPut, "/admin/faults", adminToken, `{"refuse_crate":1}`, 400},
		{http.MethodPut, "/admin/faults", adminToken, `{"slow_ms":-1}`, 400},
		{http.MethodPut, "/admin/faults", adminToken, `{"webhook_duplicate":1000}`, 400},
		{http.MethodPut, "/admin/faults", adminToken, `{} {}`, 400},
		{http.MethodPut, "/admin/faults", adminToken, `{"x":"` + strings.Repeat("x", api.MaxBodyBytes) + `"}`, 400},
		{http.MethodPut, "/admin/accounts/nobody/faults", adminToken, `{}`, 404},
		{http.MethodPost, "/admin/payments/pay_1/act", adminToken, `{"action":"pay"}`, 404},
		{http.MethodPost, "/v1/payments", adminToken, `{}`, 401},
		{http.MethodPost, "/v1/payments", "secret", `{"amount_minor":1.5}`, 400},
		{http.MethodPost, "/v1/payments", "secret", `nonsense`, 400},
	} {
		if status, answer := w.send(t, test.method, test.path, test.token, test.body); status != test.want {
			t.Errorf("%s %s %.40s: HTTP %d %s, want %d", test.method, test.path, test.body, status, answer, test.want)
		}
	}
}

// TestAdmin_LedgerInParts reads more payments than one answer holds.
func TestAdmin_LedgerInParts(t *testing.T) {
	w := newWorld(t, payment.MovesOnPage)
	const n = 2100
	for i := range n {
		p, err := w.server.Create("sandbox", fmt.Sprint("b", i), payment.CreateRequest{
			Metadata: payment.Metadata{BookingID: fmt.Sprint("b", i)}, AmountMinor: 100, Currency: "BDT",
			ReturnURL: "https://shop.example/", ExpiresAt: w.clock.Now().Add(1),
		})
		if err != nil {
			t.Fatal(err)
		}
		if i > 0 {
			w.act(t, p.PaymentID, engine.ActPay)
		} else if status, answer := w.send(t, http.MethodPost, "/admin/payments/"+p.PaymentID+"/act", adminToken, `{"action":"pay"}`); status != http.StatusOK {
			t.Fatalf("act: HTTP %d %s", status, answer)
		}
	}
	captured, from := int64(0), 0
	for parts := 1; ; parts++ {
		_, answer := w.send(t, http.MethodGet, fmt.Sprint("/admin/payments?from=", from), adminToken, "")
		var list struct {
			Payments []engine.Entry
			Next     int
		}
		if err := json.Unmarshal([]byte(answer), &list); err != nil {
			t.Fatal(err)
		}
		for _, e := range list.Payments {
			captured += e.CapturedMinor
		}
		if from = list.Next; from == 0 {
			if parts != 3 {
				t.Errorf("%d parts, want 3", parts)
			}
			break
		}
	}
	if captured != n*100 {
		t.Fatalf("captured %d, want %d", captured, n*100)
	}
	if status, answer := w.send(t, http.MethodGet, "/admin/status", adminToken, ""); status != http.StatusOK || !strings.Contains(answer, "webhooks_waiting") {
		t.Fatalf("status: HTTP %d %s", status, answer)
	}
}

func TestAdmin_IsNotThereWithoutAToken(t *testing.T) {
	s, err := server.New(server.Config{Engine: engine.Config{Accounts: []engine.Account{{
		Name: "a", AppKey: "k", AppSecret: "s", WebhookSecret: "h", Payee: "p", Moves: payment.MovesOnPage}}}})
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://sandbox/admin/faults", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer ")
	resp, err := server.InProcess(s).RoundTrip(r)
	if err != nil || resp.StatusCode != http.StatusNotFound {
		t.Fatalf("HTTP %v, %v; want 404", resp, err)
	}
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestInProcess_LostAnswerIsNoAnswer(t *testing.T) {
	w := newWorld(t, payment.MovesOnPage)
	w.faults(t, engine.Faults{Down: 1})
	call := func() (*http.Response, error) {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://sandbox/v1/payments/pay_1", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer secret")
		r.Header.Set(api.HeaderAppKey, "key")
		return server.InProcess(w.server).RoundTrip(r)
	}
	if _, err := call(); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Fatalf("a gateway that is down: %v", err)
	}
	if resp, err := call(); err != nil || resp.StatusCode != http.StatusNotFound {
		t.Fatalf("afterwards: %v, %v", resp, err)
	}
}
