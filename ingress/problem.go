package ingress

import (
	"encoding/json"
	"math"
	"net/http"
	"strconv"
	"time"
)

// Code is the stable code of a problem document. Clients switch on it; the
// words around it may change.
type Code string

// Codes beside those of booking.Verdict.
const (
	codeInvalid      Code = "invalid_request"
	codeNotFound     Code = "not_found"
	codeMethod       Code = "method_not_allowed"
	codeRateLimited  Code = "rate_limited"
	codeAlreadyPaid  Code = "already_paid"
	codeInProgress   Code = "in_progress"
	codeUnavailable  Code = "unavailable"
	codeBadSignature Code = "bad_signature"
	codeInternal     Code = "internal"
	codeUnauthorized Code = "unauthorized"
	// codeReasonRequired: an operator did not say why.
	codeReasonRequired Code = "reason_required"
)

// Problem is an error as RFC 9457 has it, with the stable code.
type Problem struct {
	Type   string  `json:"type"`
	Title  string  `json:"title"`
	Status int     `json:"status"`
	Detail string  `json:"detail,omitempty"` // says what to do
	Code   Code    `json:"code"`
	Fields []Field `json:"fields,omitempty"`

	// About the booking that is in the way (case B06).
	BookingID  string   `json:"booking_id,omitempty"`
	State      string   `json:"state,omitempty"`
	Level      string   `json:"level,omitempty"`
	PaymentURL string   `json:"payment_url,omitempty"`
	HoldUntil  *Instant `json:"hold_until,omitempty"`

	Taken  []string `json:"taken,omitempty"`  // named seats that are not free
	Nearby []string `json:"nearby,omitempty"` // free ones near to them; as far as the map knows

	OpensAt *Instant       `json:"opens_at,omitempty"`
	Seat    string         `json:"seat,omitempty"`
	Numbers map[string]int `json:"numbers,omitempty"` // why an operator's wish was refused (case F11)
	Now     *Instant       `json:"now,omitempty"`

	retryAfter time.Duration
}

// Field is one thing that is wrong with a request.
type Field struct {
	Field  string `json:"field"`
	Reason string `json:"reason"`
}

// Instant is a time on the wire: RFC 3339, UTC, milliseconds.
type Instant struct{ time.Time }

const instantLayout = "2006-01-02T15:04:05.000Z"

// MarshalJSON writes the instant.
func (i Instant) MarshalJSON() ([]byte, error) {
	return []byte(`"` + i.UTC().Format(instantLayout) + `"`), nil
}

func instant(t time.Time) *Instant {
	if t.IsZero() {
		return nil
	}
	return &Instant{t}
}

func newProblem(status int, code Code, title, detail string) *Problem {
	return &Problem{Type: "urn:holdfast:problem:" + string(code), Title: title, Status: status, Code: code, Detail: detail}
}

func invalid(fields ...Field) *Problem {
	p := newProblem(http.StatusBadRequest, codeInvalid, "The request is not valid", "Correct the fields that are named and send it again.")
	p.Fields = fields
	return p
}

func notFound() *Problem {
	return newProblem(http.StatusNotFound, codeNotFound, "There is nothing here", "Check the address.")
}

func unavailable(after time.Duration) *Problem {
	p := newProblem(http.StatusServiceUnavailable, codeUnavailable, "Not possible at the moment",
		"Nothing was changed. Try again after the seconds in Retry-After, with the same Idempotency-Key.")
	p.retryAfter = after
	return p
}

// unfinished is for a request that broke off in the middle: a part of it may have
// been done. Every request can be sent again.
func unfinished(after time.Duration) *Problem {
	p := unavailable(after)
	p.Detail = "It is not known whether it was done. Try again after the seconds in Retry-After, in the same words: what was done is not done twice."
	return p
}

// Error makes a Problem an error, so that a handler can return one.
func (p *Problem) Error() string { return string(p.Code) + ": " + p.Title }

// write sends the document. After an error of the connection there is nobody to
// tell.
func (p *Problem) write(w http.ResponseWriter) {
	body, err := json.Marshal(p)
	if err != nil { // no field of a Problem can fail to encode
		http.Error(w, "internal", http.StatusInternalServerError)
		return
	}
	p.header(w.Header())
	w.WriteHeader(p.Status)
	_, _ = w.Write(append(body, '\n'))
}

func (p *Problem) header(h http.Header) {
	h["Content-Type"] = contentProblem
	h["Cache-Control"] = noStore
	h["X-Content-Type-Options"] = noSniff
	if p.retryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(max(1, int(math.Ceil(p.retryAfter.Seconds())))))
	}
}

// Shared header values; net/http does not write to them.
var (
	contentJSON    = []string{"application/json"}
	contentProblem = []string{"application/problem+json"}
	noStore        = []string{"no-store"}
)

// fixed is a refusal that is the same for everybody: built once, because at the
// peak nearly all answers are these.
type fixed struct {
	problem *Problem
	body    []byte
}

func fix(p *Problem) fixed {
	body, err := json.Marshal(p)
	if err != nil {
		panic(err) // at start, and only if Problem itself is broken
	}
	return fixed{p, append(body, '\n')}
}

func (f fixed) write(w http.ResponseWriter) {
	f.problem.header(w.Header())
	w.WriteHeader(f.problem.Status)
	_, _ = w.Write(f.body)
}
