// Package web holds the pages for candidates: the booking page of a sale, and
// the page to which a payment gateway sends them back. Everything is embedded.
// The pages run under a policy that allows no inline script and nothing from
// elsewhere.
package web

import (
	"fmt"
	"html/template"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/holdfast/holdfast/sale"
)

var pages = template.Must(template.New("").Funcs(template.FuncMap{"asset": assets.Address}).ParseFS(files, "files/*.html"))

// policy is the Content-Security-Policy of every page.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

type level struct {
	Name   string
	Price  string     // as anybody reads it; the script writes Money as the reader's language does
	Money  sale.Money // the same
	Seated bool       // chosen by name
}

type salePage struct {
	Sale, Title   string
	Opens, Closes string // for people, in the sale's zone
	Zone          string
	OpensMS       int64
	ClosesMS      int64
	HoldMS        int64
	SoftMS        int64 // the longest life of a soft hold
	Levels        []level
	MaxSeats      int
	Seated        bool // some level has named seats
}

// saleAge is how long browsers and edges may keep a booking page. It has nothing
// of the moment in it: times, levels and the sale's clock come from status.json.
const saleAge = "public, max-age=30"

// ShowSale writes the booking page of a sale.
func ShowSale(w http.ResponseWriter, s sale.Sale) error {
	loc, err := s.Location()
	if err != nil {
		loc = time.UTC
	}
	people := func(t time.Time) string {
		return t.In(loc).Format("Monday 2 January 2006, 15:04") + " (" + loc.String() + ")"
	}
	p := salePage{Sale: s.ID, Title: s.Title, Opens: people(s.OpensAt), Closes: people(s.ClosesAt),
		OpensMS: s.OpensAt.UnixMilli(), ClosesMS: s.ClosesAt.UnixMilli(),
		Zone: loc.String(), HoldMS: s.Hold.Milliseconds(), SoftMS: s.SoftHoldMax.Milliseconds(), MaxSeats: s.MaxSeats}
	for _, l := range s.Levels {
		seated := l.Kind == sale.KindSeated
		p.Seated = p.Seated || seated
		p.Levels = append(p.Levels, level{l.Name, price(s.PriceOf(l.Name)), s.PriceOf(l.Name), seated})
	}
	return show(w, "sale.html", saleAge, p)
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
func ShowReturn(w http.ResponseWriter, r Return) error { return show(w, "return.html", "no-store", r) }

func show(w http.ResponseWriter, name, keep string, data any) error {
	var b strings.Builder
	if err := pages.ExecuteTemplate(&b, name, data); err != nil {
		return fmt.Errorf("web: page %s: %w", name, err)
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer") // addresses hold booking ids
	h.Set("Cache-Control", keep)
	_, err := io.WriteString(w, b.String())
	return err
}
