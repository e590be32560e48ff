package ingress_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/holdfast/holdfast/sale"
)

// Whatever is sent: no panic, no 5xx but 503, every answer of the API is JSON or
// a page, and a refused request writes nothing.
func FuzzHTTP(f *testing.F) {
	hasher, err := sale.NewHasher([]byte(secret))
	if err != nil {
		f.Fatal(err)
	}
	id, err := hasher.BookingID(strings.NewReader("any 12 bytes")) // minted, and nobody's: it is looked for
	if err != nil {
		f.Fatal(err)
	}
	for _, s := range []struct{ method, target, kind, key, body string }{
		{"POST", "/sales/spring/bookings", "application/json", "k", wish(1, "N1")},
		{"POST", "/sales/spring/bookings", "application/x-www-form-urlencoded", "", "code=CODE-0001&email=person.1%40example.org&level=N1&seats=1"},
		{"POST", "/sales/spring/bookings", "multipart/form-data; boundary=x", "", "--x"},
		{"POST", "/sales/spring/bookings", "application/json; charset=\"", "\x00", `{"code":"\u0000","seats":NaN}`},
		{"POST", "/sales/%2e%2e/bookings", "", "", "{}"}, {"POST", "/sales//bookings", "", "", "{}"},
		{"GET", "/bookings/" + id + "?sale=%00", "", "", ""}, {"DELETE", "/bookings/" + id, "", "", ""}, {"DELETE", "/bookings/L-L-" + id, "", "", ""},
		{"GET", "/sales/spring/status.json", "", "", ""}, {"GET", "/sales/spring", "", "", ""}, {"GET", "/sales/%ff", "", "", ""},
		{"GET", "/payments/page/return?payment_id=x&status=success&booking=%22%3E", "", "", ""}, {"GET", "/payments/page/return?%zz", "", "", ""},
		{"POST", "/webhooks/page", "application/json", "", `{"id":"evt_1","account":"page","payment_id":"pay_1"}`},
		{"GET", "/assets/..%2fweb.go", "", "", ""}, {"GET", "/assets/style.css", "", "", ""}, {"GET", "/openapi.json", "", "", ""},
		{"OPTIONS", "*", "", "", ""}, {"PATCH", "/", "", "", ""}, {"GET", "/admin/sales", "", "", ""},
	} {
		f.Add(s.method, s.target, s.kind, s.key, []byte(s.body))
	}
	f.Fuzz(func(t *testing.T, method, target, kind, key string, body []byte) {
		req, err := http.NewRequestWithContext(t.Context(), method, "http://book.example", bytes.NewReader(body))
		if err != nil || strings.ContainsAny(method, " \r\n") {
			return
		}
		u, err := req.URL.Parse(target)
		if err != nil || u.Host != "book.example" {
			return
		}
		req.URL, req.RequestURI, req.RemoteAddr = u, target, "192.0.2.1:1"
		req.Header.Set("Content-Type", kind)
		if key != "" {
			req.Header.Set("Idempotency-Key", key)
		}
		w := newWorld(t)
		rec := httptest.NewRecorder()
		w.in.Public().ServeHTTP(rec, req)
		if rec.Code >= 500 { // nothing is broken here, so not even a 503 is right
			t.Fatalf("%s %s: %d %s", method, target, rec.Code, rec.Body)
		}
		if strings.Contains(w.logs.String(), "panic") {
			t.Fatalf("a panic: %s", w.logs.String())
		}
		if strings.Contains(rec.Header().Get("Content-Type"), "json") && rec.Body.Len() > 0 && !json.Valid(rec.Body.Bytes()) {
			t.Fatalf("%s %s: not JSON: %s", method, target, rec.Body)
		}
		if rec.Code >= 400 && (w.used() != 0 || len(w.events()) != 0 || len(w.pay.Payments()) != 0) {
			t.Fatalf("%s %s: refused with %d, and something is written", method, target, rec.Code)
		}
	})
}
