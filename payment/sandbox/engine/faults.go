package engine

import (
	"maps"
	"time"

	"github.com/holdfast/holdfast/payment/sandbox/api"
)

// Times is how often a switch still acts: 0 never, n the next n times, Always
// until it is switched off.
type Times int

// Always keeps a switch on.
const Always Times = -1

// Faults are the failure switches of an account, or of the whole gateway: then
// they act on the accounts that have none of their own. The zero value fails
// nothing.
type Faults struct {
	// Down: nothing answers and nothing happens, the pay page included.
	Down Times `json:"down,omitempty"`

	// RefuseCreate and RefuseRefund say a definite no.
	RefuseCreate Times `json:"refuse_create,omitempty"`
	RefuseRefund Times `json:"refuse_refund,omitempty"`
	// TimeOutCreate hangs and creates nothing; TimeOutCreated hangs and the
	// payment exists (scenario 16).
	TimeOutCreate  Times `json:"time_out_create,omitempty"`
	TimeOutCreated Times `json:"time_out_created,omitempty"`
	// The answer is lost after the effect (scenario 34).
	LoseCreate  Times `json:"lose_create,omitempty"`
	LoseExecute Times `json:"lose_execute,omitempty"`
	LoseCancel  Times `json:"lose_cancel,omitempty"`
	LoseRefund  Times `json:"lose_refund,omitempty"`
	// ChargeAgain makes an execute of a completed payment take the money again,
	// so that a caller that executes twice shows in the ledger.
	ChargeAgain Times `json:"charge_again,omitempty"`

	// What query and execute answer untruly (case D12).
	QueryUnknown     Times `json:"query_unknown,omitempty"` // a status nobody has heard of
	AmountMismatch   Times `json:"amount_mismatch,omitempty"`
	CurrencyMismatch Times `json:"currency_mismatch,omitempty"`
	OtherPayee       Times `json:"other_payee,omitempty"`
	FlipLive         Times `json:"flip_live,omitempty"` // a test-mode payment in a live account, or the reverse

	SlowMS          int64 `json:"slow_ms,omitempty"`           // before each call acts, at most MaxSlow
	RefundPendingMS int64 `json:"refund_pending_ms,omitempty"` // how long a new refund is pending

	WebhookDrop      Times `json:"webhook_drop,omitempty"`
	WebhookDuplicate int   `json:"webhook_duplicate,omitempty"` // copies besides the first, at most MaxDuplicates
	WebhookDelayMS   int64 `json:"webhook_delay_ms,omitempty"`
	// WebhookReorder holds an event back for ReorderBy: what is sent within that
	// time overtakes it.
	WebhookReorder Times `json:"webhook_reorder,omitempty"`
	// WebhookBeforeResponse sends a call's webhooks before it answers (case D19),
	// that of a create included.
	WebhookBeforeResponse Times `json:"webhook_before_response,omitempty"`
}

// Bounds of the switches.
const (
	MaxSlow       = time.Minute
	MaxDuplicates = 20
	ReorderBy     = time.Second
)

// SetFaults replaces the switches of an account, or with an empty name those of
// the whole gateway.
func (e *Engine) SetFaults(account string, f Faults) error {
	if f.SlowMS < 0 || f.SlowMS > MaxSlow.Milliseconds() || f.WebhookDuplicate < 0 || f.WebhookDuplicate > MaxDuplicates ||
		f.RefundPendingMS < 0 || f.WebhookDelayMS < 0 {
		return refuse(api.CodeInvalid, "slow_ms must be 0 to 60000, webhook_duplicate 0 to 20, other durations not negative")
	}
	e.begin()
	defer e.mu.Unlock()
	target, err := e.switches(account)
	if err != nil {
		return err
	}
	*target = f
	return nil
}

// Faults returns the switches as they are now, with what is left of each.
func (e *Engine) Faults(account string) (Faults, error) {
	e.begin()
	defer e.mu.Unlock()
	target, err := e.switches(account)
	if err != nil {
		return Faults{}, err
	}
	return *target, nil
}

// Fired counts how often each switch acted, by its JSON name, and a few other
// events that a test may want to see.
func (e *Engine) Fired() map[string]int64 {
	e.begin()
	defer e.mu.Unlock()
	return maps.Clone(e.fired)
}

// Slow is how long a call of this account has to wait before it acts.
func (e *Engine) Slow(account string) time.Duration {
	e.begin()
	defer e.mu.Unlock()
	return time.Duration(e.number(e.accounts[account], func(f *Faults) int64 { return f.SlowMS })) * time.Millisecond
}

// Down reports whether this call meets a gateway that is down. An empty account
// asks for the whole gateway.
func (e *Engine) Down(account string) bool {
	e.begin()
	defer e.mu.Unlock()
	return e.take(e.accounts[account], "down", func(f *Faults) *Times { return &f.Down })
}

func (e *Engine) switches(account string) (*Faults, error) {
	if account == "" {
		return &e.faults, nil
	}
	a, err := e.account(account)
	if err != nil {
		return nil, err
	}
	return &a.faults, nil
}

// take uses a switch up by one if it is on, the account's own first.
func (e *Engine) take(a *account, name string, pick func(*Faults) *Times) bool {
	times := pick(&e.faults)
	if a != nil && *pick(&a.faults) != 0 {
		times = pick(&a.faults)
	}
	if *times == 0 {
		return false
	}
	if *times > 0 {
		*times--
	}
	e.count(name)
	return true
}

func (e *Engine) number(a *account, pick func(*Faults) int64) int64 {
	if a != nil {
		if v := pick(&a.faults); v != 0 {
			return v
		}
	}
	return pick(&e.faults)
}

func (e *Engine) count(name string) { e.fired[name]++ }
