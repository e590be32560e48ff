package engine

import (
	"crypto/subtle"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"time"

	"github.com/holdfast/holdfast/payment"
	"github.com/holdfast/holdfast/payment/sandbox/api"
)

// Account is a merchant at the gateway. Its zero durations take the defaults of
// the gateway that it imitates: a page account Stripe's (a session lives at
// least 30 minutes), an execute account bKash's (a token lives an hour and may
// be granted twice an hour).
type Account struct {
	Name          string // [a-z0-9]{1,20}: the name of the payment.Gateway too
	AppKey        string
	AppSecret     string
	WebhookSecret string
	WebhookURL    string // empty: no webhooks until SetWebhookURL
	Payee         string
	Live          bool
	Moves         payment.Moves

	// InvoiceIdempotent makes a second create of one booking the first one's
	// payment on an execute account. Without it two creates are two payments, as
	// at bKash. A page account always honours its Idempotency-Key.
	InvoiceIdempotent bool
	// InvoiceOnly forgets all metadata but the booking id, as a gateway does that
	// knows only invoices.
	InvoiceOnly bool
	// NotifyCreated sends a webhook for a new payment as well.
	NotifyCreated bool

	MinSession    time.Duration // page: 30 min; execute: unused
	MaxSession    time.Duration // page: 24 h; execute: 3 h, not published
	LateAfter     time.Duration // how long after the hold's end a late payment arrives: 2 min
	SlowFor       time.Duration // how long a slow payment method is pending: 1 min
	TokenLife     time.Duration // 1 h
	GrantsPerHour int           // 2
}

type account struct {
	Account
	invoices     map[string]*record // by booking id
	faults       Faults
	grants       []time.Time // within the last hour
	granted      int
	blockedUntil time.Time
	notBefore    time.Time // tokens issued earlier are revoked
}

var (
	namePattern     = regexp.MustCompile(`^[a-z0-9]{1,20}$`)
	currencyPattern = regexp.MustCompile(`^[A-Z]{3}$`)
)

func (a Account) validate() error {
	var faults []error
	add := func(bad bool, text string) {
		if bad {
			faults = append(faults, fmt.Errorf("sandbox: account %q: %s", a.Name, text))
		}
	}
	add(!namePattern.MatchString(a.Name), "the name must be 1 to 20 of a-z and 0-9")
	add(a.AppKey == "" || a.AppSecret == "", "set AppKey and AppSecret")
	add(a.WebhookSecret == "", "set WebhookSecret; webhooks are always signed")
	add(a.Payee == "", "set Payee; callers compare it")
	add(a.Moves != payment.MovesOnPage && a.Moves != payment.MovesOnExecute, `Moves must be "page" or "execute"`)
	add(a.WebhookURL != "" && !absoluteURL(a.WebhookURL), "WebhookURL must be an absolute http or https URL")
	return errors.Join(faults...)
}

func (a Account) withDefaults() Account {
	set := func(d *time.Duration, v time.Duration) {
		if *d <= 0 {
			*d = v
		}
	}
	if a.Moves == payment.MovesOnPage {
		set(&a.MinSession, 30*time.Minute)
		set(&a.MaxSession, 24*time.Hour)
	}
	set(&a.MaxSession, 3*time.Hour)
	set(&a.LateAfter, 2*time.Minute)
	set(&a.SlowFor, time.Minute)
	set(&a.TokenLife, time.Hour)
	if a.GrantsPerHour <= 0 {
		a.GrantsPerHour = 2
	}
	return a
}

// SetWebhookURL says where the webhooks of an account go from now on, for a
// receiver that starts after the gateway. Empty: nowhere, new events are lost.
func (e *Engine) SetWebhookURL(account, target string) error {
	if target != "" && !absoluteURL(target) {
		return refuse(api.CodeInvalid, "the webhook URL must be an absolute http or https URL")
	}
	e.begin()
	defer e.mu.Unlock()
	a, err := e.account(account)
	if err != nil {
		return err
	}
	a.WebhookURL = target
	return nil
}

// WebhookURL is where the webhooks of an account go; empty: nowhere.
func (e *Engine) WebhookURL(account string) string {
	e.begin()
	defer e.mu.Unlock()
	if a := e.accounts[account]; a != nil {
		return a.WebhookURL
	}
	return ""
}

// Authenticate finds the account of a call: by its secret key on a page
// account, by an access token on an execute account.
func (e *Engine) Authenticate(appKey, bearer string) (account string, err error) {
	now := e.begin()
	defer e.mu.Unlock()
	a := e.byKey[appKey]
	if a == nil {
		return "", refuse(api.CodeUnauthorized, "unknown app key")
	}
	if a.Moves == payment.MovesOnPage {
		if subtle.ConstantTimeCompare([]byte(bearer), []byte(a.AppSecret)) != 1 {
			return "", refuse(api.CodeUnauthorized, "the secret key is wrong")
		}
		return a.Name, nil
	}
	if !a.tokenValid(bearer, now) {
		return "", refuse(api.CodeUnauthorized, "the access token is unknown, expired or revoked; read the shared one again")
	}
	return a.Name, nil
}

func (e *Engine) account(name string) (*account, error) {
	if a := e.accounts[name]; a != nil {
		return a, nil
	}
	return nil, refuse(api.CodeNoAccount, "no such account; use one of the configured names")
}

func absoluteURL(s string) bool {
	u, err := url.Parse(s)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && len(s) <= api.MaxURLBytes
}
