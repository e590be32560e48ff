package sim

import (
	"context"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/holdfast/holdfast/payment/sandbox/engine"
	"github.com/holdfast/holdfast/sale"
)

// candidate is a customer with a phone, a bad network and perhaps a second tab.
type candidate struct {
	p              *process
	t              *town
	code, mail     string
	hash, mailHash string
	number         int
	rng            *rand.Rand // of the plan for the whole sale
	tabs           []*process
	chooses        bool // picks seats from the map first
}

func (t *town) newCandidate(n int) *candidate {
	c := &candidate{t: t, number: n, code: fmt.Sprintf("CODE-%04d", n), mail: fmt.Sprintf("person.%d@example.org", n)}
	c.p = t.newProcess(fmt.Sprintf("candidate-%d", n))
	c.rng = rand.New(rand.NewPCG(t.options.Seed, uint64(100+n)))
	code, err := sale.NormaliseCode(c.code)
	if err != nil {
		panic(err) // it is made above
	}
	mail, err := sale.ParseEmail(c.mail)
	if err != nil {
		panic(err)
	}
	c.hash, c.mailHash = string(t.hasher.Code(code)), string(t.hasher.Email(mail))
	return c
}

// arrive lets the candidate come, with one tab or two.
func (c *candidate) arrive() {
	tabs := 1
	if c.rng.IntN(4) == 0 {
		tabs = 2
	}
	first := time.Duration(c.rng.Int64N(int64(20 * time.Second)))
	if c.rng.IntN(4) == 0 { // comes later, for what is given back
		first = time.Duration(c.rng.Int64N(int64(c.t.plan.Hold * 2)))
	}
	c.chooses = c.t.seated() && c.rng.IntN(4) > 0
	shared := ""
	if c.rng.IntN(2) == 0 {
		shared = fmt.Sprintf("key-%d", c.number)
	}
	for n := range tabs {
		own := *c
		own.p = c.t.newProcess(fmt.Sprintf("%s.%d", c.p.name, n))
		c.tabs = append(c.tabs, own.p)
		tab := &tab{candidate: &own, number: n, rng: rand.New(rand.NewPCG(c.t.options.Seed, uint64(10_000+10*c.number+n))), key: shared}
		own.p.run(func(context.Context) {
			if own.p.sleep(first) && !(c.chooses && tab.choose()) {
				tab.shop()
			}
		})
	}
}

// tab is one browser tab.
type tab struct {
	*candidate
	number int
	rng    *rand.Rand
	key    string // of the attempt; "": a new one is made
	tries  int
}

// patience bounds how often a tab asks for a seat.
const patience = 7

// shop asks for a seat until there is one, or no hope, or no patience.
func (c *tab) shop() {
	for c.tries = range patience {
		if c.key == "" || c.tries > 0 && c.rng.IntN(4) == 0 {
			c.key = fmt.Sprintf("key-%d-%d-%d", c.candidate.number, c.number, c.tries)
		}
		a, err := c.ask()
		if err != nil { // the connection broke: the same key again
			a = answer{}
		}
		done, pause := c.answered(a)
		if done || !c.p.sleep(time.Second+time.Duration(c.rng.Int64N(int64(8*time.Second)))+pause) {
			return
		}
	}
}

// answered is what a tab does with the answer to its booking request, and for how
// long it waits before it asks again.
func (c *tab) answered(a answer) (done bool, pause time.Duration) {
	switch {
	case a.status == http.StatusCreated, a.status == http.StatusOK && a.doc.State == "held":
		c.t.audit.acknowledged(a.doc.BookingID)
		return c.decide(a), 0
	case a.doc.Code == "duplicate" && a.doc.PaymentURL != "":
		c.visit(a.doc.PaymentURL, engine.ActPay)
		return true, 0
	case a.status == http.StatusOK: // released or paid
		c.key = ""
		return a.doc.State == "paid", 0
	case a.doc.Code == "level_full" || a.doc.Code == "sold_out" || a.doc.Code == "seat_taken" || a.doc.Code == "duplicate":
		c.key = ""
		return false, time.Duration(c.rng.Int64N(int64(c.t.plan.Hold)))
	}
	return a.status == http.StatusBadRequest, 0
}

// ask sends the booking request. What is asked for belongs to the key.
func (c *tab) ask() (answer, error) {
	wish := rand.New(rand.NewPCG(c.t.options.Seed, uint64(len(c.key))<<32|uint64(crc32.ChecksumIEEE([]byte(c.key)))))
	level := c.t.plan.Levels[wish.IntN(len(c.t.plan.Levels))]
	seats := fmt.Sprint(1 + wish.IntN(c.t.plan.MaxSeats))
	if level.Kind == sale.KindSeated {
		seats = quoted(groupOf(wish, level, c.t.plan.MaxSeats))
	}
	body := fmt.Sprintf(`{"code":%q,"email":%q,"level":%q,"seats":%s}`, c.code, c.mail, level.Name, seats)
	h := http.Header{"Content-Type": {"application/json"}, "Idempotency-Key": {c.key}}
	return c.t.request(c.p, c.rng, http.MethodPost, "/sales/"+theSale+"/bookings", body, h)
}

// decide is what becomes of a hold: most pay, some too late or not at all. It
// reports whether the tab is done.
func (c *tab) decide(a answer) (done bool) {
	hold := c.t.plan.Hold
	within := func(d time.Duration) bool { return c.p.sleep(time.Duration(c.rng.Int64N(int64(d)))) }
	switch roll := c.rng.IntN(100); {
	case roll < 45:
		within(hold * 9 / 10)
		c.visit(a.doc.PaymentURL, engine.ActPay)
	case roll < 55: // in the last moment
		c.p.sleep(hold - 5*time.Second + time.Duration(c.rng.Int64N(int64(90*time.Second))))
		c.visit(a.doc.PaymentURL, engine.ActPay)
	case roll < 68:
		within(hold / 2)
		c.visit(a.doc.PaymentURL, engine.ActLate)
	case roll < 75:
		within(hold)
		c.visit(a.doc.PaymentURL, engine.ActSlow)
	case roll < 80:
		within(hold / 2)
		c.visit(a.doc.PaymentURL, engine.ActFail)
	case roll < 88: // gives it back, and may want another
		within(hold)
		_, _ = c.t.request(c.p, c.rng, http.MethodDelete, "/bookings/"+a.doc.BookingID, "", nil) // lost: the hold ends by itself
		c.key = ""
		return c.rng.IntN(2) == 0
	case roll < 92: // asks again before paying
		return false
	}
	return true // goes away
}

// visit is the gateway's page and the way back from it.
func (c *tab) visit(page string, action engine.Action) {
	_, id, ok := strings.Cut(page, "/pay/")
	if !ok {
		return
	}
	if c.t.sched.stand(c.p, "page."+string(action), id).kind == crashed {
		return
	}
	after := time.Duration(0)
	if c.rng.IntN(2) == 0 {
		after = time.Duration(c.rng.Int64N(int64(20 * time.Minute)))
	}
	c.t.touched = true
	if _, err := c.t.pay.Act(id, action, after); err != nil {
		return // the page is over
	}
	if c.rng.IntN(3) > 0 {
		q := url.Values{"payment_id": {id}, "sale": {theSale}}
		_, _ = c.t.request(c.p, c.rng, http.MethodGet, "/payments/"+c.t.script.gateway+"/return?"+q.Encode(), "", nil) // the webhook tells as well
	}
}
