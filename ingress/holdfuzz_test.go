package ingress_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// FuzzHolds: whatever is sent as a choice of seats, or to change or book one: no
// panic, no 5xx, JSON that can be read, and a refused choice holds nothing.
func FuzzHolds(f *testing.F) {
	for _, s := range []struct{ method, path, body string }{
		{"POST", "/sales/opera/holds", chooses(1, "Hall", `"seats":["A1","A2"],"seconds":60`)},
		{"POST", "/sales/opera/holds", chooses(1, "Hall", `"best":{"count":2,"section":"Box"}`)},
		{"POST", "/sales/opera/holds", chooses(1, "Hall", `"seats":["A1","A1"]`)},
		{"POST", "/sales/opera/holds", chooses(1, "Hall", `"seats":[],"seconds":-1`)},
		{"POST", "/sales/opera/holds", chooses(1, "Stand", `"seats":["A1"]`)},
		{"POST", "/sales/opera/holds", `{"seats":[[[[[[]]]]]]}`},
		{"POST", "/sales/opera/holds", chooses(1, "Hall", `"best":{"count":1e99}`)},
		{"PATCH", "/holds/%00", `{"seconds":60}`},
		{"PATCH", "/holds/x", `{"seats":["A1"],"level":"Side"}`},
		{"DELETE", "/holds/..%2f", ``},
		{"POST", "/sales/opera/bookings", `{"code":"CODE-0001","email":"person.1@example.org","hold_id":"\u0000"}`},
		{"GET", "/sales/opera/seats?hold=%ff", ``},
	} {
		f.Add(s.method, s.path, []byte(s.body))
	}
	f.Fuzz(func(t *testing.T, method, path string, body []byte) {
		req, err := http.NewRequestWithContext(t.Context(), method, "http://book.example", bytes.NewReader(body))
		if err != nil {
			return
		}
		u, err := req.URL.Parse(path)
		if err != nil || u.Host != "book.example" || strings.HasSuffix(u.Path, "/stream") {
			return // a stream does not end
		}
		req.URL, req.RequestURI, req.RemoteAddr = u, path, "192.0.2.1:1"
		req.Header.Set("Content-Type", "application/json")
		w := newWorld(t)
		w.openHall()
		rec := httptest.NewRecorder()
		w.in.Public().ServeHTTP(rec, req)
		if rec.Code >= 500 || strings.Contains(w.logs.String(), "panic") {
			t.Fatalf("%s %s: %d %s", method, path, rec.Code, rec.Body)
		}
		if strings.Contains(rec.Header().Get("Content-Type"), "json") && rec.Body.Len() > 0 && !json.Valid(rec.Body.Bytes()) {
			t.Fatalf("%s %s: not JSON: %s", method, path, rec.Body)
		}
		if rec.Code >= 400 && (w.hallUsed() != 0 || len(w.events()) != 0 || len(w.pay.Payments()) != 0) {
			t.Fatalf("%s %s: refused with %d, and something is held", method, path, rec.Code)
		}
	})
}
