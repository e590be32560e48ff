package ingress_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/admission/admissiontest"
	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/payment/sandbox/engine"
	"github.com/holdfast/holdfast/sale"
)

const theHall = "opera"

// hallPlan is a sale with named seats: Stalls with rows A (six seats, an aisle in
// the middle) and B (one place is blocked), a Box, and standing room.
func hallPlan(start time.Time) sale.Sale {
	seat := func(name, section, row string, score, run int) sale.Seat {
		return sale.Seat{Name: name, Section: section, Row: row, Score: score, Run: run}
	}
	dear := sale.Money{AmountMinor: 9_000, Currency: "BDT"}
	s := sale.Sale{ID: theHall, Title: "Opera", Zone: "Asia/Dhaka", OpensAt: start.Add(-time.Hour), ClosesAt: start.Add(24 * time.Hour),
		Hold: 10 * time.Minute, SoftHoldMax: 15 * time.Minute, Price: sale.Money{AmountMinor: 5_000, Currency: "BDT"}, MaxSeats: 4,
		Levels: []sale.Level{
			{Name: "Hall", Kind: sale.KindSeated, Sections: []sale.Section{{Name: "Stalls"}, {Name: "Box", Price: &dear}},
				Seats: []sale.Seat{seat("A1", "Stalls", "A", 1, 1), seat("A2", "Stalls", "A", 2, 1), seat("A3", "Stalls", "A", 3, 1),
					seat("A4", "Stalls", "A", 4, 2), seat("A5", "Stalls", "A", 5, 2), seat("A6", "Stalls", "A", 6, 2),
					seat("B1", "Stalls", "B", 7, 3), seat("B3", "Stalls", "B", 9, 4), seat("X1", "Box", "X", 10, 5), seat("X2", "Box", "X", 11, 5)},
				Blocked: []sale.Seat{seat("B2", "Stalls", "B", 8, 0)}},
			{Name: "Side", Kind: sale.KindSeated, Seats: []sale.Seat{{Name: "S1", Score: 1}, {Name: "S2", Score: 2}}},
			{Name: "Stand", Cap: 5},
		}}
	s.Levels[0].Cap, s.Levels[1].Cap = len(s.Levels[0].Seats), len(s.Levels[1].Seats)
	return s.WithDefaults()
}

// openHall adds the hall to a world; everybody of the other sale may book there.
func (w *world) openHall(change ...func(*sale.Sale)) {
	w.Helper()
	plan := hallPlan(w.Now())
	for _, f := range change {
		f(&plan)
	}
	if err := plan.Validate(); err != nil {
		w.Fatal(err)
	}
	p := admission.Plan{Sale: theHall, Gen: 1, OpensAt: plan.OpensAt, ClosesAt: plan.ClosesAt, Hold: plan.Hold, TotalCap: plan.TotalCap, Open: true, RosterVersion: "r1"}
	for _, l := range plan.Levels {
		level := admission.LevelPlan{Name: l.Name, Kind: string(l.Kind), Cap: l.Cap, Next: l.Cap + 1}
		for _, s := range l.Seats {
			level.Tokens = append(level.Tokens, s.Name)
		}
		p.Levels = append(p.Levels, level)
	}
	var rows []admission.RosterEntry
	for i := range 50 {
		m, err := sale.ParseEmail(mail(i))
		if err != nil {
			w.Fatal(err)
		}
		rows = append(rows, admission.RosterEntry{Candidate: string(w.candidate(i)), EmailHash: string(w.hasher.Email(m))})
	}
	for _, err := range []error{
		w.redis.Install(w.Context(), p, nil), w.redis.PutRoster(w.Context(), theHall, rows),
		w.store.CreateControl(w.Context(), ledger.Control{Sale: theHall, Gen: 1, Plan: plan, Open: true}),
	} {
		if err != nil {
			w.Fatal(err)
		}
	}
	w.refresh()
}

// chooses is a hold request's body; what is named seats or best, as JSON.
func chooses(i int, level, what string) string {
	return fmt.Sprintf(`{"code":%q,"email":%q,"level":%q,%s}`, code(i), mail(i), level, what)
}

func (w *world) hold(body string, status int, code string, headers ...string) answer {
	w.Helper()
	a := w.do(http.MethodPost, "/sales/"+theHall+"/holds", body, append([]string{"Content-Type", "application/json"}, headers...)...)
	w.wants(a, status, code)
	return a
}

// bookHold books a hold.
func (w *world) bookHold(i int, hold string, status int, problem string, headers ...string) answer {
	w.Helper()
	a := w.do(http.MethodPost, "/sales/"+theHall+"/bookings", fmt.Sprintf(`{"code":%q,"email":%q,"hold_id":%q}`, code(i), mail(i), hold), headers...)
	w.wants(a, status, problem)
	return a
}

func (w *world) patch(hold, body string, status int, code string) answer {
	w.Helper()
	a := w.do(http.MethodPatch, "/holds/"+hold, body, "Content-Type", "application/json")
	w.wants(a, status, code)
	return a
}

// seatsOf is a seat map as a viewer has it.
type seatsOf struct {
	Version, From, Source string
	Now                   time.Time
	Held                  map[string]int
	Sold, Free            []string
	Own                   *struct {
		Seats       []string
		SecondsLeft int `json:"seconds_left"`
	}
	Plan []struct {
		Level    string
		Sections []struct {
			Section string
			Price   sale.Money
			Rows    []struct {
				Row                 string
				Runs                [][]string
				Accessible, Blocked []string
			}
		}
	}
}

func (w *world) seatMap(headers ...string) (m seatsOf) {
	w.Helper()
	w.advance(time.Second) // older than a map may be
	a := w.do(http.MethodGet, "/sales/"+theHall+"/seats", "", headers...)
	w.wants(a, 200, "")
	if err := json.Unmarshal(a.raw, &m); err != nil {
		w.Fatalf("%v in %s", err, a.raw)
	}
	return m
}

func list(v any) (out []string) {
	for _, x := range v.([]any) {
		out = append(out, x.(string))
	}
	return out
}

// A seat is chosen, booked and paid; at each step the map says so to everybody,
// and to nobody whose it is.
func TestASeatIsHeldBookedAndPaid(t *testing.T) {
	w := newWorld(t)
	w.openHall()
	a := w.hold(chooses(1, "Hall", `"seats":["A3","X1"]`), 201, "")
	hold := a.text("hold_id")
	if price := a.doc["price"].(map[string]any); price["amount_minor"] != 14_000.0 || !slices.Equal(list(a.doc["seats"]), []string{"A3", "X1"}) {
		t.Errorf("hold %s", a.raw)
	}
	if a.header.Get("Location") != "/holds/"+hold+"?sale="+theHall || a.doc["hold_until"] != "2026-05-01T09:10:00.000Z" || a.doc["max_until"] != "2026-05-01T09:15:00.000Z" {
		t.Errorf("hold %s", a.raw)
	}
	m := w.seatMap()
	if m.Source != "redis" || m.Held["A3"] != 599 || m.Held["X1"] != 599 || len(m.Held) != 2 || len(m.Sold) != 0 || m.Own != nil {
		t.Errorf("map %+v", m)
	}
	own := w.seatMap("Hold-Id", hold)
	if own.Own == nil || !slices.Equal(own.Own.Seats, []string{"A3", "X1"}) || own.Own.SecondsLeft != 598 {
		t.Errorf("own %+v", own.Own)
	}
	b := w.bookHold(1, hold, 201, "")
	id := b.text("booking_id")
	if id == hold || b.text("level") != "Hall" || !slices.Equal(list(b.doc["seats"]), []string{"A3", "X1"}) {
		t.Fatalf("booking %s", b.raw)
	}
	events := w.events()
	if len(events) != 1 || events[0].Held.AmountMinor != 14_000 || events[0].Held.Seats[0].Score != 3 || events[0].Held.Seats[1].Score != 9 {
		t.Fatalf("queued %+v", events)
	}
	w.work()
	for _, s := range []string{"A3", "X1"} {
		if owner, err := w.store.SeatBooking(t.Context(), theHall, s); err != nil || owner != id {
			t.Errorf("ledger: seat %s is %q's, %v", s, owner, err)
		}
	}
	w.payFor(id)
	w.work()
	if a := w.do("GET", "/bookings/"+id, ""); a.text("state") != "paid" {
		t.Fatalf("booking %s", a.raw)
	}
	w.advance(time.Second) // older than a map may be
	if m := w.seatMap(); !slices.Equal(m.Sold, []string{"A3", "X1"}) || len(m.Held) != 0 {
		t.Errorf("map %+v", m)
	}
	raw := w.do("GET", "/sales/"+theHall+"/seats", "").raw
	if strings.Contains(string(raw), hold) || strings.Contains(string(raw), id) || strings.Contains(string(raw), string(w.candidate(1))) {
		t.Error("the map names its holders")
	}
	w.wants(w.do("DELETE", "/holds/"+hold, ""), 204, "") // late: it frees nothing
	if owner, err := w.store.SeatBooking(t.Context(), theHall, "A3"); err != nil || owner != id {
		t.Errorf("after a late release seat A3 is %q's, %v", owner, err)
	}
}

// payFor captures the booking's payment at the gateway and lets the webhook come.
func (w *world) payFor(id string) {
	w.Helper()
	b, err := w.store.Booking(w.Context(), id)
	if err != nil {
		w.Fatal(err)
	}
	if _, err := w.pay.Act(b.Payment.ID, engine.ActPay, 0); err != nil {
		w.Fatal(err)
	}
	w.wants(w.do("GET", "/payments/page/return?sale="+b.Sale+"&booking="+id+"&payment_id="+b.Payment.ID, ""), 200, "")
}

func TestTakenSeatsAreNamedAndFreeOnesOffered(t *testing.T) {
	w := newWorld(t)
	w.openHall()
	w.hold(chooses(1, "Hall", `"seats":["A2","A3"]`), 201, "")
	w.advance(time.Second)
	a := w.hold(chooses(2, "Hall", `"seats":["A1","A2","A3"]`), 409, "seat_taken")
	if !slices.Equal(list(a.doc["taken"]), []string{"A2", "A3"}) || !slices.Equal(list(a.doc["nearby"]), []string{"A4", "A5", "A6"}) {
		t.Errorf("%s", a.raw)
	}
	if m := w.seatMap(); len(m.Held) != 2 {
		t.Errorf("held %v: all or none", m.Held)
	}
	w.hold(chooses(2, "Hall", `"seats":["B2"]`), 400, "invalid_request") // blocked: no seat
}

func TestBestSeatsTogether(t *testing.T) {
	w := newWorld(t)
	w.openHall()
	for i, c := range []struct{ best, want string }{
		{`"best":{"count":2,"section":"Box"}`, "X1 X2"},
		{`"best":{"count":3}`, "A1 A2 A3"},
		{`"best":{"count":1,"amount_minor":5000}`, "A4"},
	} {
		a := w.hold(chooses(i, "Hall", c.best), 201, "")
		if got := strings.Join(list(a.doc["seats"]), " "); got != c.want {
			t.Errorf("%s: %s, want %s", c.best, got, c.want)
		}
		w.advance(time.Second)
	}
	w.hold(chooses(8, "Hall", `"best":{"count":4}`), 409, "seat_taken")
	w.hold(chooses(8, "Hall", `"best":{"count":1,"section":"Moon"}`), 400, "invalid_request")
	w.hold(chooses(8, "Hall", `"best":{"count":1},"seats":["A4"]`), 400, "invalid_request")
}

// The map is a moment old: who is slower gets the next best, not a refusal.
func TestBestSeatsAreChosenAgain(t *testing.T) {
	w := newWorld(t)
	w.openHall()
	w.seatMap()
	w.hold(chooses(1, "Hall", `"seats":["A1"]`), 201, "")
	a := w.hold(chooses(2, "Hall", `"best":{"count":3}`), 201, "") // by the same old map
	if got := strings.Join(list(a.doc["seats"]), " "); got != "A4 A5 A6" {
		t.Errorf("got %s", got)
	}
}

// TestScenario40 (protocol.md 6): a pair of which one is just taken; a hold that
// expires is told so before a payment exists.
func TestScenario40_AnExpiredHold(t *testing.T) {
	w := newWorld(t)
	w.openHall()
	hold := w.hold(chooses(1, "Hall", `"seats":["A1","A2"]`), 201, "").text("hold_id")
	w.later(10*time.Minute + time.Millisecond)
	if m := w.seatMap(); len(m.Held) != 0 {
		t.Errorf("expired seats are shown as held: %v", m.Held)
	}
	w.wants(w.do("GET", "/holds/"+hold, ""), 409, "hold_gone")
	w.patch(hold, `{"seconds":60}`, 409, "hold_gone")
	w.bookHold(1, hold, 409, "hold_gone")
	other := w.hold(chooses(2, "Hall", `"seats":["A2","A3"]`), 201, "").text("hold_id")
	w.bookHold(1, hold, 409, "hold_gone")
	if n := len(w.events()); n != 0 {
		t.Errorf("%d events of a hold that is over", n)
	}
	if n := len(w.pay.Payments()); n != 0 {
		t.Errorf("%d payments exist", n)
	}
	w.wants(w.do("DELETE", "/holds/"+hold, ""), 204, "")
	w.bookHold(2, other, 201, "")
}

func TestHoldIsChangedExtendedAndReleased(t *testing.T) {
	w := newWorld(t)
	w.openHall()
	hold := w.hold(chooses(1, "Hall", `"seats":["A1","A2"],"seconds":60`), 201, "").text("hold_id")
	w.advance(30 * time.Second)
	a := w.patch(hold, `{"seats":["A2","A3"]}`, 200, "")
	if !slices.Equal(list(a.doc["seats"]), []string{"A2", "A3"}) || a.doc["hold_until"] != "2026-05-01T09:01:00.000Z" {
		t.Errorf("other seats move no deadline: %s", a.raw)
	}
	if a = w.patch(hold, `{"seconds":900}`, 200, ""); a.doc["hold_until"] != "2026-05-01T09:15:00.000Z" || a.doc["max_until"] != a.doc["hold_until"] {
		t.Errorf("extended beyond the maximum: %s", a.raw)
	}
	if a = w.patch(hold, `{"seconds":1}`, 200, ""); a.doc["hold_until"] != "2026-05-01T09:15:00.000Z" {
		t.Errorf("shortened: %s", a.raw)
	}
	if a = w.patch(hold, `{"level":"Side","seats":["S1"]}`, 200, ""); a.text("level") != "Side" {
		t.Errorf("level: %s", a.raw)
	}
	w.patch(hold, `{}`, 400, "invalid_request")
	w.patch(hold, `{"seconds":901}`, 400, "invalid_request")
	w.patch(hold, `{"code":"x","seconds":1}`, 400, "invalid_request")
	if a = w.do("GET", "/holds/"+hold, ""); a.status != 200 || !slices.Equal(list(a.doc["seats"]), []string{"S1"}) {
		t.Errorf("%s", a.raw)
	}
	if m := w.seatMap(); len(m.Held) != 1 || m.Held["S1"] == 0 {
		t.Errorf("map %v", m.Held)
	}
	w.wants(w.do("DELETE", "/holds/"+hold, ""), 204, "")
	w.wants(w.do("DELETE", "/holds/"+hold, ""), 204, "")
	if m := w.seatMap(); len(m.Held) != 0 {
		t.Errorf("released, and still %v", m.Held)
	}
	w.wants(w.do("GET", "/holds/"+hold, ""), 409, "hold_gone")
	w.wants(w.do("GET", "/holds/invented", ""), 404, "not_found")
}

func TestHoldRefusals(t *testing.T) {
	w := newWorld(t)
	w.openHall()
	w.hold(chooses(60, "Hall", `"seats":["A1"]`), 400, "invalid_code")
	w.hold(strings.Replace(chooses(1, "Hall", `"seats":["A1"]`), mail(1), mail(2), 1), 400, "email_mismatch")
	w.hold(chooses(1, "Stand", `"seats":["A1"]`), 400, "invalid_request")
	w.hold(chooses(1, "Hall", `"seats":[]`), 400, "invalid_request")
	w.hold(chooses(1, "Hall", `"seats":["A1","A1"]`), 400, "invalid_request")
	w.hold(chooses(1, "Hall", `"seats":["A1","A2","A3","A4","A5"]`), 400, "invalid_request")
	w.hold(chooses(1, "Hall", `"seats":["A1"],"seconds":0`), 400, "invalid_request")
	w.hold(chooses(1, "Hall", `"seats":["A1"],"colour":1`), 400, "invalid_request")
	w.hold(chooses(1, "Hall", `"seats":["A1"],"seats":["A2"]`), 400, "invalid_request")
	w.hold(chooses(1, "Hall", `"seats":["A1"],"code":"CODE-0002"`), 400, "invalid_request")
	w.hold(chooses(1, "Hall", `"Seats":["A1"]`), 400, "invalid_request") // encoding/json would take it
	w.hold(chooses(1, "Hall", `"best":{"count":1,"count":2}`), 400, "invalid_request")
	w.hold(chooses(1, "Hall", `"best":{"COUNT":2}`), 400, "invalid_request")
	w.hold(`[]`, 400, "invalid_request")
	w.hold(strings.Repeat(" ", 5000), 400, "invalid_request")
	w.wants(w.do("POST", "/sales/"+theSale+"/holds", chooses(1, "N1", `"seats":["A1"]`)), 404, "not_found")
	w.wants(w.do("GET", "/sales/"+theSale+"/seats", ""), 404, "not_found")
	if used := w.hallUsed(); used != 0 {
		t.Errorf("%d seats are held by refusals", used)
	}
	w.do("POST", "/sales/"+theHall+"/bookings", wish(1, "Stand"))
	a := w.hold(chooses(1, "Hall", `"seats":["A1"]`), 409, "duplicate")
	if a.text("booking_id") == "" || a.text("level") != "Stand" {
		t.Errorf("%s", a.raw)
	}
}

// later lets time pass for everybody: plans are read again meanwhile.
func (w *world) later(d time.Duration) {
	w.Helper()
	w.advance(d)
	w.refresh()
}

func (w *world) hallUsed() int {
	w.Helper()
	s, err := w.redis.Status(w.Context(), theHall, []string{"Hall", "Side", "Stand"})
	if err != nil {
		w.Fatal(err)
	}
	return s.Used
}

func TestHoldKeys(t *testing.T) {
	w := newWorld(t)
	w.openHall()
	body := chooses(1, "Hall", `"seats":["A1"]`)
	first := w.hold(body, 201, "", "Idempotency-Key", "k")
	again := w.hold(body, 200, "", "Idempotency-Key", "k")
	if first.text("hold_id") != again.text("hold_id") || again.doc["max_until"] != first.doc["max_until"] {
		t.Errorf("%s\n%s", first.raw, again.raw)
	}
	w.hold(chooses(1, "Hall", `"seats":["A2"]`), 201, "", "Idempotency-Key", "l")
	w.hold(chooses(1, "Hall", `"seats":["A3"]`), 422, "idempotency_mismatch", "Idempotency-Key", "l")
	w.bookHold(1, first.text("hold_id"), 409, "hold_gone") // replaced in another tab
}

// Two requests with one hold: one booking, whichever key they have.
func TestOneHoldIsOneBooking(t *testing.T) {
	w := newWorld(t)
	w.openHall()
	hold := w.hold(chooses(1, "Hall", `"seats":["A1"]`), 201, "").text("hold_id")
	first := w.bookHold(1, hold, 201, "", "Idempotency-Key", "k")
	if again := w.bookHold(1, hold, 200, "", "Idempotency-Key", "k"); again.text("booking_id") != first.text("booking_id") || again.text("payment_url") == "" {
		t.Errorf("%s", again.raw)
	}
	if other := w.bookHold(1, hold, 409, "duplicate"); other.text("booking_id") != first.text("booking_id") {
		t.Errorf("%s", other.raw)
	}
	w.bookHold(2, hold, 409, "hold_gone") // somebody else's hold
	if n := len(w.pay.Payments()); n != 1 {
		t.Errorf("%d payments", n)
	}
}

// Who holds seats and books others without their hold is told so; the id stays
// the other tab's secret.
func TestBookingBesideAHold(t *testing.T) {
	w := newWorld(t)
	w.openHall()
	hold := w.hold(chooses(1, "Hall", `"seats":["A1"]`), 201, "").text("hold_id")
	body := strings.Replace(wish(1, "Hall"), `"level"`, `"seats":["A2"],"level"`, 1)
	a := w.do("POST", "/sales/"+theHall+"/bookings", body)
	w.wants(a, 409, "duplicate")
	if a.text("state") != "choosing" || a.text("booking_id") != "" || a.text("hold_until") == "" || strings.Contains(string(a.raw), hold) {
		t.Errorf("%s", a.raw)
	}
	body = strings.Replace(body, mail(1), mail(2), 1)
	w.wants(w.do("POST", "/sales/"+theHall+"/bookings", body), 400, "email_mismatch")
}

// Expired holds of one level use up neither the sale's total for another one, nor
// their own candidates' right to book there.
func TestExpiredHoldsRefuseNobodyElsewhere(t *testing.T) {
	w := newWorld(t)
	w.openHall(func(s *sale.Sale) { s.TotalCap = 4 })
	w.hold(chooses(1, "Hall", `"seats":["A1","A2","A3","A4"]`), 201, "")
	w.wants(w.do("POST", "/sales/"+theHall+"/bookings", wish(2, "Stand")), 409, "sold_out")
	w.later(11 * time.Minute)
	w.wants(w.do("POST", "/sales/"+theHall+"/bookings", wish(2, "Stand")), 201, "")
	w.hold(chooses(3, "Hall", `"seats":["A1"]`), 201, "")
	w.later(11 * time.Minute)
	w.wants(w.do("POST", "/sales/"+theHall+"/bookings", wish(3, "Stand")), 201, "") // its own, in another level
}

func TestHoldHoneypot(t *testing.T) {
	w := newWorld(t)
	w.openHall()
	before := len(w.logs.String())
	a := w.hold(chooses(1, "Hall", `"seats":["A1"],"website":"http://spam"`), 201, "")
	real := w.hold(chooses(2, "Hall", `"seats":["A2"]`), 201, "")
	if keys(a.doc) != keys(real.doc) || len(a.text("hold_id")) != len(real.text("hold_id")) || a.header.Get("Location") == "" {
		t.Errorf("a decoy can be told apart:\n%s\n%s", a.raw, real.raw)
	}
	if used := w.hallUsed(); used != 1 {
		t.Errorf("%d seats are held, want the real one", used)
	}
	if logged := w.logs.String()[before:]; logged != "" {
		t.Errorf("logged %s", logged)
	}
}

// Redis down: the map says so, and shows what the ledger knows; nothing is held.
func TestSeatMapWhileRedisIsDown(t *testing.T) {
	w := newWorld(t)
	w.openHall()
	paid := w.bookHold(1, w.hold(chooses(1, "Hall", `"seats":["A1"]`), 201, "").text("hold_id"), 201, "").text("booking_id")
	w.work()
	w.payFor(paid)
	w.work()
	w.bookHold(2, w.hold(chooses(2, "Hall", `"seats":["A2"]`), 201, "").text("hold_id"), 201, "")
	w.work()
	w.hold(chooses(3, "Hall", `"seats":["A3"]`), 201, "")
	live := w.seatMap()
	w.redis.Fault = func(string) admissiontest.Fault { return admissiontest.FailBefore }
	m := w.seatMap()
	if m.Source != "ledger" || !slices.Equal(m.Sold, []string{"A1"}) || m.Held["A2"] == 0 || len(m.Held) != 1 {
		t.Errorf("map %+v", m)
	}
	if m.Version == live.Version {
		t.Error("another source under the same version")
	}
	w.hold(chooses(4, "Hall", `"seats":["A1"]`), 503, "unavailable")
	w.redis.Fault = nil
	if m := w.seatMap(); m.Source != "redis" || len(m.Held) != 2 {
		t.Errorf("map %+v", m)
	}
}

func TestSeatPlanIsDrawn(t *testing.T) {
	w := newWorld(t)
	w.openHall()
	m := w.seatMap()
	stalls := m.Plan[0].Sections[0]
	if m.Plan[0].Level != "Hall" || stalls.Section != "Stalls" || stalls.Price.AmountMinor != 5_000 || m.Plan[0].Sections[1].Price.AmountMinor != 9_000 {
		t.Errorf("plan %+v", m.Plan)
	}
	if got := fmt.Sprint(stalls.Rows); got != "[{A [[A1 A2 A3] [A4 A5 A6]] [] []} {B [[B1] [B3]] [] [B2]}]" {
		t.Errorf("rows %s", got)
	}
	if a := w.do("GET", "/sales/"+theHall+"/seats?plan=0", ""); strings.Contains(string(a.raw), `"plan"`) {
		t.Errorf("%s", a.raw)
	}
}

// A thousand looks at a map are one reading of Redis.
func TestManyLooksAreOneReading(t *testing.T) {
	w := newWorld(t)
	w.openHall()
	w.seatMap()
	before := w.redis.Calls("Seats") + w.redis.Calls("SeatVersion")
	for range 1000 {
		w.do("GET", "/sales/"+theHall+"/seats?plan=0", "")
	}
	if n := w.redis.Calls("Seats") + w.redis.Calls("SeatVersion") - before; n != 0 {
		t.Errorf("%d calls for a map that is young enough", n)
	}
}

// stream reads server-sent events.
type stream struct {
	t    *testing.T
	r    *bufio.Reader
	body interface{ Close() error }
}

func (w *world) stream(t *testing.T, url string, headers ...string) *stream {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), "GET", url, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { res.Body.Close() })
	if res.StatusCode != 200 || res.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatalf("%s %v", res.Status, res.Header)
	}
	return &stream{t, bufio.NewReader(res.Body), res.Body}
}

func (s *stream) next() (name, id string, m seatsOf) {
	s.t.Helper()
	for {
		line, err := s.r.ReadString('\n')
		if err != nil {
			s.t.Fatal(err)
		}
		field, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		switch field {
		case "event":
			name = value
		case "id":
			id = value
		case "data":
			if err := json.Unmarshal([]byte(value), &m); err != nil {
				s.t.Fatalf("%v in %s", err, value)
			}
		case "":
			if name != "" {
				return name, id, m
			}
		}
	}
}

// Viewers who come early, late and back again see the same seats; a version that
// is not the one they have tells them that they missed something.
func TestSeatStream(t *testing.T) {
	w := newWorld(t)
	w.openHall()
	server := httptest.NewServer(w.in.Public())
	t.Cleanup(server.Close)
	url := server.URL + "/sales/" + theHall + "/seats/stream"
	early := w.stream(t, url)
	name, first, m := early.next()
	if name != "snapshot" || len(m.Held) != 0 || m.Version != first {
		t.Fatalf("%s %s %+v", name, first, m)
	}
	hold := w.hold(chooses(1, "Hall", `"seats":["A1","A2"]`), 201, "").text("hold_id")
	w.advance(time.Second)
	w.poll()
	name, second, m := early.next()
	if name != "delta" || m.From != first || m.Version != second || m.Held["A1"] != 599 || m.Held["A2"] != 599 || len(m.Free) != 0 {
		t.Fatalf("%s %s %+v", name, second, m)
	}
	w.patch(hold, `{"seats":["A2","A3"]}`, 200, "")
	w.advance(time.Second)
	w.poll()
	_, third, m := early.next()
	if m.From != second || !slices.Equal(m.Free, []string{"A1"}) || len(m.Held) != 1 || m.Held["A3"] == 0 {
		t.Fatalf("%s %+v", third, m)
	}
	late := w.stream(t, url)
	if name, id, m := late.next(); name != "snapshot" || id != third || len(m.Held) != 2 {
		t.Errorf("late: %s %s %+v", name, id, m)
	}
	back := w.stream(t, url, "Last-Event-ID", first)
	if name, id, m := back.next(); name != "delta" || m.From != first || id != second {
		t.Errorf("back: %s %s %+v", name, id, m)
	}
	if name, id, m := back.next(); name != "delta" || m.From != second || id != third {
		t.Errorf("back: %s %s %+v", name, id, m)
	}
	if name, id, _ := w.stream(t, url+"?since=other-1").next(); name != "snapshot" || id != third {
		t.Errorf("another chain: %s %s", name, id)
	}
	w.later(11 * time.Minute) // nobody releases it: it is over by the clock alone
	w.poll()
	if _, _, m := late.next(); m.From != third || !slices.Equal(m.Free, []string{"A2", "A3"}) {
		t.Errorf("after the deadline: %+v", m)
	}
}

func (w *world) poll() { w.in.PollSeats(w.Context()) }
