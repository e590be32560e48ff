package load

import (
	_ "embed" // the report's page
	"fmt"
	"html/template"
	"io"
	"math"
	"strings"
	"time"
)

//go:embed report.html
var reportPage string

var reportTemplate = template.Must(template.New("report").Parse(reportPage))

// Report is a run as a page that needs nothing beside itself: no script, no
// style sheet or font from elsewhere.
type Report struct {
	Title   string // what was loaded
	Command string // repeats the run
	At      time.Time
	Facts   []Fact // what whoever reads the figures has to know: target, sale, profile, seed
	Result  Result
	Checks  []Check
}

// Fact is a name with its value.
type Fact struct{ Name, Value string }

// reportView is what the page shows.
type reportView struct {
	Report
	Verdict, VerdictClass string
	Kinds                 []kindRow
	Plots                 []plotView
}

type kindRow struct {
	Kind     Kind
	Requests int
	Latency  Latency
	Answers  string
}

type plotView struct {
	Title, Unit string
	Legend      []legend
	SVG         template.HTML
}

type legend struct{ Class, Name string }

// Mark is the check's mark as the page shows it.
func (c Check) Mark() string { return c.mark() }

// Lines are the lines of the check's detail.
func (c Check) Lines() []string { return strings.Split(c.Detail, "\n") }

// WriteHTML writes the report.
func (r Report) WriteHTML(out io.Writer) error {
	v := reportView{Report: r, Verdict: "Every check that could be judged holds", VerdictClass: "ok"}
	if !Passed(r.Checks) {
		v.Verdict, v.VerdictClass = "Not everything holds", "fail"
	}
	f := r.Result.Figures
	for _, k := range sorted(f.ByKind) {
		row := kindRow{Kind: k, Latency: f.Latency[k], Answers: answers(f.ByKind[k])}
		for _, n := range f.ByKind[k] {
			row.Requests += n
		}
		v.Kinds = append(v.Kinds, row)
	}
	for _, p := range plots(r.Result.Series) {
		view := plotView{Title: p.title, Unit: p.unit, SVG: p.svg()}
		for _, l := range p.lines {
			view.Legend = append(view.Legend, legend{l.class, l.name})
		}
		v.Plots = append(v.Plots, view)
	}
	if err := reportTemplate.Execute(out, v); err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	return nil
}

// plots are the charts of a run, in the order of the page.
func plots(series []Point) []plot {
	won := line{name: "held or booked (2xx)", class: "a"}
	full := line{name: "full or taken", class: "b"}
	refused := line{name: "refused otherwise (4xx)", class: "c"}
	failed := line{name: "503 or no answer", class: "d"}
	p50, p99, most := line{name: "p50", class: "a"}, line{name: "p99", class: "c"}, line{name: "slowest", class: "d"}
	seats := line{name: "seats in use", class: "a"}
	looked := false
	for _, s := range series {
		by := map[string]float64{}
		for o, n := range s.Outcomes {
			by[o.group()] += float64(n)
		}
		for group, l := range map[string]*line{"won": &won, "full": &full, "refused": &refused, "failed": &failed} {
			l.values = append(l.values, by[group])
		}
		for l, ms := range map[*line]float64{&p50: s.Latency.P50MS, &p99: s.Latency.P99MS, &most: s.Latency.MaxMS} {
			if s.Sent == 0 {
				ms = math.NaN()
			}
			l.values = append(l.values, ms)
		}
		used := float64(s.Used)
		if s.Used < 0 {
			used = math.NaN()
		}
		looked = looked || s.Used >= 0
		seats.values = append(seats.values, used)
	}
	list := []plot{
		{"Answers", "requests that were due in each second, by answer", []line{won, full, refused, failed}},
		{"Latency", "ms, from when a request was due", []line{p50, p99, most}},
	}
	if looked {
		list = append(list, plot{"Seats in use", "held and paid", []line{seats}})
	}
	return list
}

// group sorts outcomes for the eye.
func (o Outcome) group() string {
	switch o {
	case "200", "201":
		return "won"
	case "level_full", "sold_out", "seat_taken":
		return "full"
	case "error", "unavailable", "payment_unavailable":
		return "failed"
	}
	if strings.HasPrefix(string(o), "http_5") {
		return "failed"
	}
	return "refused"
}
