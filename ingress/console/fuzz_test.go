package console

import (
	"strings"
	"testing"
	"time"

	"github.com/holdfast/holdfast/sale"
)

// FuzzSession: no cookie that we have not signed is a session, and reading one
// never panics. The second input is signed with our key: what is inside is judged
// as strictly.
func FuzzSession(f *testing.F) {
	now := time.Date(2026, 5, 1, 8, 0, 0, 0, time.UTC)
	s := newSessions("the operators' token", func() time.Time { return now })
	good, err := s.open("rina")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good, `{"name":"rina","until":1893456000,"nonce":"x"}`)
	f.Add("", "")
	f.Add(".", `null`)
	f.Add(good+".", `{"Name":"<script>","Until":99999999999}`)
	f.Add(good[1:], `{"name":"rina","until":1}`)
	f.Fuzz(func(t *testing.T, cookie, body string) {
		// Each process that fuzzes has signed a cookie of its own: what counts is the key.
		r := request("GET", cookie, "")
		signed, mark := "", ""
		if c, err := r.Cookie(cookieName); err == nil {
			signed, mark, _ = strings.Cut(c.Value, ".")
		}
		if who, _, ok := s.read(r); ok && mark != coding.EncodeToString(sign(s.key, signed)) {
			t.Errorf("a session of nobody: %+v of %q", who, cookie)
		}
		text := coding.EncodeToString([]byte(body))
		who, csrf, ok := s.read(request("GET", text+"."+coding.EncodeToString(sign(s.key, text)), ""))
		if ok && (!sale.ValidName(who.Name) || who.Until <= now.Unix() || csrf == "") {
			t.Errorf("%+v is a session", who)
		}
	})
}
