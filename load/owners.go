package load

import (
	"fmt"
	"slices"
	"time"
)

// claim is what a client knows for certain: from since to until these seats are
// theirs and nobody else's. It ends before the server's deadline, and when the
// client itself asks for a change.
type claim struct {
	id     string // of the hold or booking
	person int
	seats  []string
	booked bool // a booking, which no hold of the same person replaces
	since  time.Time
	until  time.Time
}

// owners is who has which seat, as far as clients know. It judges the server
// from outside: it needs no look into any store. Not safe for concurrent use.
type owners struct {
	bySeat   map[string]*claim
	byPerson map[int]*claim
	kept     map[int]*claim // what a person began to change: only seats that stay in any case are certain
	asking   map[int]int    // requests of a person that may change what they hold
	muddled  map[int]bool   // more than one at once: nobody knows which came last
}

func newOwners() *owners {
	return &owners{map[string]*claim{}, map[int]*claim{}, map[int]*claim{}, map[int]int{}, map[int]bool{}}
}

// begin notes that a person asks for something that may change what they hold:
// only what they keep in any case stays certain. Each begin has an end.
func (o *owners) begin(person int, keep []string) {
	o.asking[person]++
	if o.asking[person] > 1 {
		o.muddled[person], keep = true, nil
	}
	c := o.byPerson[person]
	if c == nil {
		c = o.kept[person]
	}
	if c == nil || c.booked {
		return
	}
	delete(o.byPerson, person)
	o.kept[person] = c
	o.drop(c, keep)
}

// drop ends what is certain of a claim's seats, but for those that stay.
func (o *owners) drop(c *claim, keep []string) {
	for _, s := range c.seats {
		if o.bySeat[s] == c && !slices.Contains(keep, s) {
			delete(o.bySeat, s)
		}
	}
}

// end notes the answer to what began at asked: the claim that it gives, or nil.
// Another person's claim that was certain during the whole request is a seat
// that was given twice.
func (o *owners) end(person int, c *claim, asked time.Time) (twice []string) {
	muddled := o.muddled[person]
	if o.asking[person]--; o.asking[person] == 0 {
		delete(o.asking, person)
		delete(o.muddled, person)
	}
	if c == nil {
		return nil
	}
	for _, s := range c.seats {
		was := o.bySeat[s]
		if was != nil && was.person != person && !was.since.After(asked) && was.until.After(c.since) {
			twice = append(twice, fmt.Sprintf("seat %s was given to %s while %s had it", s, c.id, was.id))
		}
	}
	if was := o.kept[person]; was != nil {
		o.drop(was, nil)
		delete(o.kept, person)
	}
	if muddled && !c.booked {
		return twice
	}
	for _, s := range c.seats {
		o.bySeat[s] = c
	}
	o.byPerson[person] = c
	return twice
}

// forget ends what is certain of a booking: a failing card gives its seats back
// at once.
func (o *owners) forget(id string) {
	for person, c := range o.byPerson {
		if c.id == id {
			delete(o.byPerson, person)
			o.drop(c, nil)
		}
	}
}

// certain calls each for every claim that holds from a moment to another.
func (o *owners) certain(from, to time.Time, each func(*claim)) {
	for _, c := range o.byPerson {
		if !c.since.After(from) && c.until.After(to) {
			each(c)
		}
	}
}
