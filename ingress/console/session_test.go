package console

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

func request(method, cookie, csrf string) *http.Request {
	r := httptest.NewRequest(method, "/admin/sales/spring/close", nil)
	r.Header.Set("X-Operator", "somebody-else")
	if cookie != "" {
		r.AddCookie(&http.Cookie{Name: cookieName, Value: cookie})
	}
	r.Header.Set("X-CSRF-Token", csrf)
	return r
}

func TestSessionsAdmitWhoTheyShould(t *testing.T) {
	now := time.Date(2026, 5, 1, 8, 0, 0, 0, time.UTC)
	c := &Console{sessions: newSessions("the operators' token", func() time.Time { return now })}
	value, err := c.sessions.open("rina")
	if err != nil {
		t.Fatal(err)
	}
	_, csrf, ok := c.sessions.read(request("GET", value, ""))
	if !ok {
		t.Fatal("a new session is not known")
	}
	other, err := newSessions("another token", c.sessions.now).open("rina")
	if err != nil {
		t.Fatal(err)
	}
	second, err := c.sessions.open("rina")
	if err != nil {
		t.Fatal(err)
	}
	text, mac, _ := strings.Cut(value, ".")
	for name, test := range map[string]struct {
		r    *http.Request
		want bool
	}{
		"reading needs no token":       {request("GET", value, ""), true},
		"an act with its token":        {request("POST", value, csrf), true},
		"an act without one":           {request("POST", value, ""), false},
		"an act with another one":      {request("PUT", value, csrf[1:]+"A"), false},
		"the token of another session": {request("POST", second, csrf), false},
		"no cookie":                    {request("GET", "", csrf), false},
		"signed with an older token":   {request("GET", other, ""), false},
		"a changed session":            {request("GET", "A"+text[1:]+"."+mac, ""), false},
		"a changed signature":          {request("GET", text+"."+mac[1:]+"A", ""), false},
		"no signature":                 {request("GET", text, ""), false},
		"something that is no base64":  {request("GET", "%.%", ""), false},
	} {
		if got := c.Admits(test.r); got != test.want {
			t.Errorf("%s: %v", name, got)
		}
		if test.want && test.r.Header.Get("X-Operator") != "rina" {
			t.Errorf("%s: the trail would name %q", name, test.r.Header.Get("X-Operator"))
		}
	}
	if (*Console)(nil).Admits(request("GET", value, "")) {
		t.Error("no console lets somebody in")
	}
	now = now.Add(sessionLife)
	if c.Admits(request("GET", value, "")) {
		t.Error("a session never ends")
	}
}

func TestCookieIsStrict(t *testing.T) {
	c := &Console{}
	plain := c.cookie(httptest.NewRequest("GET", "/", nil), "x", time.Hour)
	if !plain.HttpOnly || plain.SameSite != http.SameSiteStrictMode || plain.MaxAge != 3600 || plain.Secure {
		t.Errorf("%+v", plain)
	}
	behind := httptest.NewRequest("GET", "/", nil)
	behind.Header.Set("X-Forwarded-Proto", "https")
	if !c.cookie(behind, "x", time.Hour).Secure || !c.cookie(httptest.NewRequest("GET", "https://desk.example/", nil), "x", time.Hour).Secure {
		t.Error("the cookie may travel in the clear")
	}
}

func TestReasonsAreRequired(t *testing.T) {
	for reason, ok := range map[string]bool{"": false, "  ": false, "fire drill": true, "a\nb": false, strings.Repeat("x", maxReason): true, strings.Repeat("x", maxReason+1): false} {
		if _, err := by(request("POST", "", ""), reason); (err == nil) != ok {
			t.Errorf("%.20q: %v", reason, err)
		}
	}
}

type vouches string

func (v vouches) Operator(r *http.Request) (string, bool) {
	return string(v), r.Header.Get("X-Vouched") != ""
}

// TestProxyVouches: whom a proxy in front knows acts under that name, with a
// token of that name's own.
func TestProxyVouches(t *testing.T) {
	c := &Console{sessions: newSessions("the operators' token", time.Now), Options: Options{Proxy: vouches("ben")}}
	vouched := func(method, csrf string) *http.Request {
		r := request(method, "", csrf)
		r.Header.Set("X-Vouched", "yes")
		return r
	}
	name, csrf, ok := c.who(vouched("GET", ""))
	if !ok || name != "ben" {
		t.Fatalf("%q, %v", name, ok)
	}
	act := vouched("POST", csrf)
	if !c.Admits(act) || act.Header.Get("X-Operator") != "ben" {
		t.Error("ben may not act")
	}
	for what, r := range map[string]*http.Request{"no token": vouched("POST", ""), "another token": vouched("POST", csrf[1:]+"A"), "not vouched for": request("GET", "", csrf)} {
		if c.Admits(r) {
			t.Error(what)
		}
	}
	for _, bad := range []string{"", "a b", "ann@example.org"} {
		c.Proxy = vouches(bad)
		if c.Admits(vouched("GET", "")) {
			t.Errorf("%q is let in", bad)
		}
	}
	value, err := c.sessions.open("rina")
	if err != nil {
		t.Fatal(err)
	}
	c.Proxy = vouches("ben")
	both := request("GET", value, "")
	both.Header.Set("X-Vouched", "yes")
	if !c.Admits(both) || both.Header.Get("X-Operator") != "rina" {
		t.Errorf("the login does not count: %q", both.Header.Get("X-Operator"))
	}
}
