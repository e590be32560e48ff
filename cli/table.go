package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/holdfast/holdfast/sale"
)

// table writes aligned columns; numbers are set right by the caller's format.
type table struct{ w *tabwriter.Writer }

func newTable(out io.Writer, head ...string) *table {
	t := &table{tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)}
	if len(head) > 0 {
		t.row(toAny(head)...)
	}
	return t
}

func toAny(list []string) []any {
	all := make([]any, len(list))
	for i, s := range list {
		all[i] = s
	}
	return all
}

func (t *table) row(cells ...any) {
	texts := make([]string, len(cells))
	for i, c := range cells {
		texts[i] = strings.NewReplacer("\t", " ", "\n", " ").Replace(fmt.Sprint(c))
	}
	fmt.Fprintln(t.w, strings.Join(texts, "\t"))
}

func (t *table) end() error { return t.w.Flush() }

func writeJSON(out io.Writer, doc any) error {
	enc := json.NewEncoder(out)
	enc.SetIndent("", "  ")
	return enc.Encode(doc)
}

// when is a time for people: in the zone of the sale, and in UTC.
func when(t time.Time, zone *time.Location) string {
	if t.IsZero() {
		return "-"
	}
	local := t.In(zone).Format("2006-01-02 15:04:05 MST")
	if zone == time.UTC || zone.String() == "UTC" {
		return local
	}
	return local + " (" + t.UTC().Format("2006-01-02 15:04:05Z") + ")"
}

func zoneOf(name string) *time.Location {
	loc, err := sale.Sale{Zone: name}.Location()
	if err != nil {
		return time.UTC
	}
	return loc
}

// about is a duration as a person would say it.
func about(d time.Duration) string {
	switch {
	case d < 0:
		return "-" + about(-d)
	case d < time.Second:
		return d.Round(time.Millisecond).String()
	case d < 10*time.Second:
		return d.Round(100 * time.Millisecond).String()
	case d < 24*time.Hour:
		return d.Round(time.Second).String()
	}
	return fmt.Sprintf("%dd%s", int(d/(24*time.Hour)), (d % (24 * time.Hour)).Round(time.Minute).String())
}
