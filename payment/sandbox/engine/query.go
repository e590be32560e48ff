package engine

import (
	"time"

	"github.com/holdfast/holdfast/payment"
	"github.com/holdfast/holdfast/payment/sandbox/api"
)

// Query answers about a payment of this account, as untruly as the switches say.
func (e *Engine) Query(account, paymentID string) (api.Payment, error) {
	e.begin()
	defer e.mu.Unlock()
	p, err := e.find(account, paymentID)
	if err != nil {
		return api.Payment{}, err
	}
	return e.distorted(p), nil
}

// find hides the payments of other accounts.
func (e *Engine) find(account, paymentID string) (*record, error) {
	if p := e.payments[paymentID]; p != nil && p.account.Name == account {
		return p, nil
	}
	return nil, refuse(api.CodeNotFound, "this account has no such payment")
}

func (p *record) answer() api.Payment {
	a := api.Payment{
		PaymentID: p.id, Status: string(p.status),
		AmountMinor: p.request.AmountMinor, Currency: p.request.Currency,
		Payee: p.account.Payee, Live: p.account.Live,
		RefundedMinor: p.refundedMinor(payment.RefundDone),
		Metadata:      api.Metadata{Sale: p.request.Sale, BookingID: p.request.BookingID, Candidate: p.request.Candidate},
	}
	if p.account.Moves == payment.MovesOnPage {
		a.ExpiresAtMS = p.expiresAt.UnixMilli()
	}
	if !p.capturedAt.IsZero() {
		a.CapturedAtMS = p.capturedAt.UnixMilli()
	}
	return a
}

// distorted is what the switches of case D12 make of an answer.
func (e *Engine) distorted(p *record) api.Payment {
	a := p.answer()
	if e.take(p.account, "query_unknown", func(f *Faults) *Times { return &f.QueryUnknown }) {
		a.Status = "in_review"
	}
	if e.take(p.account, "amount_mismatch", func(f *Faults) *Times { return &f.AmountMismatch }) {
		a.AmountMinor--
	}
	if e.take(p.account, "currency_mismatch", func(f *Faults) *Times { return &f.CurrencyMismatch }) {
		if a.Currency = "XTS"; p.request.Currency == "XTS" {
			a.Currency = "XXX"
		}
	}
	if e.take(p.account, "other_payee", func(f *Faults) *Times { return &f.OtherPayee }) {
		a.Payee = "other-" + a.Payee
	}
	if e.take(p.account, "flip_live", func(f *Faults) *Times { return &f.FlipLive }) {
		a.Live = !a.Live
	}
	return a
}

func (p *record) refundedMinor(s payment.RefundStatus) int64 {
	var sum int64
	for _, r := range p.refunds {
		if r.status == s {
			sum += r.amountMinor
		}
	}
	return sum
}

// Entry is a payment in the ledger that an audit reads. It is always the truth,
// whatever the switches say.
type Entry struct {
	PaymentID          string           `json:"payment_id"`
	Account            string           `json:"account"`
	Metadata           payment.Metadata `json:"metadata"`
	Status             payment.Status   `json:"status"`
	AmountMinor        int64            `json:"amount_minor"`
	Currency           string           `json:"currency"`
	CapturedMinor      int64            `json:"captured_minor"`
	RefundedMinor      int64            `json:"refunded_minor"`
	RefundPendingMinor int64            `json:"refund_pending_minor"`
	Captures           int              `json:"captures"`      // more than one: charged twice
	ExecuteCalls       int              `json:"execute_calls"` // more than one: the execute guard failed
	LateUnderWay       bool             `json:"late_under_way"`
	CreatedAt          time.Time        `json:"created_at"`
	CapturedAt         time.Time        `json:"captured_at,omitzero"`
}

// Payments lists all payments in the order of their creation.
func (e *Engine) Payments() []Entry { return e.PaymentsFrom(0, 0) }

// PaymentsFrom lists payments from the index-th on, at most limit; no positive
// limit means all.
func (e *Engine) PaymentsFrom(index, limit int) []Entry {
	e.begin()
	defer e.mu.Unlock()
	rest := e.order[min(max(index, 0), len(e.order)):]
	if limit > 0 && len(rest) > limit {
		rest = rest[:limit]
	}
	list := make([]Entry, 0, len(rest))
	for _, p := range rest {
		list = append(list, p.entry())
	}
	return list
}

func (p *record) entry() Entry {
	return Entry{
		PaymentID: p.id, Account: p.account.Name, Metadata: p.request.Metadata, Status: p.status,
		AmountMinor: p.request.AmountMinor, Currency: p.request.Currency,
		CapturedMinor: p.capturedMinor, RefundedMinor: p.refundedMinor(payment.RefundDone),
		RefundPendingMinor: p.refundedMinor(payment.RefundPending),
		Captures:           p.captures, ExecuteCalls: p.executeCalls, LateUnderWay: p.latePending,
		CreatedAt: p.createdAt, CapturedAt: p.capturedAt,
	}
}

// Page is what the pay page shows.
type Page struct {
	Account   string
	Title     string
	Payment   api.Payment
	ReturnURL string
	Paying    bool // late or slow money is under way
	Over      bool // nothing can be done here any more
	Executes  bool // the page approves; the merchant takes the money
}

// Page returns what to show about a payment, truly.
func (e *Engine) Page(paymentID string) (Page, error) {
	e.begin()
	defer e.mu.Unlock()
	p := e.payments[paymentID]
	if p == nil {
		return Page{}, refuse(api.CodeNotFound, "no such payment")
	}
	return Page{
		Account: p.account.Name, Title: p.request.Title, Payment: p.answer(), ReturnURL: p.request.ReturnURL,
		Paying:   p.latePending || p.status == payment.StatusPending,
		Over:     p.status.Final() || p.status == payment.StatusApproved,
		Executes: p.account.Moves == payment.MovesOnExecute,
	}, nil
}

// NewRef makes an id for a redirect.
func (e *Engine) NewRef() string { return e.newID("ref") }
