package engine

import (
	"time"

	"github.com/holdfast/holdfast/payment"
	"github.com/holdfast/holdfast/payment/sandbox/api"
)

// record is a payment and everything that ever happened to its money.
type record struct {
	account   *account
	id        string
	status    payment.Status
	request   payment.CreateRequest
	createdAt time.Time
	expiresAt time.Time // of the session

	capturedAt    time.Time
	capturedMinor int64
	captures      int
	executeCalls  int
	refunds       map[string]*refund
	latePending   bool // the customer has paid late, the money is under way
}

// Create makes a payment, or finds it again: by idemKey on a page account, by
// its invoice on an execute account that is InvoiceIdempotent. Only money and
// metadata are compared on a repeat; a hold's end may have moved since.
func (e *Engine) Create(account, idemKey string, r payment.CreateRequest) (api.Payment, error) {
	now := e.begin()
	defer e.mu.Unlock()
	a, err := e.account(account)
	if err != nil {
		return api.Payment{}, err
	}
	if err := validateCreate(a, idemKey, r); err != nil {
		return api.Payment{}, err
	}
	if e.take(a, "refuse_create", func(f *Faults) *Times { return &f.RefuseCreate }) {
		return api.Payment{}, refuse(api.CodeRefused, "the gateway takes no payment now")
	}
	if e.take(a, "time_out_create", func(f *Faults) *Times { return &f.TimeOutCreate }) {
		return api.Payment{}, ErrHang
	}
	p, err := e.findOrCreate(a, idemKey, r, now)
	if err != nil {
		return api.Payment{}, err
	}
	if e.take(a, "time_out_created", func(f *Faults) *Times { return &f.TimeOutCreated }) {
		return api.Payment{}, ErrHang
	}
	if e.take(a, "lose_create", func(f *Faults) *Times { return &f.LoseCreate }) {
		return api.Payment{}, ErrLost
	}
	return p.answer(), nil
}

func validateCreate(a *account, idemKey string, r payment.CreateRequest) error {
	fits := func(s string) bool { return len(s) <= api.MaxFieldBytes }
	switch {
	case r.BookingID == "" || !fits(r.BookingID) || !fits(r.Sale) || !fits(r.Candidate):
		return refuse(api.CodeInvalid, "metadata needs a bid; each field at most 128 bytes")
	case r.AmountMinor <= 0 || r.AmountMinor > api.MaxAmountMinor:
		return refuse(api.CodeInvalid, "amount_minor must be a positive integer in minor units")
	case !currencyPattern.MatchString(r.Currency):
		return refuse(api.CodeInvalid, "currency must be three capital letters")
	case !fits(r.Title):
		return refuse(api.CodeInvalid, "title must be at most 128 bytes")
	case !absoluteURL(r.ReturnURL):
		return refuse(api.CodeInvalid, "return_url must be an absolute http or https URL")
	case r.ExpiresAt.UnixMilli() <= 0:
		return refuse(api.CodeInvalid, "expires_at_ms must say when the hold ends")
	case a.Moves == payment.MovesOnPage && (idemKey == "" || !fits(idemKey)):
		return refuse(api.CodeInvalid, "send an Idempotency-Key of at most 128 bytes")
	}
	return nil
}

func (e *Engine) findOrCreate(a *account, idemKey string, r payment.CreateRequest, now time.Time) (*record, error) {
	key, idempotent := idemKey, true
	if a.Moves == payment.MovesOnExecute {
		key, idempotent = r.BookingID, a.InvoiceIdempotent
	}
	if a.InvoiceOnly {
		r.Metadata = payment.Metadata{BookingID: r.BookingID}
	}
	if p := a.invoices[key]; idempotent && p != nil {
		if p.request.Metadata != r.Metadata || p.request.AmountMinor != r.AmountMinor || p.request.Currency != r.Currency {
			return nil, refuse(api.CodeMismatch, "this key made another payment; use one key for one booking")
		}
		return p, nil
	}
	if len(e.order) >= e.maxPayments {
		return nil, refuse(api.CodeFull, "this gateway keeps every payment and is full; start a new one or raise MaxPayments")
	}
	p := &record{account: a, id: e.newID("pay"), status: payment.StatusOpen, request: r, createdAt: now, refunds: map[string]*refund{}}
	p.expiresAt = a.sessionEnd(r.ExpiresAt, now)
	if e.payments[p.id] != nil {
		return nil, refuse(api.CodeRefused, "payment id "+p.id+" is taken; NewID must never repeat itself")
	}
	e.payments[p.id] = p
	e.order = append(e.order, p)
	if idempotent {
		a.invoices[key] = p
	}
	e.at(p.expiresAt, timerExpire, p, "")
	if a.NotifyCreated || e.number(a, func(f *Faults) int64 { return int64(f.WebhookBeforeResponse) }) != 0 {
		e.emit(p, "payment.created", now)
	}
	return p, nil
}

// sessionEnd gives a page's session at least MinSession, so it often outlives
// the hold (case C10).
func (a *account) sessionEnd(wanted, now time.Time) time.Time {
	if a.Moves == payment.MovesOnExecute {
		return now.Add(a.MaxSession)
	}
	life := min(max(wanted.Sub(now), a.MinSession), a.MaxSession)
	return now.Add(life)
}
