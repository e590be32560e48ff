// Package sandbox is the adapter of the sandbox gateway (payment/sandbox/server):
// payment.Gateway over HTTP, for both kinds of gateway. It is written as one
// against a real provider has to be: nothing that comes over the wire is
// believed without a check, and an answer that is missing is never a no.
package sandbox

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/holdfast/holdfast/payment"
	"github.com/holdfast/holdfast/payment/sandbox/api"
)

// DefaultTimeout bounds one call, its token included. Providers advise 30 s
// (protocol.md 2.1); an admitted candidate who waits can't be asked for that.
const DefaultTimeout = 10 * time.Second

// Config is what an adapter is made of.
type Config struct {
	Name    string // [a-z0-9]{1,20}; the account's name at the gateway too
	BaseURL string // http(s)://host[:port], without a path
	AppKey  string
	// AppSecret is the secret key of a page account; on an execute account it
	// only buys access tokens.
	AppSecret     string
	WebhookSecret string
	Payee         string // our account there, compared with every payment
	Live          bool
	Moves         payment.Moves
	// Tokens shares the access token among the fleet. An execute account needs
	// it; a page account does not use it.
	Tokens     payment.TokenStore
	HTTPClient *http.Client     // nil: a pool of its own; its redirects are never followed
	Timeout    time.Duration    // of one call; zero: DefaultTimeout
	Now        func() time.Time // nil: time.Now; judges the age of the token
	Log        *slog.Logger     // nil: silent; it never sees a token
}

// Gateway is the adapter. It is safe for concurrent use.
type Gateway struct {
	config Config
	client *http.Client
	tokens *tokens // nil on a page account
}

var _ payment.Gateway = (*Gateway)(nil)

var namePattern = regexp.MustCompile(`^[a-z0-9]{1,20}$`)

// New builds an adapter, or lists every fault of its configuration at once. It
// does no I/O.
func New(c Config) (*Gateway, error) {
	if err := c.validate(); err != nil {
		return nil, err
	}
	if c.Timeout <= 0 {
		c.Timeout = DefaultTimeout
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64, IdleConnTimeout: time.Minute}}
	if c.HTTPClient != nil {
		own := *c.HTTPClient
		client = &own
	}
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	g := &Gateway{config: c, client: client}
	if c.Moves == payment.MovesOnExecute {
		g.tokens = newTokens(c, rand.Text(), g.grant)
	}
	return g, nil
}

func (c Config) validate() error {
	var faults []error
	add := func(bad bool, text string) {
		if bad {
			faults = append(faults, fmt.Errorf("sandbox gateway %q: %s", c.Name, text))
		}
	}
	u, err := url.Parse(c.BaseURL)
	add(!namePattern.MatchString(c.Name), "Name must be 1 to 20 of a-z and 0-9")
	add(err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || strings.Trim(u.Path, "/") != "" || u.RawQuery != "",
		"BaseURL must be http(s)://host[:port] and no more")
	add(c.AppKey == "" || c.AppSecret == "", "set AppKey and AppSecret")
	add(c.WebhookSecret == "", "set WebhookSecret; unsigned webhooks are never taken")
	add(c.Payee == "", "set Payee; every payment is compared with it")
	add(c.Moves != payment.MovesOnPage && c.Moves != payment.MovesOnExecute, `Moves must be "page" or "execute"`)
	add(c.Moves == payment.MovesOnExecute && c.Tokens == nil, "set Tokens; the fleet must share one access token")
	return errors.Join(faults...)
}

// Name is the gateway's name in URLs and keys.
func (g *Gateway) Name() string { return g.config.Name }

// Moves says who moves the money.
func (g *Gateway) Moves() payment.Moves { return g.config.Moves }

// Payee is the account that every payment must have gone to.
func (g *Gateway) Payee() string { return g.config.Payee }

// Live is false for a test-mode account.
func (g *Gateway) Live() bool { return g.config.Live }

// Close lets go of idle connections. The gateway stays usable.
func (g *Gateway) Close() { g.client.CloseIdleConnections() }

// Create asks for a payment under the booking's id. ErrRefused also where the
// request never left this host: nothing was created then either. Any other
// error leaves it open; repeat with the same booking, or give the booking up
// (the payment, if there is one, was shown to nobody).
func (g *Gateway) Create(ctx context.Context, r payment.CreateRequest) (payment.Session, error) {
	// With the header, net/http itself repeats a call whose connection died. Two
	// creates at an execute account are two payments, so it is not sent there.
	idemKey := r.BookingID
	if g.config.Moves == payment.MovesOnExecute {
		idemKey = ""
	}
	var p api.Payment
	err := g.call(ctx, request{method: http.MethodPost, path: []string{"payments"}, idemKey: idemKey, body: api.Create{
		Metadata:    api.Metadata{Sale: r.Sale, BookingID: r.BookingID, Candidate: r.Candidate},
		AmountMinor: r.AmountMinor, Currency: r.Currency, Title: r.Title,
		ReturnURL: r.ReturnURL, ExpiresAtMS: r.ExpiresAt.UnixMilli(),
	}}, &p)
	if err != nil {
		return payment.Session{}, createError(err)
	}
	if !api.ValidID(p.PaymentID) || !payableURL(p.URL) {
		return payment.Session{}, fmt.Errorf("sandbox gateway: create answered without a usable payment id and URL; repeat it with the same booking")
	}
	return payment.Session{PaymentID: p.PaymentID, URL: p.URL, ExpiresAt: fromMS(p.ExpiresAtMS)}, nil
}

// Query asks for the truth about a payment. A status that this adapter does not
// know is StatusUnknown, not an error.
func (g *Gateway) Query(ctx context.Context, paymentID string) (payment.Payment, error) {
	var p api.Payment
	err := g.call(ctx, request{method: http.MethodGet, path: []string{"payments", paymentID}}, &p)
	return answered(p, paymentID, err)
}

// SamplePayURL is an address of the form of a Session's at which there is no
// payment. Whoever is shown it must not be able to tell.
func (g *Gateway) SamplePayURL() string {
	return strings.TrimSuffix(g.config.BaseURL, "/") + "/pay/" + "pay_" + strings.ToLower(rand.Text())
}

// payableURL keeps a redirect that is not one (javascript:, a path) from users.
func payableURL(s string) bool {
	u, err := url.Parse(s)
	return err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Host != "" && len(s) <= api.MaxURLBytes
}
