// Package engine is the sandbox gateway without HTTP: accounts, payments,
// refunds, tokens and the webhooks that are due. It does no I/O and reads time
// only through its clock, so that a server and a simulator can drive the same
// code. All methods may be called from any number of goroutines.
package engine

import (
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"
)

// DefaultMaxPayments bounds the memory of an engine: about 1 KiB each.
const DefaultMaxPayments = 200_000

// Config is what an engine is made of.
type Config struct {
	Accounts []Account
	Now      func() time.Time         // nil: time.Now
	NewID    func(kind string) string // nil: random; kind is "pay", "evt", "tok" or "ref"
	// MaxPayments is where create starts to refuse. Payments are never evicted:
	// they are the ledger that an audit reads. Zero: DefaultMaxPayments.
	MaxPayments int
}

// Engine is a gateway in memory.
type Engine struct {
	now         func() time.Time
	newID       func(kind string) string
	maxPayments int
	changed     chan struct{}

	mu       sync.Mutex
	accounts map[string]*account
	byKey    map[string]*account
	payments map[string]*record
	order    []*record
	timers   timerHeap
	outbox   outbox
	faults   Faults
	fired    map[string]int64
}

// New builds an engine, or lists every fault of its configuration.
func New(c Config) (*Engine, error) {
	e := &Engine{
		now: c.Now, newID: c.NewID, maxPayments: c.MaxPayments,
		changed:  make(chan struct{}, 1),
		accounts: map[string]*account{}, byKey: map[string]*account{},
		payments: map[string]*record{}, fired: map[string]int64{},
		outbox: newOutbox(),
	}
	if e.now == nil {
		e.now = time.Now
	}
	if e.newID == nil {
		e.newID = randomID
	}
	if e.maxPayments <= 0 {
		e.maxPayments = DefaultMaxPayments
	}
	var faults []error
	if len(c.Accounts) == 0 {
		faults = append(faults, errors.New("sandbox: no account; configure at least one"))
	}
	for _, a := range c.Accounts {
		faults = append(faults, e.addAccount(a))
	}
	return e, errors.Join(faults...)
}

func (e *Engine) addAccount(a Account) error {
	if err := a.validate(); err != nil {
		return err
	}
	if e.accounts[a.Name] != nil || e.byKey[a.AppKey] != nil {
		return fmt.Errorf("sandbox: account %q: its name or app key is taken; give each account its own", a.Name)
	}
	acct := &account{Account: a.withDefaults(), invoices: map[string]*record{}}
	e.accounts[a.Name], e.byKey[a.AppKey] = acct, acct
	return nil
}

// begin locks the engine, reads the clock once and runs what has become due, so
// that every call sees the state of its own instant. The caller unlocks.
func (e *Engine) begin() time.Time {
	e.mu.Lock()
	now := e.now()
	e.runTimers(now)
	return now
}

// Changed is signalled when something new is due, or due sooner.
func (e *Engine) Changed() <-chan struct{} { return e.changed }

func (e *Engine) signal() {
	select {
	case e.changed <- struct{}{}:
	default:
	}
}

func randomID(kind string) string { return kind + "_" + strings.ToLower(rand.Text()) }
