// Package web holds the pages for candidates: the booking page of a sale, and
// the page to which a payment gateway sends them back. Everything is embedded.
// The pages run under a policy that allows no inline script and nothing from
// elsewhere.
package web

import (
	"embed"
	"fmt"
	"html/template"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/holdfast/holdfast/sale"
)

//go:embed files
var files embed.FS

var pages = template.Must(template.ParseFS(files, "files/*.html"))

// policy is the Content-Security-Policy of every page.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// assets are the files that pages may ask for, with their types.
var assets = map[string]string{
	"style.css":  "text/css; charset=utf-8",
	"common.js":  "text/javascript; charset=utf-8",
	"booking.js": "text/javascript; charset=utf-8",
	"return.js":  "text/javascript; charset=utf-8",
}

// Asset answers with an embedded file.
func Asset(w http.ResponseWriter, _ *http.Request, name string) error {
	kind, ok := assets[name]
	if !ok {
		http.Error(w, "not found", http.StatusNotFound)
		return nil
	}
	body, err := files.ReadFile("files/" + name)
	if err != nil {
		return fmt.Errorf("web: read %s: %w", name, err)
	}
	h := w.Header()
	h.Set("Content-Type", kind)
	h.Set("Cache-Control", "public, max-age=300")
	h.Set("X-Content-Type-Options", "nosniff")
	_, err = w.Write(body)
	return err
}

type level struct{ Name, Price string }

type salePage struct {
	Sale, Title     string
	Opens, Closes   string // for people, in the sale's zone
	OpensMS         int64
	ClosesMS, NowMS int64
	Levels          []level
	MaxSeats        int
}

// ShowSale writes the booking page of a sale. now is the sale's clock; the page
// counts down by the difference to it, not by the phone's own time.
func ShowSale(w http.ResponseWriter, s sale.Sale, now time.Time) error {
	loc, err := s.Location()
	if err != nil {
		loc = time.UTC
	}
	people := func(t time.Time) string {
		return t.In(loc).Format("Monday 2 January 2006, 15:04") + " (" + loc.String() + ")"
	}
	p := salePage{Sale: s.ID, Title: s.Title, Opens: people(s.OpensAt), Closes: people(s.ClosesAt),
		OpensMS: s.OpensAt.UnixMilli(), ClosesMS: s.ClosesAt.UnixMilli(), NowMS: now.UnixMilli(), MaxSeats: s.MaxSeats}
	for _, l := range s.Levels {
		if l.Kind == sale.KindSeated {
			continue // chosen on a map, not by number
		}
		p.Levels = append(p.Levels, level{l.Name, price(s.PriceOf(l.Name))})
	}
	return show(w, "sale.html", p)
}

// price writes an amount for people. Two decimals fit nearly all currencies;
// those without any are listed.
func price(m sale.Money) string {
	if strings.Contains("JPY KRW VND CLP ISK UGX XAF XOF", m.Currency) {
		return fmt.Sprintf("%s %d", m.Currency, m.AmountMinor)
	}
	return fmt.Sprintf("%s %d.%02d", m.Currency, m.AmountMinor/100, m.AmountMinor%100)
}

// Return is what the page after a payment knows: which booking to ask about.
type Return struct{ BookingID, Sale string }

// ShowReturn writes the page to which a gateway sends the customer back. It
// says nothing about the payment itself: it asks until it knows.
func ShowReturn(w http.ResponseWriter, r Return) error { return show(w, "return.html", r) }

func show(w http.ResponseWriter, name string, data any) error {
	var b strings.Builder
	if err := pages.ExecuteTemplate(&b, name, data); err != nil {
		return fmt.Errorf("web: page %s: %w", name, err)
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer") // addresses hold booking ids
	h.Set("Cache-Control", "no-store")
	_, err := io.WriteString(w, b.String())
	return err
}
