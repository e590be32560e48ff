package console

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/holdfast/holdfast/sale"
)

const (
	cookieName  = "holdfast_operator"
	sessionLife = 12 * time.Hour // a day of sale; then log in again
)

// session is who is logged in. It lives in the browser alone, signed: any
// process of the fleet can check it, and a new operators' token ends them all.
type session struct {
	Name  string `json:"n"`
	Until int64  `json:"u"` // Unix seconds
	Nonce []byte `json:"r"`
}

type sessions struct {
	key   []byte
	token [sha256.Size]byte
	now   func() time.Time
}

func newSessions(token string, now func() time.Time) sessions {
	return sessions{key: sign([]byte(token), "holdfast console session 1"), token: sha256.Sum256([]byte(token)), now: now}
}

func sign(key []byte, text string) []byte {
	m := hmac.New(sha256.New, key)
	m.Write([]byte(text)) // never fails
	return m.Sum(nil)
}

// knows compares a token with the operators', in constant time.
func (s sessions) knows(token string) bool {
	got := sha256.Sum256([]byte(token))
	return subtle.ConstantTimeCompare(got[:], s.token[:]) == 1
}

var coding = base64.RawURLEncoding

// open makes the value of a new session's cookie.
func (s sessions) open(name string) (string, error) {
	nonce := make([]byte, 16)
	if _, err := rand.Read(nonce); err != nil {
		return "", err
	}
	body, err := json.Marshal(session{Name: name, Until: s.now().Add(sessionLife).Unix(), Nonce: nonce})
	if err != nil {
		return "", err
	}
	text := coding.EncodeToString(body)
	return text + "." + coding.EncodeToString(sign(s.key, text)), nil
}

// read returns the session of a request and the token its acts must carry.
func (s sessions) read(r *http.Request) (who session, csrf string, ok bool) {
	c, err := r.Cookie(cookieName)
	if err != nil {
		return who, "", false
	}
	text, mac, _ := strings.Cut(c.Value, ".")
	got, err := coding.DecodeString(mac)
	if err != nil || !hmac.Equal(got, sign(s.key, text)) {
		return who, "", false
	}
	body, err := coding.DecodeString(text)
	if err != nil || json.Unmarshal(body, &who) != nil || s.now().Unix() >= who.Until || !sale.ValidName(who.Name) {
		return who, "", false
	}
	return who, coding.EncodeToString(sign(s.key, "csrf "+text)), true
}

// who is behind a request, and the token that its acts must carry: a session of
// the login, else whom the proxy vouches for.
func (c *Console) who(r *http.Request) (name, csrf string, ok bool) {
	if s, csrf, ok := c.sessions.read(r); ok {
		return s.Name, csrf, true
	}
	if c.Proxy == nil {
		return "", "", false
	}
	if name, ok = c.Proxy.Operator(r); !ok || !sale.ValidName(name) {
		return "", "", false
	}
	return name, coding.EncodeToString(sign(c.sessions.key, "csrf of "+name)), true
}

// Admits lets a browser's request in: its session is good, and what changes
// anything carries the session's token, which no other site can know. The name
// in the session, not one that a page sends, goes into the trail.
func (c *Console) Admits(r *http.Request) bool {
	if c == nil {
		return false
	}
	name, csrf, ok := c.who(r)
	if !ok {
		return false
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead &&
		subtle.ConstantTimeCompare([]byte(r.Header.Get("X-CSRF-Token")), []byte(csrf)) != 1 {
		return false
	}
	r.Header.Set("X-Operator", name)
	return true
}

func (c *Console) cookie(r *http.Request, value string, life time.Duration) *http.Cookie {
	return &http.Cookie{
		Name: cookieName, Value: value, Path: "/", MaxAge: int(life.Seconds()), HttpOnly: true, SameSite: http.SameSiteStrictMode,
		// The header can be sent by anyone, and only makes the cookie stricter.
		Secure: r.TLS != nil || r.Header.Get("X-Forwarded-Proto") == "https",
	}
}
