package report

import (
	"maps"
	"slices"
	"time"

	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/sale"
)

// totals adds up what a walk through the ledger meets.
type totals struct {
	levels         map[string]*Standing
	order          []string
	seats, booked  Standing
	releases       map[string]int
	money          map[string]*Money
	changes        []change
	admissions     int // first entries of histories
	entered        int // seats of those
	captures       int // changes to paid
	cancellations  int // changes from paid
	claims, owned  int // C and S items
	applied, other int // payments that were captured
	captured       int
}

// change is what one step of a booking did to the seats in use.
type change struct {
	at         time.Time
	held, paid int
}

func newTotals(p sale.Sale) *totals {
	t := &totals{levels: map[string]*Standing{}, releases: map[string]int{}, money: map[string]*Money{}}
	for _, l := range p.Levels {
		t.levels[l.Name] = &Standing{Name: l.Name, Cap: l.Cap}
		t.order = append(t.order, l.Name)
	}
	t.seats, t.booked = Standing{Name: "all levels", Cap: p.TotalCap}, Standing{Name: "bookings"}
	return t
}

func (t *totals) booking(b ledger.Booking) error {
	level := t.levels[b.Level]
	if level == nil { // a level that the plan no longer has
		level = &Standing{Name: b.Level}
		t.levels[b.Level] = level
		t.order = append(t.order, b.Level)
	}
	n := len(b.Seats)
	for _, s := range []struct {
		*Standing
		n int
	}{{level, n}, {&t.seats, n}, {&t.booked, 1}} {
		s.Admitted += s.n
		switch b.State {
		case ledger.Held:
			s.Held += s.n
		case ledger.Paid:
			s.Paid += s.n
		case ledger.Released:
			s.Released += s.n
		}
	}
	if b.State == ledger.Released {
		t.releases[string(b.Reason)]++
	}
	t.history(b, n)
	return nil
}

func (t *totals) history(b ledger.Booking, n int) {
	for _, h := range b.History {
		switch {
		case h.From == h.To: // an extension
			continue
		case h.From == ledger.None:
			t.admissions++
			t.entered += n
		}
		if h.To == ledger.Paid {
			t.captures++
		}
		if h.From == ledger.Paid {
			t.cancellations++
		}
		c := change{at: h.At.UTC()}
		if h.From == ledger.None && !b.AdmittedAt.IsZero() {
			c.at = b.AdmittedAt.UTC() // the seat was gone before the ledger heard of it
		}
		for state, by := range map[ledger.State]int{h.From: -n, h.To: n} {
			switch state {
			case ledger.Held:
				c.held += by
			case ledger.Paid:
				c.paid += by
			}
		}
		t.changes = append(t.changes, c)
	}
}

func (t *totals) claim(string, string) error { t.claims++; return nil }
func (t *totals) seat(string, string) error  { t.owned++; return nil }

func (t *totals) payment(p ledger.PaymentRecord) error {
	if p.Resolution == ledger.Open {
		return nil
	}
	m := t.money[p.Currency]
	if m == nil {
		m = &Money{Currency: p.Currency}
		t.money[p.Currency] = m
	}
	t.captured++
	m.Captured += p.AmountMinor
	switch {
	case p.Resolution == ledger.Applied:
		t.applied++
		m.Applied += p.AmountMinor
	case p.Resolution == ledger.Review:
		t.other++
		m.Review += p.AmountMinor
	case p.Refund == ledger.RefundDone:
		t.other++
		m.Refunded += p.AmountMinor
	default:
		t.other++
		m.Due += p.AmountMinor
	}
	return nil
}

func (t *totals) write(d *Document) {
	for _, name := range t.order {
		d.Levels = append(d.Levels, *t.levels[name])
	}
	d.Seats, d.Bookings, d.Releases = t.seats, t.booked, counts(t.releases)
	var captured, ends int64
	for _, currency := range slices.Sorted(maps.Keys(t.money)) {
		m := *t.money[currency]
		d.Money = append(d.Money, m)
		captured += m.Captured
		ends += m.Applied + m.Refunded + m.Due + m.Review
	}
	s, b := t.seats, t.booked
	d.Sums = []Sum{
		{"bookings admitted = paid + held + released", int64(t.admissions), int64(b.Paid + b.Held + b.Released)},
		{"seats admitted = paid + held + released", int64(t.entered), int64(s.Paid + s.Held + s.Released)},
		{"payments applied - cancelled = bookings paid", int64(t.captures - t.cancellations), int64(b.Paid)},
		{"candidates with a live booking = bookings paid or held", int64(t.claims), int64(b.Paid + b.Held)},
		{"seats that somebody owns = seats paid or held", int64(t.owned), int64(s.Paid + s.Held)},
		{"payments captured = paying a seat + refunded or in review", int64(t.captured), int64(t.applied + t.other)},
		{"money captured = applied + refunded + due + in review (minor units)", captured, ends},
	}
	d.Curve = curve(t.changes)
}

// Bounds of the picture.
const maxPoints = 180

// steps that people read easily.
var steps = []time.Duration{time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second, 30 * time.Second, time.Minute, 2 * time.Minute, 5 * time.Minute,
	10 * time.Minute, 30 * time.Minute, time.Hour, 3 * time.Hour, 6 * time.Hour, 12 * time.Hour, 24 * time.Hour, 7 * 24 * time.Hour}

func stepFor(span time.Duration, steps []time.Duration) time.Duration {
	for _, s := range steps {
		if span <= maxPoints*s {
			return s
		}
	}
	return (span/maxPoints + time.Second).Truncate(time.Second)
}

// curve is how many seats were in use, at most maxPoints times.
func curve(changes []change) []Point {
	if len(changes) == 0 {
		return nil
	}
	slices.SortStableFunc(changes, func(a, b change) int { return a.at.Compare(b.at) })
	first, last := changes[0].at, changes[len(changes)-1].at
	step := stepFor(last.Sub(first), steps)
	points := []Point{{At: first.Truncate(step)}}
	now := points[0]
	for _, c := range changes {
		for end := now.At.Add(step); c.at.After(end); end = now.At.Add(step) {
			now.At = end
			points = append(points, now)
		}
		now.Held, now.Paid = now.Held+c.held, now.Paid+c.paid
	}
	now.At = now.At.Add(step)
	return append(points, now)
}

// minuteSpan is how many minutes the rates have to put together.
func minuteSpan(all []ledger.Minute) time.Duration {
	if len(all) == 0 {
		return time.Minute
	}
	return stepFor(all[len(all)-1].At.Sub(all[0].At), steps[slices.Index(steps, time.Minute):])
}
