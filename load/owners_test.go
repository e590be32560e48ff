package load

import (
	"testing"
	"time"
)

// TestOwners: what counts as a seat given twice, and what does not.
func TestOwners(t *testing.T) {
	at := func(ms int) time.Time { return time.Unix(1000, 0).Add(time.Duration(ms) * time.Millisecond) }
	// Person 1 has A from 10 to 1000; asked at 0.
	first := func(o *owners) {
		o.begin(1, nil)
		if twice := o.end(1, &claim{id: "h1", person: 1, seats: []string{"A"}, since: at(10), until: at(1000)}, at(0)); len(twice) > 0 {
			t.Fatal(twice)
		}
	}
	second := func(o *owners, asked, answered int) int {
		o.begin(2, nil)
		return len(o.end(2, &claim{id: "h2", person: 2, seats: []string{"A", "B"}, since: at(answered), until: at(5000)}, at(asked)))
	}
	for _, c := range []struct {
		name     string
		before   func(*owners)
		asked, t int
		twice    int
	}{
		{"while the first one has it", first, 20, 30, 1},
		{"asked before the first one knew", first, 5, 30, 0},
		{"answered after the first one's deadline", first, 900, 1001, 0},
		{"after the first one asked for a change", func(o *owners) { first(o); o.begin(1, nil) }, 20, 30, 0},
		{"the first one keeps it in the change", func(o *owners) { first(o); o.begin(1, []string{"A"}) }, 20, 30, 1},
		{"the change that keeps it is refused", func(o *owners) { first(o); o.begin(1, []string{"A"}); o.end(1, nil, at(11)) }, 20, 30, 1},
		{"the first one chooses anew after a change that was refused", func(o *owners) {
			first(o)
			o.begin(1, []string{"A"})
			o.end(1, nil, at(11))
			o.begin(1, nil)
		}, 20, 30, 0},
		{"another tab of the first one chooses anew while it changes", func(o *owners) { first(o); o.begin(1, []string{"A"}); o.begin(1, nil) }, 20, 30, 0},
		{"the card for it is about to fail", func(o *owners) {
			o.begin(1, nil)
			o.end(1, &claim{id: "b1", person: 1, seats: []string{"A"}, booked: true, since: at(10), until: at(1000)}, at(0))
			o.forget("b1")
		}, 20, 30, 0},
		{"the card for something else is about to fail", func(o *owners) { first(o); o.forget("b9") }, 20, 30, 1},
		{"two tabs of the first one at once", func(o *owners) {
			first(o)
			o.begin(1, nil)
			o.begin(1, nil)
			o.end(1, &claim{id: "h3", person: 1, seats: []string{"A"}, since: at(11), until: at(1000)}, at(11))
		}, 20, 30, 0},
		{"the first one booked it, and another tab asks", func(o *owners) {
			o.begin(1, nil)
			o.end(1, &claim{id: "b1", person: 1, seats: []string{"A"}, booked: true, since: at(10), until: at(1000)}, at(0))
			o.begin(1, nil)
		}, 20, 30, 1},
	} {
		o := newOwners()
		c.before(o)
		if got := second(o, c.asked, c.t); got != c.twice {
			t.Errorf("%s: %d seats twice, want %d", c.name, got, c.twice)
		}
	}
}

// TestLastMap: what the last map has to show, with and without a look inside.
func TestLastMap(t *testing.T) {
	h := &hall{sold: map[string]string{"A": "b1"}}
	for _, c := range []struct {
		name  string
		m     seatMap
		inUse int
		wrong int
	}{
		{"what is paid", seatMap{Sold: []string{"A"}}, 1, 0},
		{"late money, which clients do not know", seatMap{Sold: []string{"A", "B"}}, 2, 0},
		{"a seat that nobody has", seatMap{Sold: []string{"A", "B"}}, 1, 1},
		{"a seat that nobody has, from outside", seatMap{Sold: []string{"A", "B"}}, unknown, 0},
		{"a paid seat is missing", seatMap{Sold: []string{"B"}}, 1, 1},
		{"something is held", seatMap{Sold: []string{"A"}, Held: map[string]int{"B": 9}}, 1, 1},
	} {
		if wrong := h.difference(c.m, c.inUse); len(wrong) != c.wrong {
			t.Errorf("%s: %q, want %d", c.name, wrong, c.wrong)
		}
	}
}
