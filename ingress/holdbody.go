package ingress

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/holdfast/holdfast/ingress/booking"
	"github.com/holdfast/holdfast/sale"
)

// holdBody is a request for a soft hold, or for its change.
type holdBody struct {
	Code    string    `json:"code"`
	Email   string    `json:"email"`
	Level   string    `json:"level"`
	Seats   []string  `json:"seats"`
	Best    *bestBody `json:"best"`
	Seconds *int64    `json:"seconds"`
	Website any       `json:"website"`

	faults []Field
}

// bestBody asks for the best seats that are free, side by side.
type bestBody struct {
	Count       int    `json:"count"`
	Section     string `json:"section"`
	AmountMinor int64  `json:"amount_minor"`
	Accessible  bool   `json:"accessible"`
}

func (b *holdBody) fault(field, reason string) { b.faults = append(b.faults, Field{field, reason}) }

// readHold reads one JSON object strictly, of at most 4 KiB. An error is a fault
// of the whole body.
func readHold(r *http.Request) (*holdBody, error) {
	raw, err := io.ReadAll(io.LimitReader(r.Body, maxBody+1))
	switch kind := mediaType(r.Header.Get("Content-Type")); {
	case err != nil:
		return nil, errors.New("the body did not arrive whole")
	case len(raw) > maxBody:
		return nil, errTooLarge
	case !utf8.Valid(raw):
		return nil, errors.New("the body is not UTF-8 text")
	case kind != "application/json" && kind != "":
		return nil, errors.New("the body must be application/json")
	}
	b := &holdBody{}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(b); err != nil {
		return nil, errors.New("the body must be one JSON object with the fields code, email, level, seats or best, seconds")
	}
	if d.More() {
		return nil, errors.New("the body must be one JSON object and nothing after it")
	}
	b.checkNames(raw, "")
	return b, nil
}

// holdFields are the names of the fields, those of best with best in front.
var holdFields = map[string]bool{"code": true, "email": true, "level": true, "seats": true, "best": true, "seconds": true, "website": true,
	"best.count": true, "best.section": true, "best.amount_minor": true, "best.accessible": true}

// checkNames refuses what encoding/json takes silently, of an object that it has
// read: a name in other letters, and a name that comes twice, of which the last
// one counts. A website that is filled once is filled.
func (b *holdBody) checkNames(object []byte, in string) {
	d := json.NewDecoder(bytes.NewReader(object))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return // null
	}
	seen := map[string]bool{}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return
		}
		name := in + t.(string) // in an object every second token is one
		switch {
		case !holdFields[name]:
			b.fault(shown(name), "is not a field of a hold")
		case seen[name] && name != "website":
			b.fault(name, "is given twice")
		}
		seen[name] = true
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return
		}
		switch name {
		case "best":
			b.checkNames(value, "best.")
		case "website":
			if v := string(value); v != `""` && v != "null" {
				b.Website = "filled"
			}
		}
	}
}

// trapped says whether somebody filled what nobody sees.
func (b *holdBody) trapped() bool { return b.Website != nil && b.Website != "" }

// defaultHold is how long a hold lasts if nobody says.
const defaultHold = 10 * time.Minute

// life is how long to hold, within what the sale allows.
func (b *holdBody) life(p *booking.Plan) time.Duration {
	most := p.Sale.SoftHoldMax
	if b.Seconds == nil {
		return min(defaultHold, most)
	}
	if n := *b.Seconds; n < 1 || n > int64(most/time.Second) {
		b.fault("seconds", "must be 1 to "+strconv.FormatInt(int64(most/time.Second), 10))
		return most
	}
	return time.Duration(*b.Seconds) * time.Second
}

// names checks the form of a list of seats.
func (b *holdBody) names(most int) {
	if len(b.Seats) < 1 || len(b.Seats) > most {
		b.fault("seats", "must be a list of 1 to "+strconv.Itoa(most)+" seat names")
		return
	}
	seen := make(map[string]bool, len(b.Seats))
	for _, n := range b.Seats {
		if !sale.ValidName(n) || seen[n] {
			b.fault("seats", "must be names of seats, each once")
			return
		}
		seen[n] = true
	}
}

// wish checks a wish for the best seats.
func (b *holdBody) wish(h *sale.Hall, most int) sale.Wish {
	w := sale.Wish{Count: b.Best.Count, Section: b.Best.Section, PriceMinor: b.Best.AmountMinor, Accessible: b.Best.Accessible}
	if w.Count < 1 || w.Count > most {
		b.fault("best.count", "must be 1 to "+strconv.Itoa(most))
	}
	if w.PriceMinor < 0 {
		b.fault("best.amount_minor", "must not be negative")
	}
	known := w.Section == ""
	for _, s := range h.Level.Sections {
		known = known || s.Name == w.Section
	}
	if !known {
		b.fault("best.section", "is not a section of this level")
	}
	return w
}
