package events

import (
	"fmt"
	"unicode/utf8"
)

// Limits of single fields, in bytes. Names are those of protocol.md 3.4
// ([A-Za-z0-9_-], 1 to 40): they become keys and arguments of scripts.
const (
	maxName     = 40
	maxHash     = 128 // of hashes and of the candidate, which is a message group
	maxForeign  = 255 // of what a gateway chose: payment and event ids, payees
	maxKey      = 255 // of the idempotency key's hash
	maxSeats    = 10  // seats of one booking (protocol.md 1.3)
	currencyLen = 3
)

// Validate checks the event against its own rules and returns nil or an error
// that wraps ErrInvalid and names the field. Encode and Decode call it.
func (e Event) Validate() error {
	if e.Type.Seq() == 0 {
		return invalid("type", "is none of booking.held, payment.notified, payment.captured")
	}
	if e.Gen < 0 {
		return invalid("gen", "is negative")
	}
	if e.At.IsZero() {
		return invalid("at", "is missing")
	}
	c := checker{}
	c.name("sale", e.Sale, true)
	c.name("booking_id", e.BookingID, e.Type != PaymentNotified)
	c.id("candidate", e.Candidate, e.Type != PaymentNotified)
	switch {
	case e.Type == BookingHeld && e.Held != nil && e.Notice == nil && e.Captured == nil:
		e.Held.check(&c)
	case e.Type == PaymentNotified && e.Notice != nil && e.Held == nil && e.Captured == nil:
		e.Notice.check(&c)
	case e.Type == PaymentCaptured && e.Captured != nil && e.Held == nil && e.Notice == nil:
		e.Captured.check(&c)
	default:
		return invalid("payload", "is not exactly the one that the type calls for")
	}
	return c.err
}

func (h *Held) check(c *checker) {
	c.name("held.level", h.Level, true)
	c.name("held.gateway", h.Gateway, true)
	c.text("held.payment_id", h.PaymentID, maxForeign, true)
	c.text("held.key", h.Key, maxKey, false)
	c.text("held.input_hash", h.InputHash, maxHash, false)
	c.text("held.email_hash", h.EmailHash, maxHash, false)
	c.money("held", h.AmountMinor, h.Currency)
	c.that("held.seats", len(h.Seats) >= 1 && len(h.Seats) <= maxSeats, "has not 1 to 10 seats")
	seen := make(map[string]bool, len(h.Seats))
	for _, s := range h.Seats {
		c.name("held.seats.token", s.Token, true)
		c.that("held.seats", !seen[s.Token], "names a seat twice")
		seen[s.Token] = true
	}
	c.that("held.admitted_at", !h.AdmittedAt.IsZero(), "is missing")
	c.that("held.hold_until", h.HoldUntil.After(h.AdmittedAt), "is not after admitted_at")
}

func (n *Notice) check(c *checker) {
	c.name("notice.gateway", n.Gateway, true)
	c.text("notice.payment_id", n.PaymentID, maxForeign, true)
	c.text("notice.event_id", n.EventID, maxForeign, true)
	c.name("notice.source", n.Source, true)
}

func (p *Captured) check(c *checker) {
	c.name("captured.gateway", p.Gateway, true)
	c.text("captured.payment_id", p.PaymentID, maxForeign, true)
	c.text("captured.payee", p.Payee, maxForeign, false)
	c.name("captured.asked_by", p.AskedBy, true)
	c.money("captured", p.AmountMinor, p.Currency)
	c.that("captured.captured_at", !p.CapturedAt.IsZero(), "is missing")
}

func invalid(field, what string) error {
	return fmt.Errorf("%w: %s %s", ErrInvalid, field, what)
}

// checker keeps the first fault.
type checker struct{ err error }

func (c *checker) that(field string, ok bool, what string) {
	if c.err == nil && !ok {
		c.err = invalid(field, what)
	}
}

// name is [A-Za-z0-9_-]{1,40}.
func (c *checker) name(field, s string, required bool) {
	if s == "" && !required {
		return
	}
	ok := len(s) >= 1 && len(s) <= maxName
	for i := 0; ok && i < len(s); i++ {
		b := s[i]
		ok = b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || b == '_' || b == '-'
	}
	c.that(field, ok, "is not 1 to 40 of A-Z a-z 0-9 _ -")
}

// id is what SQS takes as a message group.
func (c *checker) id(field, s string, required bool) {
	c.that(field, validID(s) && (s != "" || !required), "is not 1 to 128 printable ASCII characters without spaces")
}

// text is what somebody else chose: any UTF-8 without control characters, which
// SQS would refuse.
func (c *checker) text(field, s string, most int, required bool) {
	ok := len(s) <= most && (s != "" || !required) && utf8.ValidString(s)
	for _, r := range s {
		ok = ok && r >= ' ' && r != 0x7f && r != 0xfffe && r != 0xffff
	}
	c.that(field, ok, fmt.Sprintf("is empty, longer than %d bytes or has control characters", most))
}

func (c *checker) money(field string, amount int64, currency string) {
	ok := len(currency) == currencyLen
	for i := 0; ok && i < len(currency); i++ {
		ok = currency[i] >= 'A' && currency[i] <= 'Z'
	}
	c.that(field+".currency", ok, "is not three capital letters (ISO 4217)")
	c.that(field+".amount_minor", amount >= 0, "is negative")
}

// printable says whether s is ASCII without spaces and control characters.
func printable(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] <= ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}
