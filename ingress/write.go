package ingress

import (
	"encoding/json"
	"net/http"
	"sync"
	"time"

	"github.com/holdfast/holdfast/ingress/booking"
)

var answers = sync.Pool{New: func() any { b := make([]byte, 0, 1024); return &b }}

// writeBooking sends a booking that was made or found again. Decoys go through
// it too, so that there is nothing to tell them apart by.
func (in *Ingress) writeBooking(w http.ResponseWriter, saleID string, a *booking.Answer, now time.Time) {
	status := http.StatusOK
	if a.Verdict == booking.Created {
		status = http.StatusCreated
		w.Header().Set("Location", "/bookings/"+a.BookingID+"?sale="+saleID)
	}
	buf := answers.Get().(*[]byte)
	b := append((*buf)[:0], `{"booking_id":`...)
	b = appendText(b, a.BookingID)
	b = append(b, `,"state":`...)
	b = appendText(b, string(a.State))
	b = append(b, `,"level":`...)
	b = appendText(b, a.Level)
	b = append(b, `,"seats":[`...)
	for i, s := range a.Seats {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendText(b, s)
	}
	b = append(b, ']')
	if a.PaymentURL != "" {
		b = append(b, `,"payment_url":`...)
		b = appendText(b, a.PaymentURL)
	}
	if !a.HoldUntil.IsZero() {
		b = append(b, `,"hold_until":`...)
		b = appendInstant(b, a.HoldUntil)
	}
	b = append(b, `,"now":`...)
	b = appendInstant(b, now)
	b = append(b, '}', '\n')
	h := w.Header()
	h["Content-Type"], h["Cache-Control"] = contentJSON, noStore
	w.WriteHeader(status)
	_, _ = w.Write(b)
	*buf = b
	answers.Put(buf)
}

// appendText appends s as a JSON string. What needs an escape is left to
// encoding/json.
func appendText(b []byte, s string) []byte {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c < ' ' || c >= 0x7f || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' {
			quoted, err := json.Marshal(s)
			if err != nil {
				return append(b, `""`...)
			}
			return append(b, quoted...)
		}
	}
	b = append(b, '"')
	b = append(b, s...)
	return append(b, '"')
}

func appendInstant(b []byte, t time.Time) []byte {
	b = append(b, '"')
	b = t.UTC().AppendFormat(b, instantLayout)
	return append(b, '"')
}

// writeJSON sends any document.
func writeJSON(w http.ResponseWriter, status int, doc any) {
	body, err := json.Marshal(doc)
	if err != nil {
		newProblem(http.StatusInternalServerError, codeInternal, "Something went wrong here", "Try again.").write(w)
		return
	}
	h := w.Header()
	h["Content-Type"], h["Cache-Control"] = contentJSON, noStore
	w.WriteHeader(status)
	_, _ = w.Write(append(body, '\n'))
}
