package load

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/holdfast/holdfast/localstack/leak"
)

func TestMain(m *testing.M) { leak.Main(m) }

// crowdAt sends a small crowd to a shop and judges it.
func crowdAt(t *testing.T, s *shop) (Result, []Check) {
	t.Helper()
	var people []Person
	for i := range 45 {
		people = append(people, Person{Code: fmt.Sprintf("C%03d", i), Email: fmt.Sprintf("p%d@example.org", i), Levels: []string{"Hall"}})
	}
	seating := DefaultSeating
	seating.Walk, seating.Release, seating.Hold, seating.MapLag = 0, 0, time.Minute, time.Millisecond
	r, err := Run(t.Context(), Options{
		BaseURL: s.url, Sale: "show", People: people, Levels: []string{"Hall"}, Requests: 60, Rate: 100, Seed: 7,
		Mix: Mix{SameKey: .1, OtherKey: .1}, Paying: Paying{Within: 500 * time.Millisecond, Fail: .2}, Seats: &seating, SettleWithin: 100 * time.Millisecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	return r, Judge(r)
}

// failed are the names of the checks that do not hold.
func failed(checks []Check) (names []string) {
	for _, c := range checks {
		if !c.OK && !c.NotJudged {
			names = append(names, c.Name)
		}
	}
	return names
}

// TestCrowdJudgesTheShop: an honest shop passes, and each fault is noticed by the
// check that is there for it, from outside.
func TestCrowdJudgesTheShop(t *testing.T) {
	for name, c := range map[string]struct {
		fault func(*shop)
		check string
	}{
		"honest":                  {func(*shop) {}, ""},
		"gives seats twice":       {func(s *shop) { s.twice = true }, "no seat was ever given twice"},
		"books a part of a group": {func(s *shop) { s.halves = true }, "no group was ever half held"},
		"shows all seats as free": {func(s *shop) { s.lies = true }, "the map was true at every sample"},
		"forgets bookings":        {func(s *shop) { s.forgets = true }, "every booking a client was told of came to its end"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, checks := crowdAt(t, newShop(t, c.fault))
			bad := failed(checks)
			if c.check == "" && (len(bad) > 0 || !Passed(checks)) {
				t.Errorf("failed: %v\n%+v\n%+v", bad, r.Seats, r.Figures.ByOutcome)
			}
			if c.check != "" && !strings.Contains(strings.Join(bad, "|"), c.check) {
				t.Errorf("%q did not fail, but %q", c.check, bad)
			}
			if r.Watched || len(checks) == len(bad) {
				t.Error("it says that it looked inside")
			}
		})
	}
}

// TestReport: the page holds everything that it shows.
func TestReport(t *testing.T) {
	r, checks := crowdAt(t, newShop(t, func(*shop) {}))
	checks = append(checks, Check{Name: "a <script> check", Detail: "<b>one</b>\ntwo"})
	var page bytes.Buffer
	err := Report{Title: "Load of show", Command: "holdfast load show", Facts: []Fact{{"target", "http://127.0.0.1"}}, Result: r, Checks: checks}.WriteHTML(&page)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Not everything holds", "<svg", "holdfast load show", "no seat was ever given twice", "&lt;b&gt;one", "default-src 'none'", "could not be judged"} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("the page has no %q", want)
		}
	}
	if out := regexp.MustCompile(`(?i)(src|href)\s*=|@import|url\(|<script|<b>`).FindString(page.String()); out != "" {
		t.Errorf("the page has %q", out)
	}
}

// TestScreen draws over itself and shows what counts.
func TestScreen(t *testing.T) {
	var out bytes.Buffer
	show := Screen(&out, "load of show")
	p := Progress{Phase: "crowd", Sent: 50, Total: 100, Figures: Figures{ByOutcome: map[Outcome]int{"201": 40, "sold_out": 10}},
		Series: []Point{{Sent: 10}, {Sent: 30}, {Sent: 10}}, Last: Sample{Caps: map[string]int{"N1": 10}, Used: map[string]int{"N1": 5}, Total: 5, TotalCap: 10}}
	show(p)
	show(p)
	for _, want := range []string{"50 of 100", "201 40   sold_out 10", "30 /s", "5 of 10", "\x1b[8A"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in %q", want, out.String())
		}
	}
}
