package web

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/holdfast/holdfast/sale"
)

// budget is what one visit may cost on a slow phone: page, style and scripts,
// packed, also with the seat map's scripts.
const budget = 60 << 10

func TestAVisitIsSmall(t *testing.T) {
	s := sale.Sale{ID: "spring", Title: "Spring", Zone: "Asia/Dhaka", MaxSeats: 2, Hold: 10 * time.Minute,
		Levels: []sale.Level{{Name: "N1", Cap: 10}}, Price: sale.Money{AmountMinor: 150000, Currency: "BDT"}}
	hall := s
	hall.Levels = []sale.Level{{Name: "Hall", Kind: sale.KindSeated}}
	for name, show := range map[string]func(http.ResponseWriter) error{
		"hall":   func(w http.ResponseWriter) error { return ShowSale(w, hall) },
		"sale":   func(w http.ResponseWriter) error { return ShowSale(w, s) },
		"return": func(w http.ResponseWriter) error { return ShowReturn(w, Return{Sale: "spring"}) },
	} {
		w := httptest.NewRecorder()
		if err := show(w); err != nil {
			t.Fatal(err)
		}
		size, parts := packed(t, w.Body.Bytes()), regexp.MustCompile(`/assets/([a-z.]+)\?v=([0-9a-f]+)`).FindAllStringSubmatch(w.Body.String(), -1)
		if len(parts) < 5 || name == "hall" && len(parts) < 11 {
			t.Fatalf("%s asks for %d files", name, len(parts))
		}
		for _, p := range parts {
			r := httptest.NewRequest("GET", p[0], nil)
			r.Header.Set("Accept-Encoding", "br, gzip;q=0.8")
			a := httptest.NewRecorder()
			if err := Asset(a, r, p[1]); err != nil {
				t.Fatal(err)
			}
			if a.Header().Get("Content-Encoding") != "gzip" || !strings.Contains(a.Header().Get("Cache-Control"), "immutable") {
				t.Errorf("%s: %v", p[0], a.Header())
			}
			size += a.Body.Len()
		}
		t.Logf("%s: %d bytes packed", name, size)
		if size > budget {
			t.Errorf("%s: %d bytes, %d are allowed", name, size, budget)
		}
	}
}

func packed(t *testing.T, body []byte) int {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write(body); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Len()
}

func TestAssetIsPlainForWhoWantsItPlain(t *testing.T) {
	for accept, want := range map[string]string{"": "", "br": "", "gzip;q=0": "", "gzip;q=0.0": "", "gzip": "gzip", "deflate, gzip;q=1.0": "gzip"} {
		r := httptest.NewRequest("GET", "/assets/style.css", nil)
		r.Header.Set("Accept-Encoding", accept)
		w := httptest.NewRecorder()
		if err := Asset(w, r, "style.css"); err != nil {
			t.Fatal(err)
		}
		if got := w.Header().Get("Content-Encoding"); got != want {
			t.Errorf("%q: %q, want %q", accept, got, want)
		}
		if w.Header().Get("Cache-Control") != "public, max-age=300" {
			t.Errorf("an address without a version is kept for ever: %v", w.Header())
		}
	}
	if err := Asset(httptest.NewRecorder(), httptest.NewRequest("GET", "/assets/sale.html", nil), "sale.html"); err == nil {
		t.Error("a template is served")
	}
}

// TestLanguagesSayTheSame: same keys, same placeholders, and every key that a
// script or a page uses is there.
func TestLanguagesSayTheSame(t *testing.T) {
	en, de := words(t, "en"), words(t, "de")
	holes := regexp.MustCompile(`\{\w+\}`)
	if diff := cmp.Diff(slices.Sorted(maps.Keys(en)), slices.Sorted(maps.Keys(de))); diff != "" {
		t.Fatalf("keys (-en +de):\n%s", diff)
	}
	for k := range en {
		a, b := holes.FindAllString(en[k], -1), holes.FindAllString(de[k], -1)
		slices.Sort(a)
		slices.Sort(b)
		if diff := cmp.Diff(a, b); diff != "" {
			t.Errorf("%s (-en +de):\n%s", k, diff)
		}
	}
	used := 0
	for _, name := range []string{"booking.js", "view.js", "return.js", "attempt.js", "common.js", "seats.js", "choice.js", "sale.html", "return.html"} {
		body, err := files.ReadFile("files/" + name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`(?:\bt\(|nothing\(|data-t=|row\(list, )"([a-z_]+)"`).FindAllStringSubmatch(string(body), -1) {
			used++
			if en[m[1]] == "" && !strings.HasSuffix(m[1], "_") {
				t.Errorf("%s uses %q, which no language has", name, m[1])
			}
		}
	}
	if used < 40 {
		t.Errorf("only %d uses of words were found", used)
	}
}

func words(t *testing.T, lang string) map[string]string {
	t.Helper()
	body, err := files.ReadFile("files/words." + lang + ".js")
	if err != nil {
		t.Fatal(err)
	}
	_, object, ok := strings.Cut(string(body), " = ")
	if !ok {
		t.Fatalf("words.%s.js assigns nothing", lang)
	}
	var m map[string]string
	if err := json.Unmarshal([]byte(strings.TrimSuffix(strings.TrimSpace(object), ";")), &m); err != nil {
		t.Fatalf("words.%s.js: %v", lang, err)
	}
	return m
}
