package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/holdfast/holdfast/operator"
)

// TestMayLoad: where a crowd may be sent.
func TestMayLoad(t *testing.T) {
	for _, c := range []struct {
		base, sale string
		peak       float64
		own, ok    bool
	}{
		{"http://127.0.0.1:8080", "spring", 5000, false, true},
		{"http://[::1]:8080", "spring", 1, false, true},
		{"http://localhost", "spring", 1, false, true},
		{"https://seats.example.org", "spring", 1, false, false},
		{"https://seats.example.org", "spring", 5000, true, true},
		{"https://seats.example.org", "rehearsal-1", 1000, false, true},
		{"https://seats.example.org", "rehearsal-1", 1001, false, false},
		{"https://seats.example.org", "rehearsal", 1, false, false},
		{"http://127.0.0.1.example.org", "spring", 1, false, false},
		{"http://localhost.example.org", "spring", 1, false, false},
		{"http://10.0.0.1", "spring", 1, false, false},
	} {
		if err := mayLoad(c.base, c.sale, c.peak, c.own); (err == nil) != c.ok {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// TestLoadRefusesBeforeItSendsAnything: what can't be understood, what has no
// bound, and whose sale it is not.
func TestLoadRefusesBeforeItSendsAnything(t *testing.T) {
	x := newTown(t)
	far := "https://seats.example.org"
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"load"}, exitUsage, "SALE is missing"},
		{[]string{"load", "spring"}, exitUsage, "--roster FILE is missing"},
		{[]string{"load", "spring", "--roster", "x", "--rate", "0"}, exitUsage, "bounded"},
		{[]string{"load", "spring", "--roster", "x", "--rate", "30000"}, exitUsage, "bounded"},
		{[]string{"load", "spring", "--roster", "x", "--for", "2h"}, exitUsage, "bounded"},
		{[]string{"load", "spring", "--roster", "x", "--profile", "5000x30m"}, exitUsage, "bounded"},
		{[]string{"load", "spring", "--roster", "x", "--profile", "fast"}, exitUsage, "no step"},
		{[]string{"load", "spring", "--roster", "x", "--mix", "friends=1%"}, exitUsage, "known are same-key"},
		{[]string{"load", "spring", "--roster", "x", "--paying", "gold=1%"}, exitUsage, "known are abandon"},
		{[]string{"load", "spring", "--roster", "x", "--target", "seats"}, exitUsage, "no base URL"},
		{[]string{"load", "spring", "--roster", "x", "--inside", "perhaps"}, exitUsage, "auto, yes or no"},
		{[]string{"load", "spring", "--roster", "x", "--target", far}, exitRefused, "real seats from real people"},
		{[]string{"rehearse", "--id", "spring"}, exitUsage, "does not begin with"},
		{[]string{"rehearse", "--people", "0"}, exitUsage, "--people"},
		{[]string{"rehearse", "--hold", "1s"}, exitUsage, "--hold"},
		{[]string{"rehearse", "--clean", "spring"}, exitRefused, "never deleted"},
	} {
		r := x.run(c.args...)
		if r.code != c.code || !strings.Contains(r.err, c.says) {
			t.Errorf("%v: exit code %d, %q", c.args, r.code, r.err)
		}
	}
}

// TestNobodyAppliesARehearsal: only holdfast rehearse makes sales with the mark.
func TestNobodyAppliesARehearsal(t *testing.T) {
	x := newTown(t)
	file := filepath.Join(t.TempDir(), "sale.yaml")
	body := "sale: rehearsal-1\ntitle: T\ntime_zone: UTC\nopens_at: 2027-03-01T10:00:00Z\ncloses_at: 2027-03-02T10:00:00Z\nhold: 10m\nprice: {amount_minor: 1, currency: EUR}\nlevels:\n  - {level: A, cap: 1}\n"
	if err := os.WriteFile(file, []byte(body), 0o600); err != nil {
		t.Fatal(err)
	}
	if r := x.run("sale", "apply", file); r.code != exitRefused || !strings.Contains(r.err, "holdfast rehearse") || x.opened != 0 {
		t.Errorf("%+v", r)
	}
}

// TestStatusShowsTheMark: whoever looks at a rehearsal sees that it is one.
func TestStatusShowsTheMark(t *testing.T) {
	for id, want := range map[string]bool{"rehearsal-1": true, "spring": false} {
		var page strings.Builder
		if err := printView(&page, operator.View{Sale: id, Zone: "UTC"}, time.Now()); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(page.String(), "REHEARSAL") != want {
			t.Errorf("%s: %s", id, page.String())
		}
	}
}
