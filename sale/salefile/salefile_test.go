package salefile_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/holdfast/holdfast/sale"
	"github.com/holdfast/holdfast/sale/salefile"
)

func TestParseTheExample(t *testing.T) {
	file, err := os.ReadFile("../../examples/spring.yaml")
	if err != nil {
		t.Fatal(err)
	}
	got, err := salefile.Parse(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	want := sale.Sale{
		ID: "spring", Title: "Spring examination", Zone: "Asia/Dhaka",
		OpensAt:  time.Date(2027, 3, 1, 4, 0, 0, 0, time.UTC),
		ClosesAt: time.Date(2027, 3, 1, 16, 0, 0, 0, time.UTC),
		Hold:     10 * time.Minute, Price: sale.Money{AmountMinor: 350000, Currency: "BDT"},
		TotalCap: 20700, MaxSeats: 1, SoftHoldMax: 10 * time.Minute,
		Levels: []sale.Level{
			{Name: "N1", Cap: 1200, Kind: sale.KindCounted}, {Name: "N2", Cap: 2500, Kind: sale.KindCounted}, {Name: "N3", Cap: 4500, Kind: sale.KindCounted},
			{Name: "N4", Cap: 6500, Kind: sale.KindCounted}, {Name: "N5", Cap: 6800, Kind: sale.KindCounted},
		},
		Ages: sale.DeriveAges(10 * time.Minute),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

const full = `levels:
  - {level: N1, cap: 10}
  - level: Hall
    price: {amount_minor: 0, currency: EUR}
    seats: [A-1, A-2, {seat: B-1, score: 10}, {seat: B-2}]
  - {level: Box, kind: seated, cap: 1, seats: [X1]}
  - {level: Later, kind: counted, cap: 0}
total_cap: 12
max_seats: 4
soft_hold_max: 15m
hold: 90s
ages: {attached_max: 20m, request_max: 7s}
price: {currency: EUR, amount_minor: 1250}
closes_at: 2027-06-01 22:00
opens_at: "2027-06-01T17:17:30"
time_zone: Europe/Berlin
title: "Summer: concert"
sale: summer-27
`

func TestParseEveryFieldInAnyOrder(t *testing.T) {
	got, err := salefile.Parse(strings.NewReader(full))
	if err != nil {
		t.Fatal(err)
	}
	ages := sale.DeriveAges(90 * time.Second)
	ages.AttachedMax, ages.RequestMax = 20*time.Minute, 7*time.Second
	want := sale.Sale{
		ID: "summer-27", Title: "Summer: concert", Zone: "Europe/Berlin",
		OpensAt:  time.Date(2027, 6, 1, 15, 17, 30, 0, time.UTC),
		ClosesAt: time.Date(2027, 6, 1, 20, 0, 0, 0, time.UTC),
		Hold:     90 * time.Second, Price: sale.Money{AmountMinor: 1250, Currency: "EUR"}, TotalCap: 12, MaxSeats: 4, SoftHoldMax: 15 * time.Minute,
		Levels: []sale.Level{
			{Name: "N1", Cap: 10, Kind: sale.KindCounted},
			{Name: "Hall", Cap: 4, Kind: sale.KindSeated, Price: &sale.Money{Currency: "EUR"}, Seats: []sale.Seat{{Name: "A-1", Score: 1}, {Name: "A-2", Score: 2}, {Name: "B-1", Score: 10}, {Name: "B-2", Score: 4}}},
			{Name: "Box", Cap: 1, Kind: sale.KindSeated, Seats: []sale.Seat{{Name: "X1", Score: 1}}},
			{Name: "Later", Kind: sale.KindCounted},
		},
		Ages: ages,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

const small = `sale: s
title: T
time_zone: Europe/Berlin
opens_at: 2027-06-01T10:00:00
closes_at: 2027-06-01T11:00:00
hold: 10m
price: {amount_minor: 1, currency: EUR}
levels:
  - {level: N1, cap: 10}
  - {level: N2, cap: 10}
`

func faults(t *testing.T, file string) []string {
	t.Helper()
	_, err := salefile.Parse(strings.NewReader(file))
	var invalid *sale.FaultsError
	if !errors.As(err, &invalid) {
		t.Fatalf("got %v, want a FaultsError", err)
	}
	var list []string
	for _, f := range invalid.Faults {
		list = append(list, f.String())
	}
	return list
}

func TestParseReportsEachFaultWithItsLine(t *testing.T) {
	for name, c := range map[string]struct{ old, new, want string }{
		"unknown field":       {"title: T", "title: T\ncolour: red", "line 3: colour: is no field"},
		"unknown inner field": {"{level: N2, cap: 10}", "{level: N2, cap: 10, caps: 1}", "line 10: levels[1].caps: is no field"},
		"field twice":         {"title: T", "title: T\ntitle: U", "line 3: title: is given twice"},
		"missing field":       {"title: T\n", "", "line 1: title: is missing"},
		"missing cap":         {"{level: N2, cap: 10}", "{level: N2}", "line 10: levels[1].cap: is missing"},
		"empty field":         {"title: T", "title:", "line 2: title: must be a text, is empty"},
		"list for text":       {"title: T", "title: [T]", "line 2: title: must be a text, is a list"},
		"text for list":       {"levels:\n  - {level: N1, cap: 10}\n  - {level: N2, cap: 10}", "levels: N1", `line 8: levels: must be a list, is "N1"`},
		"text for level":      {"{level: N2, cap: 10}", "N2", `line 10: levels[1]: must be fields with values, is "N2"`},
		"cap as word":         {"{level: N2, cap: 10}", "{level: N2, cap: ten}", `line 10: levels[1].cap: must be a whole number in plain digits, is "ten"`},
		"cap in octal":        {"{level: N2, cap: 10}", "{level: N2, cap: 010}", `levels[1].cap: must be a whole number in plain digits, is "010"`},
		"cap with underscore": {"{level: N2, cap: 10}", "{level: N2, cap: 1_0}", `levels[1].cap: must be a whole number`},
		"zero total":          {"hold: 10m", "hold: 10m\ntotal_cap: 0", "line 7: total_cap: is 0, must be at least 1"},
		"total too high":      {"hold: 10m", "hold: 10m\ntotal_cap: 21", "line 7: total_cap: is 21, but the levels together have only 20"},
		"hold without unit":   {"hold: 10m", "hold: 10", `line 6: hold: must be a positive duration with its unit, such as 10m or 1m30s, is "10"`},
		"negative hold":       {"hold: 10m", "hold: -10m", "line 6: hold: must be a positive duration"},
		"nonsense time":       {"opens_at: 2027-06-01T10:00:00", "opens_at: tomorrow", `line 4: opens_at: is "tomorrow", must be a local time`},
		"no such day":         {"opens_at: 2027-06-01T10:00:00", "opens_at: 2027-06-31T10:00:00", "line 4: opens_at: is"},
		"skipped hour":        {"opens_at: 2027-06-01T10:00:00", "opens_at: 2027-03-28T02:30:00", "line 4: opens_at: does not exist in Europe/Berlin"},
		"repeated hour":       {"opens_at: 2027-06-01T10:00:00", "opens_at: 2026-10-25T02:30:00", "line 4: opens_at: happens twice in Europe/Berlin, whose clocks are put back: write it with the offset, as 2026-10-25T02:30:00+02:00 or 2026-10-25T02:30:00+01:00"},
		"order of times":      {"closes_at: 2027-06-01T11:00:00", "closes_at: 2027-06-01T09:59:59", "line 5: closes_at: is not after opens_at"},
		"currency":            {"currency: EUR", "currency: euro", "line 7: price.currency: must be three capital letters"},
		"negative price":      {"amount_minor: 1,", "amount_minor: -1,", "line 7: price.amount_minor: is -1"},
		"fraction":            {"amount_minor: 1,", "amount_minor: 1.5,", "line 7: price.amount_minor: must be a whole number"},
		"same level":          {"{level: N2, cap: 10}", "{level: n1, cap: 10}", `line 10: levels[1].level: is "n1", which differs from "N1" by case at most`},
		"kind":                {"{level: N2, cap: 10}", "{level: N2, cap: 10, kind: s}", `line 10: levels[1].kind: must be counted or seated, is "s"`},
		"seats in counted":    {"{level: N2, cap: 10}", "{level: N2, cap: 10, kind: counted, seats: [A]}", "line 10: levels[1].seats: stands in a counted level"},
		"bad seat":            {"{level: N2, cap: 10}", "{level: N2, seats: [A 1]}", "line 10: levels[1].seats[0]: must be 1 to 40"},
		"seat without name":   {"{level: N2, cap: 10}", "{level: N2, seats: [{score: 1}]}", "line 10: levels[1].seats[0].seat: is missing"},
		"age":                 {"hold: 10m", "hold: 10m\nages: {attached_max: 10m}", "line 7: ages.attached_max: is 10m0s, must be at least the hold and release_grace together (11m0s)"},
		"unknown age":         {"hold: 10m", "hold: 10m\nages: {old: 10m}", "line 7: ages.old: is no field"},
		"alias":               {"sale: s\ntitle: T", "sale: &t s\ntitle: *t", "line 2: title: must be a text, is an alias (*name), which sale files do not use"},
	} {
		t.Run(name, func(t *testing.T) {
			if !strings.Contains(small, c.old) {
				t.Fatalf("the file has no %q to replace", c.old)
			}
			got := faults(t, strings.Replace(small, c.old, c.new, 1))
			if len(got) != 1 || !strings.Contains(got[0], c.want) {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}

func TestParseListsEveryFaultAtOnce(t *testing.T) {
	got := faults(t, `sale: a b
title: ""
time_zone: Mars/Base
opens_at: 2027-06-01T10:00:00
closes_at: soon
hold: 10
price: {amount_minor: 1}
levels:
  - {level: "N|1", cap: -1}
  - {level: N2}
`)
	want := []string{
		"line 1: sale", "line 2: title", "line 3: time_zone", "line 4: opens_at: is a local time, and the time zone is not known", "line 5: closes_at",
		"line 6: hold", "line 7: price.currency: is missing", "line 9: levels[0].level", "line 9: levels[0].cap", "line 10: levels[1].cap: is missing",
	}
	if len(got) != len(want) {
		t.Fatalf("%d faults, want %d:\n%s", len(got), len(want), strings.Join(got, "\n"))
	}
	for i, w := range want {
		if !strings.HasPrefix(got[i], w) {
			t.Errorf("fault %d is %q, want %q", i, got[i], w)
		}
	}
}

func TestParseTimesWithOffset(t *testing.T) {
	s, err := salefile.Parse(strings.NewReader(strings.Replace(small, "opens_at: 2027-06-01T10:00:00", "opens_at: 2026-10-25T02:30:00+01:00", 1)))
	if err != nil {
		t.Fatal(err)
	}
	if want := time.Date(2026, 10, 25, 1, 30, 0, 0, time.UTC); !s.OpensAt.Equal(want) || s.OpensAt.Location() != time.UTC {
		t.Errorf("opens at %v, want %v", s.OpensAt, want)
	}
}

func TestParseRefusesWhatIsNoSaleFile(t *testing.T) {
	for name, file := range map[string]string{
		"empty": "", "comment": "# nothing\n", "null": "~\n", "list": "- a\n", "text": "sale\n", "not YAML": "a: [\n", "tabs": "a:\n\t- b\n", "binary": "\x00\x01",
		"two documents": small + "---\n" + small, "anchor as a document": "&a [*a]\n",
	} {
		if got := faults(t, file); len(got) != 1 {
			t.Errorf("%s: %q, want one fault", name, got)
		}
	}
	broken := errors.New("disk gone")
	if _, err := salefile.Parse(iotest.ErrReader(broken)); !errors.Is(err, broken) {
		t.Errorf("a failing reader gave %v", err)
	}
	if _, err := salefile.Parse(strings.NewReader(strings.Repeat("#", salefile.MaxBytes+1))); err == nil || !strings.Contains(err.Error(), "larger") {
		t.Errorf("a huge file gave %v", err)
	}
}

// FuzzParse holds for any file: it ends, and what is accepted is valid and survives storage.
func FuzzParse(f *testing.F) {
	f.Add([]byte(full))
	f.Add([]byte(small))
	f.Add([]byte("a: &a [*a]\n"))
	f.Add([]byte("levels: [{}, [], ~, {seats: [{}, [], ~]}]\nages: {x: }\n? [a]\n: b\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := salefile.Parse(bytes.NewReader(data))
		if err != nil {
			if diff := cmp.Diff(sale.Sale{}, s); diff != "" {
				t.Fatalf("an error comes with a sale: %v\n%s", err, diff)
			}
			return
		}
		if err := s.Validate(); err != nil {
			t.Fatalf("an accepted sale is invalid: %v", err)
		}
		stored, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		var again sale.Sale
		if err := json.Unmarshal(stored, &again); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(s, again); diff != "" {
			t.Fatalf("storage changes the sale:\n%s", diff)
		}
	})
}
