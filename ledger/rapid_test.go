package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/ledger/invariant"
	"github.com/holdfast/holdfast/ledger/ledgertest"
	"github.com/holdfast/holdfast/sale"
)

// Any events, in any order, any number of times, each from a belief that may be
// stale, against an oracle that knows nothing of transitions: it keeps sets of
// facts and says in one line for each event when it may happen.
func TestAnyOrderOfEvents(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := &world{store: ledgertest.NewStore(func() time.Time { return start }), oracle: newOracle()}
		repeat := map[string]func(*rapid.T){"": w.check}
		for name, act := range acts {
			repeat[name] = func(t *rapid.T) { w.act(t, act) }
		}
		t.Repeat(repeat)
	})
}

// Four bookings share two candidates and three seats; three payments are paid
// for any of them.
const bookings, payments = 4, 3

func drawn(t *rapid.T) ledger.Booking {
	n := rapid.IntRange(0, bookings-1).Draw(t, "booking")
	b := booking(fmt.Sprint("b", n))
	b.Candidate = fmt.Sprint("c", n%2)
	b.Seats = []ledger.Seat{{Token: fmt.Sprint("t", n%3)}}
	b.Payment.ID = fmt.Sprint("p", n%payments)
	return b
}

type world struct {
	store  *ledgertest.Store
	oracle *oracle
	states map[string]ledger.State // as last seen
}

// act draws an event and gives it to the store and to the oracle.
func (w *world) act(t *rapid.T, a act) {
	b := drawn(t)
	c := capture(b)
	c.Key.ID = fmt.Sprint("p", rapid.IntRange(0, payments-1).Draw(t, "payment"))
	b.State = a.believes
	tr, err := a.make(b, c)
	if err != nil {
		t.Fatalf("build: %v", err)
	}
	for range rapid.IntRange(1, 2).Draw(t, "deliveries") {
		want := w.oracle.do(a, b, c)
		err := w.store.Apply(context.Background(), tr)
		var failed *ledger.ConditionError
		if err != nil && !errors.As(err, &failed) || (err == nil) != want {
			t.Fatalf("%s of %s with %s: %v, the oracle says %v", tr.Name, b.ID, c.Key, err, want)
		}
	}
}

// check compares what both hold and runs the invariants of the ledger.
func (w *world) check(t *rapid.T) {
	s := invariant.New(sale.Sale{ID: "s", TotalCap: 3, Levels: []sale.Level{{Name: "N1", Cap: 3}}})
	if err := w.store.Scan(context.Background(), "s", s.Visitor()); err != nil {
		t.Fatal(err)
	}
	states, resolutions := map[string]ledger.State{}, map[string]ledger.Resolution{}
	for id, b := range s.Bookings {
		states[id] = b.State
	}
	for k, p := range s.Payments {
		resolutions[k.ID] = p.Resolution
	}
	for _, diff := range []string{cmp.Diff(w.oracle.states, states), cmp.Diff(w.oracle.payments, resolutions),
		cmp.Diff(w.oracle.owners("c"), s.Claims), cmp.Diff(w.oracle.owners("t"), s.SeatOwners)} {
		if diff != "" {
			t.Fatalf("the oracle holds something else (-oracle +store):\n%s", diff)
		}
	}
	s.Earlier, w.states = w.states, states
	for _, holds := range []func(invariant.Snapshot) []invariant.Violation{invariant.Caps, invariant.OneLive, invariant.TokenOwner, invariant.Terminal, invariant.PayOnce} {
		if v := holds(*s); len(v) != 0 {
			t.Fatalf("%+v", v)
		}
	}
}

// oracle holds facts: how each booking stands, what became of each payment and
// whose it is, and which booking each thing ("c0", "t1") belongs to.
type oracle struct {
	states    map[string]ledger.State
	paidBy    map[string]string
	payments  map[string]ledger.Resolution
	payee     map[string]string
	ownership map[string]string
}

func newOracle() *oracle {
	return &oracle{map[string]ledger.State{}, map[string]string{}, map[string]ledger.Resolution{}, map[string]string{}, map[string]string{}}
}

func (o *oracle) owners(kind string) map[string]string {
	m := maps.Clone(o.ownership)
	maps.DeleteFunc(m, func(thing, _ string) bool { return thing[:1] != kind })
	return m
}

// do lets the event happen if it may.
func (o *oracle) do(a act, b ledger.Booking, c ledger.Capture) bool {
	if !a.may(o, b, c.Key.ID) {
		return false
	}
	a.happens(o, b, c.Key.ID)
	return true
}

func (o *oracle) free(b ledger.Booking) bool {
	return !slices.ContainsFunc([]string{b.Candidate, b.Seats[0].Token}, func(thing string) bool {
		owner := o.ownership[thing]
		return owner != "" && owner != b.ID
	})
}

func (o *oracle) take(b ledger.Booking, s ledger.State) {
	o.states[b.ID] = s
	for _, thing := range []string{b.Candidate, b.Seats[0].Token} {
		if s.Live() {
			o.ownership[thing] = b.ID
		} else {
			delete(o.ownership, thing)
		}
	}
}

func (o *oracle) resolve(payment, b string, r ledger.Resolution) {
	o.payments[payment], o.payee[payment] = r, b
}

// unspent: nobody knows the payment, or it is open and b's.
func (o *oracle) unspent(payment, b string) bool {
	r, known := o.payments[payment]
	return !known || r == ledger.Open && o.payee[payment] == b
}

func (o *oracle) unresolved(payment string) bool {
	r, known := o.payments[payment]
	return !known || r == ledger.Open
}
