package sale_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/holdfast/holdfast/sale"
)

func TestParseEmailKeepsWhatWasTyped(t *testing.T) {
	for raw, want := range map[string]sale.Email{
		"Ann.O'Hara+exam@Example.org":      "Ann.O'Hara+exam@Example.org",
		" \u00a0a@x.org\u200b\t":           "a@x.org",
		"a＠ｘ．org":                          "a@x.org",
		"jürgen@müller.de":                 "jürgen@müller.de",
		"a..b.@docomo.example":             "a..b.@docomo.example",
		strings.Repeat("a", 64) + "@x.org": sale.Email(strings.Repeat("a", 64) + "@x.org"),
		"":                                 "",
		"not-an-email":                     "",
		"@example.org":                     "",
		"a@":                               "",
		"two@@example.org":                 "",
		"a@b@x.org":                        "",
		"sp ace@example.org":               "",
		"a@ex ample.org":                   "",
		"a@localhost":                      "",
		"a@x..org":                         "",
		"a@-x.org":                         "",
		"a@[127.0.0.1]":                    "",
		"Ann <a@x.org>":                    "",
		"a@x.org,b@x.org":                  "",
		"\"a b\"@x.org":                    "",
		"a@x.org\r\nBcc: b@x.org":          "",
		"a\x00@x.org":                      "",
		"a\xff@x.org":                      "",
		"\ufffd@x.org":                     "",
		strings.Repeat("a", 65) + "@x.org": "",
		"a@" + strings.Repeat(strings.Repeat("x", 60)+".", 5) + "org":   "",
		"a@" + strings.Repeat(strings.Repeat("x", 60)+".", 500) + "org": "",
	} {
		got, err := sale.ParseEmail(raw)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("ParseEmail(%q) = %q, %v, want %q", raw, got, err, want)
		}
	}
}

func TestParseEmailTellsMissingFromInvalid(t *testing.T) {
	if _, err := sale.ParseEmail(" \u00a0"); !errors.Is(err, sale.ErrNoEmail) {
		t.Errorf("white space alone: %v, want ErrNoEmail", err)
	}
	_, err := sale.ParseEmail("ann.secret")
	var invalid *sale.EmailError
	if !errors.As(err, &invalid) || strings.Contains(err.Error(), "secret") {
		t.Errorf("no @: %v, want an EmailError without the address", err)
	}
}

// cases A29: one mailbox with many spellings is one mailbox, for comparison only.
func TestFoldedIsOneMailbox(t *testing.T) {
	for email, want := range map[sale.Email]string{
		"Ann@Example.ORG":             "ann@example.org",
		"ann+exam@example.org":        "ann@example.org",
		"a.n.n+1+2@gmail.com":         "ann@gmail.com",
		"A.N.N@GoogleMail.com":        "ann@gmail.com",
		"a.n.n@example.org":           "a.n.n@example.org", // dots matter everywhere else
		"+exam@example.org":           "+exam@example.org",
		"...@gmail.com":               "...@gmail.com",
		"\u00a0ａnn@example.org\u00a0": "ann@example.org",
	} {
		if got := email.Folded(); got != want {
			t.Errorf("%q folds to %q, want %q", email, got, want)
		}
		if again := sale.Email(want).Folded(); again != want {
			t.Errorf("folding %q again gives %q", want, again)
		}
	}
}

func FuzzParseEmail(f *testing.F) {
	for _, seed := range []string{"a@x.org", " A.b+c@GMAIL.com\u00a0", "a@@x", "ＡＢ＠x.org", "\u0130@x.org", "+@x.org", "a+@x.org"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		email, err := sale.ParseEmail(raw)
		if err != nil {
			return
		}
		if again, err := sale.ParseEmail(string(email)); err != nil || again != email {
			t.Fatalf("ParseEmail(%q) = %q, but parsing that gives %q, %v", raw, email, again, err)
		}
		if strings.ContainsAny(string(email), " \r\n\t\x00,;<>\"") || strings.Count(string(email), "@") != 1 {
			t.Fatalf("ParseEmail(%q) = %q", raw, email)
		}
		if folded := sale.Email(email.Folded()); folded.Folded() != string(folded) {
			t.Fatalf("%q folds to %q, and that to %q", email, folded, folded.Folded())
		}
	})
}
