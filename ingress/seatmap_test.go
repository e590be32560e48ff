package ingress_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http/httptest"
	"testing"
)

// TestMapsArePacked: for who takes that, and the map is the same. What is of one
// viewer alone, or small, is sent as it is.
func TestMapsArePacked(t *testing.T) {
	w := newWorld(t)
	w.openHall()
	get := func(query, accepts string) (packed bool, body []byte) {
		t.Helper()
		r, rec := httptest.NewRequestWithContext(t.Context(), "GET", "/sales/"+theHall+"/seats"+query, nil), httptest.NewRecorder()
		r.Header.Set("Accept-Encoding", accepts)
		w.in.Public().ServeHTTP(rec, r)
		if rec.Code != 200 || rec.Header().Get("Vary") != "Accept-Encoding" {
			t.Fatalf("%d, %v", rec.Code, rec.Header())
		}
		return rec.Header().Get("Content-Encoding") == "gzip", rec.Body.Bytes()
	}
	_, want := get("", "")
	for range 2 { // the second one was packed for the first
		packed, body := get("", "br, gzip")
		z, err := gzip.NewReader(bytes.NewReader(body))
		if !packed || err != nil {
			t.Fatalf("packed %v: %v", packed, err)
		}
		if got, err := io.ReadAll(z); err != nil || !bytes.Equal(got, want) {
			t.Errorf("unpacked %s, want %s: %v", got, want, err)
		}
	}
	for query, accepts := range map[string]string{"": "gzip;q=0", "?plan=0": "gzip"} {
		if packed, _ := get(query, accepts); packed {
			t.Errorf("%q is packed for %q", query, accepts)
		}
	}
}
