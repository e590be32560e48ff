package report

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"strings"
	"time"
)

//go:embed files
var files embed.FS

// style is in the page, and the page's policy allows that very text alone.
var style = func() string {
	css, err := files.ReadFile("files/report.css")
	if err != nil {
		panic(err) // it is embedded
	}
	return "\n" + string(css)
}()

// Policy is the Content-Security-Policy of a report: its own style, and nothing
// else of any kind.
var Policy = func() string {
	sum := sha256.Sum256([]byte(style))
	return "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; base-uri 'none'; form-action 'none'"
}()

var page = template.Must(template.New("report.html").Funcs(template.FuncMap{
	"count": grouped, "money": amount, "words": func(s string) string { return strings.ReplaceAll(s, "_", " ") }, "ms": milliseconds,
}).ParseFS(files, "files/report.html"))

// drawing is what the page is made from: the document and nothing else but the
// key's name, so that it can be made again.
type drawing struct {
	Document
	Style          template.CSS
	Policy, Key    string
	Seats, Rates   *picture
	Zone           string
	Verdict, Class string
	people         *time.Location
}

// Time is an instant for people, in the sale's zone.
func (d drawing) Time(t time.Time) string {
	if t.IsZero() {
		return "never"
	}
	return t.In(d.people).Format("2 January 2006, 15:04:05")
}

// Until is the second time of a span, short where the day is the same.
func (d drawing) Until(from, to time.Time) string {
	if from.Equal(to) {
		return ""
	}
	if from.In(d.people).Format(time.DateOnly) == to.In(d.people).Format(time.DateOnly) {
		return to.In(d.people).Format(time.TimeOnly)
	}
	return d.Time(to)
}

func draw(w io.Writer, d Document, public string) error {
	zone, err := time.LoadLocation(d.Zone)
	if err != nil {
		zone = time.UTC
	}
	g := drawing{Document: d, Style: template.CSS(style), Policy: Policy, Key: public, people: zone, Zone: zone.String(),
		Seats: seatsPicture(d, zone), Rates: ratesPicture(d, zone)}
	g.Verdict, g.Class = verdict(d)
	if err := page.Execute(w, g); err != nil {
		return fmt.Errorf("report: draw the page of sale %s: %w", d.Sale, err)
	}
	return nil
}

func verdict(d Document) (text, class string) {
	switch {
	case d.Audit.Frozen:
		return "Not judged: Redis was lost or being rebuilt when the report was made.", "bad"
	case !d.Holds():
		return "Not everything holds. See the sums and the audit below.", "bad"
	case d.Open:
		return "Every promise holds. The sale is still open: these are figures of the moment.", "good"
	}
	return "Every promise holds: each sum adds up, and the audit found nothing.", "good"
}

// grouped writes a number with thin spaces between thousands.
func grouped(n any) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "\u202f" + s[i:]
	}
	return s
}

// amount writes minor units as the pages do: two decimals fit nearly all
// currencies; those without any are listed.
func amount(minor int64, currency string) string {
	if strings.Contains("JPY KRW VND CLP ISK UGX XAF XOF", currency) {
		return grouped(minor)
	}
	return fmt.Sprintf("%s.%02d", grouped(minor/100), minor%100)
}

func milliseconds(ms float64) string {
	if ms < 1000 {
		return fmt.Sprintf("≤ %g ms", ms)
	}
	return fmt.Sprintf("≤ %g s", ms/1000)
}
