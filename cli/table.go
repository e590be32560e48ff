package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/holdfast/holdfast/sale"
)

// table writes aligned columns; numbers are set right by the caller's format.
type table struct {
	out  io.Writer
	text *bytes.Buffer
	w    *tabwriter.Writer
}

func newTable(out io.Writer, head ...string) *table {
	text := &bytes.Buffer{}
	t := &table{out, text, tabwriter.NewWriter(text, 0, 0, 2, ' ', 0)}
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

// end writes the table, without the spaces that pad empty cells at line ends.
func (t *table) end() error {
	if err := t.w.Flush(); err != nil {
		return err
	}
	for line := range strings.Lines(t.text.String()) {
		if _, err := io.WriteString(t.out, strings.TrimRight(line, " \n")+"\n"); err != nil {
			return err
		}
	}
	return nil
}

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
	case d < time.Hour:
		return d.Round(time.Second).String()
	case d < 24*time.Hour:
		return fmt.Sprintf("%dh%dm", int(d.Hours()), int(d.Minutes())%60)
	}
	return fmt.Sprintf("%dd%dh", int(d.Hours())/24, int(d.Hours())%24)
}
