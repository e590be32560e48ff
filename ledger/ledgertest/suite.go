package ledgertest

import (
	"testing"

	"github.com/holdfast/holdfast/ledger"
)

// Suite is what every ledger.Store has to pass. newStore returns an empty store
// that is good for one test; it is called once for each. The suite knows time
// only as data and needs no clock.
//
// Sequential tests run every step on the store and on the in-memory one, and
// compare answers, whole Founds, contents and listings; so the adapters'
// expressions are held to the meaning that package ledger gives a Transition.
func Suite(t *testing.T, newStore func(t *testing.T) ledger.Store) {
	for _, group := range [][]suiteTest{transitionTests, foundTests, lateTests, moneyTests, repeatTests, contentionTests, listingTests, controlTests, keepingTests, minuteTests, purgeTests} {
		for _, c := range group {
			t.Run(c.name, func(t *testing.T) { c.run(newWorld(t, newStore(t))) })
		}
	}
}

type suiteTest struct {
	name string
	run  func(w *world)
}
