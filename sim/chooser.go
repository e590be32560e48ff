package sim

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"time"
)

// choose is a customer at the seat map: holds a group, changes it, extends it,
// lets it run out or go, and books it if it lasts. It reports whether the tab is
// done; else the customer goes on as one who takes any seat.
func (c *tab) choose() (done bool) {
	for c.tries = range patience {
		if c.rng.IntN(3) == 0 {
			c.lookAtMap("")
		}
		hold, pause := c.pick()
		if hold != "" {
			if done, pause = c.withHold(hold); done {
				return true
			}
		}
		if !c.p.sleep(time.Second + time.Duration(c.rng.Int64N(int64(5*time.Second))) + pause) {
			return true
		}
	}
	return false
}

// pick holds a group of the hall, or the best seats; "" if there is no hold.
func (c *tab) pick() (hold string, pause time.Duration) {
	body := fmt.Sprintf(`{"code":%q,"email":%q,"level":%q,%s%s}`, c.code, c.mail, hallName, c.wish(), c.seconds())
	h := http.Header{"Content-Type": {"application/json"}}
	if c.rng.IntN(2) == 0 {
		h.Set("Idempotency-Key", fmt.Sprintf("hold-%d-%d-%d", c.candidate.number, c.number, c.rng.IntN(3)))
	}
	a, err := c.t.request(c.p, c.rng, http.MethodPost, "/sales/"+theSale+"/holds", body, h)
	switch {
	case err != nil:
		return "", 0
	case a.status == http.StatusCreated || a.status == http.StatusOK:
		return a.doc.HoldID, 0
	case a.doc.Code == "duplicate": // has a booking already: pays it, or waits for its end
		return "", time.Duration(c.rng.Int64N(int64(c.t.plan.Hold)))
	}
	return "", time.Duration(c.rng.Int64N(int64(c.t.plan.SoftHoldMax)))
}

// wish is what to hold: named seats, or so many side by side.
func (c *tab) wish() string {
	level, _ := c.t.plan.Level(hallName)
	if c.rng.IntN(4) == 0 {
		return fmt.Sprintf(`"best":{"count":%d}`, 1+c.rng.IntN(2))
	}
	if c.rng.IntN(8) == 0 {
		return `"seats":["` + extraSeat + `"]`
	}
	return `"seats":` + quoted(groupOf(c.rng, level, c.t.plan.MaxSeats))
}

// seconds is how long to hold; "" leaves it to the sale.
func (c *tab) seconds() string {
	if c.rng.IntN(3) == 0 {
		return ""
	}
	return fmt.Sprintf(`,"seconds":%d`, 1+c.rng.IntN(int(c.t.plan.SoftHoldMax/time.Second)))
}

// withHold is what becomes of a hold.
func (c *tab) withHold(hold string) (done bool, pause time.Duration) {
	for range c.rng.IntN(3) {
		c.change(hold)
		if !c.p.sleep(time.Duration(c.rng.Int64N(int64(10 * time.Second)))) {
			return true, 0
		}
	}
	switch roll := c.rng.IntN(10); {
	case roll == 0: // loses interest
		return true, 0
	case roll == 1: // lets it run out, and is refused
		if !c.p.sleep(c.t.plan.SoftHoldMax) {
			return true, 0
		}
	case roll == 2: // lets it go, at once or when another tab may have another one
		c.letGo(hold, time.Duration(c.rng.Int64N(int64(20*time.Second))))
		return false, 0
	case roll == 3: // the page closes later and lets go of what is a booking by then
		c.p.run(func(context.Context) { c.letGo(hold, time.Duration(hash8(hold))*100*time.Millisecond) })
	}
	if c.rng.IntN(4) == 0 {
		c.lookAtMap(hold)
	}
	return c.book(hold)
}

// hash8 is a number from 0 to 255 of an id: for goroutines that may not use the
// tab's dice.
func hash8(id string) uint8 {
	n := uint8(0)
	for i := range len(id) {
		n = n*31 + id[i]
	}
	return n
}

// change asks for other seats, or for more time, or for both.
func (c *tab) change(hold string) {
	body := `{` + c.wish() + c.seconds() + `}`
	if c.rng.IntN(3) == 0 {
		body = fmt.Sprintf(`{"seconds":%d}`, 1+c.rng.IntN(int(c.t.plan.SoftHoldMax/time.Second)))
	}
	_, _ = c.t.request(c.p, c.rng, http.MethodPatch, "/holds/"+hold, body, http.Header{"Content-Type": {"application/json"}}) // refused or lost: the hold is as it was
}

// letGo gives a hold back, whatever it is by then.
func (c *tab) letGo(hold string, after time.Duration) {
	if !c.p.sleep(after) {
		return
	}
	_, _ = c.t.requestTo(c.p, int(hash8(hold))%c.t.script.ingress, http.MethodDelete, "/holds/"+hold, "", nil) // lost: it runs out
}

// book promotes the hold; an impatient customer clicks twice.
func (c *tab) book(hold string) (done bool, pause time.Duration) {
	if c.key == "" || c.rng.IntN(3) > 0 {
		c.key = fmt.Sprintf("key-%d-%d-%d", c.candidate.number, c.number, c.tries)
	}
	body := fmt.Sprintf(`{"code":%q,"email":%q,"hold_id":%q}`, c.code, c.mail, hold)
	h := http.Header{"Content-Type": {"application/json"}, "Idempotency-Key": {c.key}}
	if c.rng.IntN(3) == 0 {
		again := h.Clone()
		if c.rng.IntN(2) == 0 {
			again.Set("Idempotency-Key", c.key+"-again")
		}
		c.p.run(func(context.Context) {
			// The query tells its turns from those of the first click, which are at
			// the same time: turns that look alike would come in any order.
			a, err := c.t.requestTo(c.p, int(hash8(hold)/2)%c.t.script.ingress, http.MethodPost, "/sales/"+theSale+"/bookings?click=2", body, again)
			if err == nil && (a.status == http.StatusCreated || a.status == http.StatusOK && a.doc.State == "held") {
				c.t.audit.acknowledged(a.doc.BookingID)
			}
		})
	}
	for range 3 {
		a, err := c.t.request(c.p, c.rng, http.MethodPost, "/sales/"+theSale+"/bookings", body, h)
		if err != nil {
			a = answer{}
		}
		if a.doc.Code == "hold_gone" {
			return false, 0
		}
		if done, pause = c.answered(a); done || a.status == http.StatusConflict {
			return done, pause
		}
		if !c.p.sleep(time.Second + time.Duration(c.rng.Int64N(int64(4*time.Second)))) {
			return true, 0
		}
	}
	return false, 0
}

// lookAtMap reads the seat map, with one's own hold or without. It may name no
// hold and no booking, one's own included.
func (c *tab) lookAtMap(own string) {
	var h http.Header
	if own != "" {
		h = http.Header{"Hold-Id": {own}}
	}
	a, err := c.t.request(c.p, c.rng, http.MethodGet, "/sales/"+theSale+"/seats", "", h)
	if err != nil || a.status != http.StatusOK {
		return
	}
	for _, id := range slices.Sorted(maps.Keys(c.t.holds.ids)) {
		if bytes.Contains(a.body, []byte(id)) {
			c.t.holds.broken = append(c.t.holds.broken, fmt.Errorf("%w: the map names %s", errBroken, id))
		}
	}
}
