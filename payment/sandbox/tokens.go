package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/holdfast/holdfast/payment"
	"github.com/holdfast/holdfast/payment/sandbox/api"
)

const (
	// tokenRefreshAge is when one lease holder fetches the next token while the
	// others still use the old one; it lives an hour (protocol.md 2.1).
	tokenRefreshAge = 52 * time.Minute
	// tokenUsableAge leaves a call time to arrive before the hour is over.
	tokenUsableAge = 59 * time.Minute
	// tokenLease is longer than a grant may take, so that a slow holder is not
	// overtaken into a second grant.
	tokenLease = 20 * time.Second
	grantWait  = 10 * time.Second
	// tokenPollFirst and tokenPollMost pace the wait for somebody else's grant.
	tokenPollFirst = 20 * time.Millisecond
	tokenPollMost  = 500 * time.Millisecond
	// refreshPause is how long a process leaves an early refresh alone after it
	// could not do it; the old token still works.
	refreshPause = 10 * time.Second
)

var errNoToken = errors.New("sandbox gateway: no access token, and the lease or the hour's budget for a new one is not to be had; wait, and look at who else uses this app key")

var errTokenRefused = errors.New("sandbox gateway: the gateway refuses the shared access token, which is young; a new one is fetched when it is old, to keep within the hour's budget; see whether the app key was revoked")

type grantFunc func(ctx context.Context) (api.Token, error)

// tokens keeps the fleet's token at hand. Never more than one goroutine of the
// process is at the store; the others wait for it or use what there is.
type tokens struct {
	gateway, holder string
	store           payment.TokenStore
	now             func() time.Time
	grant           grantFunc
	log             *slog.Logger
	turn            chan struct{} // the turn to go to the store

	mu          sync.Mutex
	token       string
	issuedAt    time.Time
	refreshFrom time.Time // no early refresh before
}

func newTokens(c Config, holder string, grant grantFunc) *tokens {
	return &tokens{gateway: c.Name, holder: holder, store: c.Tokens, now: c.Now, grant: grant, log: c.Log, turn: make(chan struct{}, 1)}
}

// get returns a token that is not the refused one. A 401 makes us read the
// shared token again and is no reason for a grant: while the refused one is
// shared and young the call fails, else 401s would start a storm of grants
// (protocol.md 2.1).
func (t *tokens) get(ctx context.Context, refused string) (string, error) {
	if token := t.cached(refused); token != "" {
		return token, nil
	}
	select {
	case t.turn <- struct{}{}:
		defer func() { <-t.turn }()
	case <-ctx.Done():
		return "", fmt.Errorf("sandbox gateway: waiting for an access token: %w", ctx.Err())
	}
	if token := t.cached(refused); token != "" {
		return token, nil
	}
	return t.obtain(ctx, refused)
}

// cached is the token at hand if it needs no look at the store.
func (t *tokens) cached(refused string) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.now()
	age := now.Sub(t.issuedAt)
	fresh := age < tokenRefreshAge || (age < tokenUsableAge && now.Before(t.refreshFrom))
	if t.token == "" || t.token == refused || !fresh {
		return ""
	}
	return t.token
}

func (t *tokens) keep(token string, issuedAt time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.token, t.issuedAt, t.refreshFrom = token, issuedAt, time.Time{}
}

func (t *tokens) postponeRefresh() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.refreshFrom = t.now().Add(refreshPause)
}

// obtain reads the shared token, or becomes the one who fetches the next because
// there is none or it is old.
func (t *tokens) obtain(ctx context.Context, refused string) (string, error) {
	for pause := tokenPollFirst; ; pause = min(2*pause, tokenPollMost) {
		token, issuedAt, err := t.store.Token(ctx, t.gateway)
		if err != nil && !errors.Is(err, payment.ErrNotFound) {
			return "", fmt.Errorf("sandbox gateway: read the shared token: %w", err)
		}
		age, found := t.now().Sub(issuedAt), err == nil
		if found && age < tokenRefreshAge {
			if token == refused {
				return "", errTokenRefused
			}
			t.keep(token, issuedAt)
			return token, nil
		}
		usable := found && token != refused && age < tokenUsableAge
		if usable {
			t.keep(token, issuedAt)
			t.postponeRefresh() // meanwhile, and if it fails, the old one will do
		}
		fetched, err := t.fetch(ctx)
		if err == nil {
			return fetched, nil
		}
		if usable {
			return token, nil
		}
		if !errors.Is(err, errNoToken) {
			return "", err
		}
		if !sleep(ctx, pause) {
			return "", errors.Join(errNoToken, ctx.Err())
		}
	}
}

// fetch grants a token if the store gives the lease, which charges the budget.
func (t *tokens) fetch(ctx context.Context) (string, error) {
	granted, _, err := t.store.AcquireTokenLease(ctx, t.gateway, t.holder, tokenLease)
	if err != nil {
		return "", fmt.Errorf("sandbox gateway: acquire the token lease: %w", err)
	}
	if !granted {
		return "", errNoToken
	}
	// Between our read and the lease another holder may have stored its token.
	if token, issuedAt, err := t.store.Token(ctx, t.gateway); err == nil && t.now().Sub(issuedAt) < tokenRefreshAge {
		t.keep(token, issuedAt)
		return token, nil
	}
	// Whoever waits may go; the grant is charged and is for the whole fleet.
	work, cancel := context.WithTimeout(context.WithoutCancel(ctx), grantWait)
	defer cancel()
	asked := t.now()
	fresh, err := t.grant(work)
	if err != nil {
		return "", fmt.Errorf("sandbox gateway: fetch an access token: %w", err)
	}
	t.keep(fresh.Token, asked)
	ttl := time.Duration(fresh.ExpiresInMS) * time.Millisecond
	// A token that can't be shared is still paid for: this process uses it, and
	// the others fetch theirs within the budget when the lease has run out.
	if err := t.store.StoreToken(work, t.gateway, t.holder, fresh.Token, ttl); err != nil {
		t.log.WarnContext(ctx, "access token fetched but not shared", "gateway", t.gateway, "error", err)
	}
	return fresh.Token, nil
}

// grant asks the gateway for a token. It is the only caller of that endpoint.
func (g *Gateway) grant(ctx context.Context) (api.Token, error) {
	body := api.TokenRequest{AppKey: g.config.AppKey, AppSecret: g.config.AppSecret}
	status, answer, err := g.send(ctx, request{method: http.MethodPost, path: []string{"token"}, body: body}, "")
	if err != nil {
		return api.Token{}, err
	}
	if status != http.StatusOK {
		return api.Token{}, refusal(status, answer)
	}
	return decodeToken(answer)
}

func decodeToken(answer []byte) (api.Token, error) {
	var token api.Token
	if err := json.Unmarshal(answer, &token); err != nil || token.Token == "" || token.ExpiresInMS <= 0 {
		return api.Token{}, errors.New("sandbox gateway: unreadable token answer; the grant is charged all the same")
	}
	return token, nil
}

func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
