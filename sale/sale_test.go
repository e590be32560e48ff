package sale_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/holdfast/holdfast/sale"
)

// spring is a valid sale with a counted and a seated level.
func spring() sale.Sale {
	price := sale.Money{AmountMinor: 500000, Currency: "BDT"}
	return sale.Sale{
		ID: "spring", Title: "Spring examination", Zone: "Asia/Dhaka",
		OpensAt:  time.Date(2027, 3, 1, 4, 0, 0, 0, time.UTC),
		ClosesAt: time.Date(2027, 3, 1, 16, 0, 0, 0, time.UTC),
		Hold:     10 * time.Minute,
		Price:    sale.Money{AmountMinor: 350000, Currency: "BDT"},
		Levels: []sale.Level{
			{Name: "N1", Cap: 100},
			{Name: "Hall", Kind: sale.KindSeated, Cap: 2, Price: &price, Seats: []sale.Seat{{Name: "A-1", Score: 1}, {Name: "A-2", Score: 2}}},
		},
	}.WithDefaults()
}

func TestWithDefaults(t *testing.T) {
	s := spring()
	if err := s.Validate(); err != nil {
		t.Fatal(err)
	}
	if s.MaxSeats != 1 || s.TotalCap != 102 || s.SoftHoldMax != s.Hold || s.Levels[0].Kind != sale.KindCounted || s.Ages != sale.DeriveAges(s.Hold) {
		t.Errorf("defaults: %+v", s)
	}
	levels := []sale.Level{{Name: "N1", Cap: 1}}
	sale.Sale{Levels: levels}.WithDefaults()
	if levels[0].Kind != "" {
		t.Error("WithDefaults wrote to the caller's levels")
	}
	s.Ages = sale.Ages{AttachedMax: 20 * time.Minute}
	if got := s.WithDefaults().Ages; got.AttachedMax != 20*time.Minute || got.UnattachedMax != 2*time.Minute {
		t.Errorf("ages with one given: %+v", got)
	}
}

func TestPrices(t *testing.T) {
	s := spring()
	for level, want := range map[string]int64{"N1": 350000, "Hall": 500000, "nowhere": 350000} {
		if got := s.PriceOf(level); got.AmountMinor != want {
			t.Errorf("%s costs %d, want %d", level, got.AmountMinor, want)
		}
	}
	if got := s.PriceOf("Hall").Times(3); got != (sale.Money{AmountMinor: 1500000, Currency: "BDT"}) {
		t.Errorf("three seats cost %+v", got)
	}
}

func TestLevel(t *testing.T) {
	s := spring()
	if l, ok := s.Level("Hall"); !ok || l.Cap != 2 {
		t.Errorf("Hall is %+v, %v", l, ok)
	}
	if _, ok := s.Level("hall"); ok {
		t.Error("a level is found by another name than its own")
	}
}

func TestLocation(t *testing.T) {
	loc, err := spring().Location()
	if err != nil || loc.String() != "Asia/Dhaka" {
		t.Errorf("got %v, %v", loc, err)
	}
	for _, zone := range []string{"", "Local", "Mars/Base", "../etc/passwd"} {
		if _, err := (sale.Sale{Zone: zone}).Location(); err == nil {
			t.Errorf("zone %q is accepted", zone)
		}
	}
}

func TestValidateNamesEachFault(t *testing.T) {
	for name, c := range map[string]struct {
		breakIt func(*sale.Sale)
		path    string
	}{
		"id":                      {func(s *sale.Sale) { s.ID = "a b" }, "sale"},
		"title":                   {func(s *sale.Sale) { s.Title = " " }, "title"},
		"zone":                    {func(s *sale.Sale) { s.Zone = "Local" }, "time_zone"},
		"no opening":              {func(s *sale.Sale) { s.OpensAt = time.Time{} }, "opens_at"},
		"no closing":              {func(s *sale.Sale) { s.ClosesAt = time.Time{} }, "closes_at"},
		"closes as it opens":      {func(s *sale.Sale) { s.ClosesAt = s.OpensAt }, "closes_at"},
		"microseconds":            {func(s *sale.Sale) { s.OpensAt = s.OpensAt.Add(time.Microsecond) }, "opens_at"},
		"long hold":               {func(s *sale.Sale) { s.Hold = 1000 * time.Hour; s.Ages = sale.DeriveAges(s.Hold) }, "hold"},
		"soft hold":               {func(s *sale.Sale) { s.SoftHoldMax = -1 }, "soft_hold_max"},
		"negative price":          {func(s *sale.Sale) { s.Price.AmountMinor = -1 }, "price.amount_minor"},
		"huge price":              {func(s *sale.Sale) { s.Price.AmountMinor = sale.MaxAmountMinor + 1 }, "price.amount_minor"},
		"currency":                {func(s *sale.Sale) { s.Levels[1].Price = nil; s.Price.Currency = "Tk." }, "price.currency"},
		"two currencies":          {func(s *sale.Sale) { s.Levels[1].Price.Currency = "USD" }, "levels[1].price.currency"},
		"no seats per booking":    {func(s *sale.Sale) { s.MaxSeats = -1 }, "max_seats"},
		"eleven per booking":      {func(s *sale.Sale) { s.MaxSeats = 11 }, "max_seats"},
		"total above the sum":     {func(s *sale.Sale) { s.TotalCap = 103 }, "total_cap"},
		"negative total":          {func(s *sale.Sale) { s.TotalCap = -1 }, "total_cap"},
		"level name":              {func(s *sale.Sale) { s.Levels[0].Name = "N|1" }, "levels[0].level"},
		"long level name":         {func(s *sale.Sale) { s.Levels[0].Name = strings.Repeat("x", 33) }, "levels[0].level"},
		"same name, other case":   {func(s *sale.Sale) { s.Levels[0].Name = "HALL" }, "levels[1].level"},
		"negative cap":            {func(s *sale.Sale) { s.Levels[0].Cap = -1; s.TotalCap = 2 }, "levels[0].cap"},
		"kind":                    {func(s *sale.Sale) { s.Levels[0].Kind = "x" }, "levels[0].kind"},
		"seats in counted":        {func(s *sale.Sale) { s.Levels[0].Seats = []sale.Seat{{Name: "Z"}} }, "levels[0].seats"},
		"cap is not the seats":    {func(s *sale.Sale) { s.Levels[1].Cap = 3 }, "levels[1].cap"},
		"seat name":               {func(s *sale.Sale) { s.Levels[1].Seats[0].Name = "A 1" }, "levels[1].seats[0]"},
		"seat twice":              {func(s *sale.Sale) { s.Levels[1].Seats[1].Name = "A-1" }, "levels[1].seats[1]"},
		"seat is a counted token": {func(s *sale.Sale) { s.Levels[1].Seats[1].Name = "N1-500" }, "levels[1].seats[1]"},
		"seat score":              {func(s *sale.Sale) { s.Levels[1].Seats[1].Score = -1 }, "levels[1].seats[1].score"},
		"orphans before requests": {func(s *sale.Sale) { s.Ages.UnattachedMax = s.Ages.RequestMax }, "ages.unattached_max"},
		"attached before the end": {func(s *sale.Sale) { s.Ages.AttachedMax = s.Hold }, "ages.attached_max"},
		"late breaker":            {func(s *sale.Sale) { s.Ages.MessageMax = s.Ages.AttachedMax }, "ages.message_max"},
		"short commit":            {func(s *sale.Sale) { s.Ages.CommitExtend = s.Ages.ReleaseGrace }, "ages.commit_extend"},
		"no URL ever":             {func(s *sale.Sale) { s.Ages.URLMinLeft = s.Hold }, "ages.url_min_left"},
		"negative age":            {func(s *sale.Sale) { s.Ages.GateExtend = -1 }, "ages.gate_extend"},
	} {
		t.Run(name, func(t *testing.T) {
			s := spring()
			c.breakIt(&s)
			var invalid *sale.FaultsError
			if err := s.Validate(); !errors.As(err, &invalid) || len(invalid.Faults) != 1 || invalid.Faults[0].Path != c.path {
				t.Errorf("got %v, want one fault at %s", err, c.path)
			}
		})
	}
}

func TestValidateListsAllFaultsAtOnce(t *testing.T) {
	var invalid *sale.FaultsError
	if !errors.As(sale.Sale{}.Validate(), &invalid) || len(invalid.Faults) < 10 {
		t.Fatalf("an empty sale has %v", invalid)
	}
	for _, path := range []string{"sale: ", "title: ", "time_zone: ", "opens_at: ", "levels: ", "ages.request_max: "} {
		if !strings.Contains(invalid.Error(), path) {
			t.Errorf("%q is not named in\n%v", path, invalid)
		}
	}
}

func TestSaleSurvivesStorage(t *testing.T) {
	want := spring()
	data, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var got sale.Sale
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, part := range []string{`"hold_ms":600000`, `"opens_at":"2027-03-01T04:00:00Z"`, `"attached_max":900000`, `"kind":"s"`} {
		if !strings.Contains(string(data), part) {
			t.Errorf("%s is not in %s", part, data)
		}
	}
}
