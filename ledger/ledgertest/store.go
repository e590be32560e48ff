// Package ledgertest holds what tests of the ledger share: an in-memory Store
// with exact semantics, fault hooks and read counters, and the conformance
// suite that every Store has to pass.
package ledgertest

import (
	"context"
	"sync"
	"time"

	"github.com/holdfast/holdfast/ledger"
)

// Store is a ledger.Store in memory. Each call is atomic, under one lock, and
// is judged by the same data that a Transition carries. Use NewStore.
type Store struct {
	// Fault, if set before the first call, is asked once for each call with the
	// method's name; Apply's is "Apply:" and the transition's name ("Apply:T1").
	// It runs outside of the store's lock and may be called at once from many
	// goroutines.
	Fault func(op string) Fault

	now   func() time.Time
	mu    sync.Mutex
	calls map[string]int

	bookings map[string]ledger.Booking
	claims   map[owned]string // candidate -> booking id
	seats    map[owned]string // token -> booking id
	payments map[ledger.PaymentKey]ledger.PaymentRecord
	roster   map[owned]ledger.RosterRow
	controls map[string]ledger.Control
	notes    map[owned]ledger.SweepNote
	audits   map[string][]ledger.AuditEntry
	minutes  map[string][]ledger.Minute
	status   map[string]statusDoc
	inbox    map[owned]ledger.InboxItem
}

var _ ledger.Store = (*Store)(nil)

// owned names something within a sale.
type owned struct{ sale, name string }

type statusDoc struct {
	epoch, n int64
	doc      []byte
}

// NewStore returns an empty store. now stamps what an operator resolves.
func NewStore(now func() time.Time) *Store {
	return &Store{
		now:      now,
		calls:    map[string]int{},
		bookings: map[string]ledger.Booking{},
		claims:   map[owned]string{},
		seats:    map[owned]string{},
		payments: map[ledger.PaymentKey]ledger.PaymentRecord{},
		roster:   map[owned]ledger.RosterRow{},
		controls: map[string]ledger.Control{},
		notes:    map[owned]ledger.SweepNote{},
		audits:   map[string][]ledger.AuditEntry{},
		minutes:  map[string][]ledger.Minute{},
		status:   map[string]statusDoc{},
		inbox:    map[owned]ledger.InboxItem{},
	}
}

// do runs one call: the fault decides whether f runs at all and whether its
// answer arrives.
func (s *Store) do(ctx context.Context, op string, f func() error) error {
	fault := NoFault
	if s.Fault != nil {
		fault = s.Fault(op)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	s.calls[op]++
	if err := fault.before(); err != nil {
		s.mu.Unlock()
		return err
	}
	err := f()
	s.mu.Unlock()
	if fault == LoseAnswer {
		return ErrAnswerLost
	}
	return err
}
