package engine

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"strconv"
	"strings"
	"time"

	"github.com/holdfast/holdfast/payment/sandbox/api"
)

// grantWindow is the hour of "twice an hour", and how long a caller that asks
// more often is blocked (protocol.md 2.1).
const grantWindow = time.Hour

// Grant issues an access token. A call beyond the account's budget within an
// hour is refused and blocks the account's token endpoint for an hour; tokens
// issued before stay good.
func (e *Engine) Grant(appKey, appSecret string) (api.Token, error) {
	now := e.begin()
	defer e.mu.Unlock()
	a := e.byKey[appKey]
	if a == nil || subtle.ConstantTimeCompare([]byte(appSecret), []byte(a.AppSecret)) != 1 {
		return api.Token{}, refuse(api.CodeUnauthorized, "unknown app key or wrong secret")
	}
	if now.Before(a.blockedUntil) {
		return api.Token{}, refuse(api.CodeBlocked, "too many token calls; blocked until "+a.blockedUntil.UTC().Format(time.RFC3339))
	}
	for len(a.grants) > 0 && now.Sub(a.grants[0]) >= grantWindow {
		a.grants = a.grants[1:]
	}
	if len(a.grants) >= a.GrantsPerHour {
		a.blockedUntil = now.Add(grantWindow)
		e.count("token_blocked")
		return api.Token{}, refuse(api.CodeBlocked, "too many token calls within an hour; blocked for one; share one token among the fleet")
	}
	a.grants = append(a.grants, now)
	a.granted++
	return api.Token{Token: a.issue(now, e.newID("tok")), ExpiresInMS: a.TokenLife.Milliseconds()}, nil
}

// Grants returns how many tokens an account was ever given, and whether its
// token endpoint is blocked now.
func (e *Engine) Grants(account string) (granted int, blocked bool) {
	now := e.begin()
	defer e.mu.Unlock()
	a := e.accounts[account]
	if a == nil {
		return 0, false
	}
	return a.granted, now.Before(a.blockedUntil)
}

// RevokeTokens makes every token issued up to now answer 401.
func (e *Engine) RevokeTokens(account string) error {
	now := e.begin()
	defer e.mu.Unlock()
	a, err := e.account(account)
	if err != nil {
		return err
	}
	a.notBefore = now.Add(time.Millisecond)
	return nil
}

// issue signs the token instead of remembering it: a gateway that restarts
// honours the tokens that its callers still share.
func (a *account) issue(now time.Time, nonce string) string {
	claims := strconv.FormatInt(now.UnixMilli(), 10) + "." + strconv.FormatInt(now.Add(a.TokenLife).UnixMilli(), 10) + "." + nonce
	return claims + "." + a.tokenMAC(claims)
}

func (a *account) tokenValid(token string, now time.Time) bool {
	cut := strings.LastIndexByte(token, '.')
	if cut < 0 || !hmac.Equal([]byte(token[cut+1:]), []byte(a.tokenMAC(token[:cut]))) {
		return false
	}
	fields := strings.SplitN(token, ".", 3)
	issued, err1 := strconv.ParseInt(fields[0], 10, 64)
	expires, err2 := strconv.ParseInt(fields[1], 10, 64)
	return err1 == nil && err2 == nil && now.UnixMilli() < expires && issued >= a.notBefore.UnixMilli()
}

func (a *account) tokenMAC(claims string) string {
	h := hmac.New(sha256.New, []byte(a.AppSecret))
	h.Write([]byte("token." + a.Name + "." + claims))
	return base64.RawURLEncoding.EncodeToString(h.Sum(nil))
}
