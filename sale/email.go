package sale

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Limits of an e-mail address in bytes (RFC 5321 4.5.3.1).
const (
	maxEmail = 254
	maxLocal = 64
)

// ErrNoEmail says that an e-mail is empty. Every other fault of an e-mail is an *EmailError.
var ErrNoEmail = errors.New("the e-mail is missing")

// EmailError says why a text is no e-mail address. It never holds the text.
type EmailError struct{ Reason string }

func (e *EmailError) Error() string { return "the e-mail " + e.Reason }

// ParseEmail checks the shape of an address and keeps it as typed, except for what cannot be part of an address anyone can be reached at: surrounding white space, invisible characters, full-width forms. Only the shape is checked; whether the mailbox exists shows when it is written to.
func ParseEmail(raw string) (Email, error) {
	if len(raw) > 4*maxEmail {
		return "", &EmailError{Reason: fmt.Sprintf("is longer than %d bytes", maxEmail)}
	}
	s := Fold(raw)
	local, domain, found := strings.Cut(s, "@")
	switch {
	case s == "":
		return "", ErrNoEmail
	case len(s) > maxEmail:
		return "", &EmailError{Reason: fmt.Sprintf("is longer than %d bytes", maxEmail)}
	case !utf8.ValidString(raw):
		return "", &EmailError{Reason: "is not UTF-8 text"}
	case !found:
		return "", &EmailError{Reason: "has no @"}
	case strings.Contains(domain, "@"):
		return "", &EmailError{Reason: "has more than one @"}
	case local == "" || len(local) > maxLocal:
		return "", &EmailError{Reason: fmt.Sprintf("needs 1 to %d bytes before the @", maxLocal)}
	case strings.ContainsFunc(local, notInLocal):
		return "", &EmailError{Reason: "has a character before the @ that addresses do not have"}
	case !validDomain(domain):
		return "", &EmailError{Reason: "needs a domain such as example.org after the @"}
	}
	return Email(s), nil
}

// Folded is the form for comparison only, never for writing to (cases A29): small letters, no +tag, and for Gmail no dots. Two spellings of one mailbox fold to the same text.
func (e Email) Folded() string {
	s := strings.ToLower(Fold(string(e)))
	local, domain, found := strings.Cut(s, "@")
	if !found {
		return s
	}
	if i := strings.IndexByte(local, '+'); i > 0 {
		local = local[:i]
	}
	if domain == "gmail.com" || domain == "googlemail.com" {
		domain = "gmail.com"
		if bare := strings.ReplaceAll(local, ".", ""); bare != "" {
			local = bare
		}
	}
	if len(local)+len("@")+len(domain) == len(s) {
		return s // nearly all of them: nothing was cut
	}
	return local + "@" + domain
}

// notInLocal allows the letters and signs that mail servers give out; quoted local parts are refused, nobody has one.
func notInLocal(r rune) bool {
	if r < utf8.RuneSelf {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("!#$%&'*+-/=?^_`{|}~.", r))
	}
	return !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsNumber(r)
}

// validDomain wants two or more labels of letters, digits and inner dashes; letters of any script.
func validDomain(domain string) bool {
	labels := 0
	for label := range strings.SplitSeq(domain, ".") {
		labels++
		if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
		for _, r := range label {
			if r != '-' && !unicode.IsLetter(r) && !unicode.IsMark(r) && !(r >= '0' && r <= '9') {
				return false
			}
		}
	}
	return labels >= 2
}
