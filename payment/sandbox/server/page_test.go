package server_test

import (
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/holdfast/holdfast/payment"
	"github.com/holdfast/holdfast/payment/sandbox/engine"
)

// browser follows no redirect, to see where it would go.
func browser() *http.Client {
	return &http.Client{
		Transport:     &http.Transport{DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

func do(t *testing.T, r *http.Request) (*http.Response, string) {
	t.Helper()
	resp, err := browser().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(body)
}

func get(t *testing.T, target string) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, target, nil)
	if err != nil {
		t.Fatal(err)
	}
	return do(t, r)
}

func post(t *testing.T, target string, form url.Values, header http.Header) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, target, strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	for k, v := range header {
		r.Header[k] = v
	}
	return do(t, r)
}

// elements returns all elements of a name with their attributes.
func elements(t *testing.T, page, name string) []map[string]string {
	t.Helper()
	root, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	var found []map[string]string
	for n := range root.Descendants() {
		if n.Type == html.ElementNode && n.Data == name {
			attributes := map[string]string{}
			for _, a := range n.Attr {
				attributes[a.Key] = a.Val
			}
			found = append(found, attributes)
		}
	}
	return found
}

func TestPage_ButtonsDoWhatTheySay(t *testing.T) {
	for _, test := range []struct {
		action engine.Action
		moves  payment.Moves
		status string
		then   payment.Status
	}{
		{engine.ActPay, payment.MovesOnPage, "success", payment.StatusCompleted},
		{engine.ActPay, payment.MovesOnExecute, "success", payment.StatusApproved},
		{engine.ActFail, payment.MovesOnPage, "failure", payment.StatusFailed},
		{engine.ActClose, payment.MovesOnPage, "cancel", payment.StatusOpen},
		{engine.ActSlow, payment.MovesOnPage, "success", payment.StatusPending},
		{engine.ActLate, payment.MovesOnPage, "success", payment.StatusOpen},
	} {
		t.Run(string(test.action)+" "+string(test.moves), func(t *testing.T) {
			w := newWorld(t, test.moves)
			s := w.create(t, "b1")
			resp, _ := post(t, s.URL, url.Values{"action": {string(test.action)}}, nil)
			back, err := url.Parse(resp.Header.Get("Location"))
			if err != nil || resp.StatusCode != http.StatusSeeOther {
				t.Fatalf("HTTP %d to %v, %v", resp.StatusCode, back, err)
			}
			if q := back.Query(); back.Host != "shop.example" || q.Get("status") != test.status || q.Get("sale") != "spring" {
				t.Fatalf("back to %s, want status %s and the shop's own query", back, test.status)
			}
			n, err := w.gateway.ParseReturn(back.Query())
			if err != nil || n.PaymentID != s.PaymentID {
				t.Fatalf("return = %+v, %v", n, err)
			}
			if p, err := w.gateway.Query(t.Context(), n.PaymentID); err != nil || p.Status != test.then {
				t.Fatalf("query = %q, %v; want %q", p.Status, err, test.then)
			}
		})
	}
}

func TestPage_LateByTheCustomersOwnSeconds(t *testing.T) {
	w := newWorld(t, payment.MovesOnPage)
	s := w.create(t, "b1")
	post(t, s.URL, url.Values{"action": {"late"}, "after_s": {"7"}}, nil)
	w.clock.Advance(10*time.Minute + 6*time.Second)
	if p, err := w.gateway.Query(t.Context(), s.PaymentID); err != nil || p.Status != payment.StatusOpen {
		t.Fatalf("too early: %q, %v", p.Status, err)
	}
	w.clock.Advance(time.Second)
	if p, err := w.gateway.Query(t.Context(), s.PaymentID); err != nil || p.Status != payment.StatusCompleted {
		t.Fatalf("query = %q, %v; want completed", p.Status, err)
	}
}

func TestPage_IsAccessibleAndNeedsNoScript(t *testing.T) {
	w := newWorld(t, payment.MovesOnPage)
	resp, page := get(t, w.create(t, "b1").URL)
	if policy := resp.Header.Get("Content-Security-Policy"); !strings.HasPrefix(policy, "default-src 'none';") || strings.Contains(policy, "unsafe") ||
		!strings.Contains(policy, "form-action 'self' https://shop.example;") {
		t.Fatalf("policy = %q", policy)
	}
	if len(elements(t, page, "script")) != 0 || strings.Contains(page, "style=") || strings.Contains(page, "onclick") {
		t.Fatal("the page has scripts or inline styles; its policy forbids them")
	}
	if lang := elements(t, page, "html")[0]["lang"]; lang != "en" || len(elements(t, page, "h1")) != 1 || len(elements(t, page, "main")) != 1 {
		t.Fatalf("lang %q, or not exactly one h1 and main", lang)
	}
	labelled := map[string]bool{}
	for _, label := range elements(t, page, "label") {
		labelled[label["for"]] = true
	}
	for _, input := range elements(t, page, "input") {
		if !labelled[input["id"]] {
			t.Errorf("no label for %v", input)
		}
	}
	ids := map[string]bool{}
	for _, p := range elements(t, page, "p") {
		ids[p["id"]] = true
	}
	actions := map[string]bool{}
	for _, button := range elements(t, page, "button") {
		actions[button["value"]] = true
		if !ids[button["aria-describedby"]] {
			t.Errorf("button %v is described by nothing", button)
		}
	}
	for _, action := range []string{"pay", "fail", "late", "slow", "close"} {
		if !actions[action] {
			t.Errorf("no button %q", action)
		}
	}
	for _, form := range elements(t, page, "form") {
		if form["method"] != "post" {
			t.Errorf("form %v does not post", form)
		}
	}
}

func TestPage_EscapesEverything(t *testing.T) {
	w := newWorld(t, payment.MovesOnPage)
	_, page := get(t, w.create(t, `"><script>alert(1)</script>`).URL)
	if len(elements(t, page, "script")) != 0 || len(elements(t, page, "b")) != 0 {
		t.Fatalf("markup of the shop came through:\n%s", page)
	}
	for _, want := range []string{"Spring &lt;b&gt;exam&lt;/b&gt;", "&lt;script&gt;"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not show %s", want)
		}
	}
}

func TestCase_C10_PageOfAnEndedSessionOffersNoPayment(t *testing.T) {
	w := newWorld(t, payment.MovesOnPage)
	s := w.create(t, "b1")
	if err := w.gateway.Cancel(t.Context(), s.PaymentID); err != nil {
		t.Fatal(err)
	}
	_, page := get(t, s.URL)
	if len(elements(t, page, "button")) != 0 || !strings.Contains(page, "can&#39;t be paid any more") && !strings.Contains(page, "can't be paid any more") {
		t.Fatalf("the page of a cancelled payment looks payable:\n%s", page)
	}
	resp, page := post(t, s.URL, url.Values{"action": {"pay"}}, nil)
	if resp.StatusCode != http.StatusConflict || len(elements(t, page, "button")) != 0 {
		t.Fatalf("paying it: HTTP %d", resp.StatusCode)
	}
}

func TestPage_RefusesStrangers(t *testing.T) {
	w := newWorld(t, payment.MovesOnPage)
	s := w.create(t, "b1")
	if resp, _ := post(t, s.URL, url.Values{"action": {"pay"}}, http.Header{"Sec-Fetch-Site": {"cross-site"}}); resp.StatusCode != http.StatusForbidden {
		t.Errorf("a form of another site: HTTP %d", resp.StatusCode)
	}
	if resp, _ := post(t, s.URL, url.Values{"action": {"steal"}}, nil); resp.StatusCode != http.StatusBadRequest {
		t.Errorf("an unknown action: HTTP %d", resp.StatusCode)
	}
	if resp, page := get(t, w.url+"/pay/pay_nobody"); resp.StatusCode != http.StatusNotFound || !strings.Contains(page, "Payment not found") {
		t.Errorf("an unknown payment: HTTP %d", resp.StatusCode)
	}
	if resp, _ := get(t, w.url+"/assets/page.css"); resp.StatusCode != http.StatusOK || !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/css") {
		t.Errorf("style sheet: HTTP %d", resp.StatusCode)
	}
	if p, err := w.gateway.Query(t.Context(), s.PaymentID); err != nil || p.Status != payment.StatusOpen {
		t.Fatalf("query = %q, %v; want open", p.Status, err)
	}
}
