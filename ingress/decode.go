package ingress

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// maxBody is the largest booking request; real ones have 200 bytes.
const maxBody = 4 << 10

// bookingBody is a booking request as it was sent. What is wrong with single
// fields is collected, not fatal: the honeypot comes before any complaint.
type bookingBody struct {
	code, email, level, website string
	hold                        string
	count                       int      // 0: not given as a number
	names                       []string // nil: not given as a list
	faults                      []Field
}

func (b *bookingBody) fault(field, reason string) {
	if len(b.faults) < 20 {
		b.faults = append(b.faults, Field{field, reason})
	}
}

var bodies = sync.Pool{New: func() any { b := make([]byte, maxBody+1); return &b }}

var errTooLarge = errors.New("the body is larger than 4 KiB")

// readBooking reads JSON or a form. An error is a fault of the whole body.
func readBooking(r *http.Request) (bookingBody, error) {
	buf := bodies.Get().(*[]byte)
	defer bodies.Put(buf)
	n, err := io.ReadFull(r.Body, *buf)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return bookingBody{}, errors.New("the body did not arrive whole")
	}
	if n > maxBody {
		return bookingBody{}, errTooLarge
	}
	raw := string((*buf)[:n]) // the one copy: the fields are parts of it, the buffer goes back
	if !utf8.ValidString(raw) {
		return bookingBody{}, errors.New("the body is not UTF-8 text")
	}
	switch kind := mediaType(r.Header.Get("Content-Type")); kind {
	case "application/json", "":
		return decodeJSON(raw)
	case "application/x-www-form-urlencoded":
		return decodeForm(raw)
	}
	return bookingBody{}, errors.New("the body must be application/json or application/x-www-form-urlencoded")
}

func mediaType(header string) string {
	switch header { // nearly all of them, without parsing
	case "", "application/json", "application/x-www-form-urlencoded":
		return header
	}
	kind, _, err := mime.ParseMediaType(header)
	if err != nil {
		return "invalid"
	}
	return kind
}

// decodeForm reads a form. seats is a number, or a name as often as there are
// seats.
func decodeForm(raw string) (bookingBody, error) {
	var b bookingBody
	values, err := url.ParseQuery(raw)
	if err != nil {
		return b, errors.New("the form is not properly encoded")
	}
	for field, all := range values {
		target := b.text(field)
		switch {
		case field == "seats":
			b.formSeats(all)
		case target == nil:
			b.fault(shown(field), "is not a field of a booking")
		case field == "website":
			b.website = strings.Join(all, "") // whichever of them was filled
		case len(all) > 1:
			b.fault(field, "is given twice")
		default:
			*target = all[0]
		}
	}
	return b, nil
}

func (b *bookingBody) formSeats(all []string) {
	if len(all) == 1 {
		if all[0] == "" {
			return
		}
		if n, err := strconv.Atoi(all[0]); err == nil {
			b.seatCount(n)
			return
		}
	}
	b.names = all
}

func (b *bookingBody) seatCount(n int) {
	if b.count = n; n < 1 {
		b.fault("seats", "must be 1 or more")
	}
}

// text is the field's place, or nil if there is no such text field.
func (b *bookingBody) text(field string) *string {
	switch field {
	case "code":
		return &b.code
	case "email":
		return &b.email
	case "level":
		return &b.level
	case "website":
		return &b.website
	case "hold_id":
		return &b.hold
	}
	return nil
}

// shown is a field's name as an answer may repeat it.
func shown(field string) string {
	if len(field) > 40 || hasControl(field) || !utf8.ValidString(field) {
		return "?"
	}
	return field
}

// hasControl finds what no code, address or name has: control characters, and
// bytes that are no UTF-8.
func hasControl(s string) bool {
	for _, r := range s {
		if r < ' ' || r == 0x7f || r == utf8.RuneError || r > 0x7f && unicode.IsControl(r) {
			return true
		}
	}
	return false
}
