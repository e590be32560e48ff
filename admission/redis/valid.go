package redis

import (
	"fmt"
	"strings"

	"github.com/holdfast/holdfast/admission"
)

// Every string that reaches a script or a key is checked here first: the
// records join their fields with "|" and ",", and a level's name is part of a
// key (protocol.md 3.4). The alphabets leave no room for a separator.
const (
	maxName    = 40  // sale, booking id, level, token, roster version
	maxHash    = 64  // candidate, idempotency key, input
	emailHash  = 16  // e-mail
	maxPayment = 200 // a gateway's payment id
	maxURL     = 4096
)

// letters of a word; a table, because each admission has some 200 of them.
var letters = func() (t [256]bool) {
	for _, c := range "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-" {
		t[c] = true
	}
	return t
}()

// word says whether s is [A-Za-z0-9_-]{1,limit}.
func word(s string, limit int) bool {
	if len(s) < 1 || len(s) > limit {
		return false
	}
	for i := 0; i < len(s); i++ {
		if !letters[s[i]] {
			return false
		}
	}
	return true
}

func wordOrNone(s string, limit int) bool { return s == "" || word(s, limit) }

// validPayment says whether s can be a gateway's payment id: visible ASCII without
// the separators. Braces are left out because it becomes part of a key.
func validPayment(s string) bool {
	if len(s) < 1 || len(s) > maxPayment {
		return false
	}
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c <= ' ' || c >= 0x7f, c == '|', c == ',', c == '{', c == '}':
			return false
		}
	}
	return true
}

// keptURL is a payment's page as a record can carry it, with its separator escaped.
// What is no URL is not kept: it is a convenience, and no reason to refuse a payment.
func keptURL(url string) string {
	for i := 0; i < len(url); i++ {
		if c := url[i]; c <= ' ' || c >= 0x7f {
			return ""
		}
	}
	if len(url) > maxURL {
		return ""
	}
	return strings.ReplaceAll(url, "|", "%7C")
}

func currency(s string) bool {
	if len(s) != 3 {
		return false
	}
	for i := range 3 {
		if s[i] < 'A' || s[i] > 'Z' {
			return false
		}
	}
	return true
}

// rosterVersion allows a version, none, and ProvenRoster.
func rosterVersion(s string) bool { return s == admission.ProvenRoster || wordOrNone(s, maxName) }

func emailOrNone(s string) bool { return s == "" || len(s) == emailHash && word(s, emailHash) }

// check collects the first fault of a call's arguments.
type check struct{ err error }

func (c *check) ok(good bool, what, got string) {
	if !good && c.err == nil {
		c.err = fmt.Errorf("%w: %s %q", admission.ErrInvalid, what, got)
	}
}

func (c *check) names(sale, bookingID string) {
	c.ok(word(sale, maxName), "sale", sale)
	c.ok(word(bookingID, maxName), "booking id", bookingID)
}

// validRequest reports the fault of an admission, nil if it may be sent. The
// number of seats and their being distinct are the script's own checks.
func validRequest(r *admission.Request) error {
	var c check
	c.names(r.Sale, r.BookingID)
	c.ok(word(r.Candidate, maxHash), "candidate", r.Candidate)
	c.ok(word(r.Level, maxName), "level", r.Level)
	c.ok(wordOrNone(r.Key, maxHash), "key", r.Key)
	c.ok(wordOrNone(r.InputHash, maxHash), "input hash", r.InputHash)
	c.ok(rosterVersion(r.RosterVersion), "roster version", r.RosterVersion)
	c.ok(emailOrNone(r.EmailHash), "e-mail hash", r.EmailHash)
	c.ok(r.AmountMinor >= 0, "amount", "below 0")
	c.ok(currency(r.Currency), "currency", r.Currency)
	c.ok(len(r.Seats) <= maxSeats, "seats", "more than 10")
	for _, s := range r.Seats {
		c.ok(word(s, maxName), "seat", s)
	}
	return c.err
}

// maxSeats is the most seats of one booking (protocol.md 1.3).
const maxSeats = 10
