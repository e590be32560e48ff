package booking

import (
	"strconv"
	"strings"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/sale"
)

// Order is a booking request that has passed every check of form. It holds
// hashes where the request had secrets.
type Order struct {
	Candidate sale.CodeHash
	EmailHash sale.EmailHash
	Level     string
	Count     int      // seats of a counted level
	Seats     []string // names of a seated level; nil for a counted one
	HoldID    string   // the candidate's soft hold to be booked; Count and Seats are then empty, Level is a guess
	Key       string   // hash of the idempotency key, or ""
	InputHash string   // of what the key stands for
}

// Hash fills in who orders, and what a repeated request is compared by: the key
// belongs to one candidate of one sale, the input is everything else (protocol.md
// 3.5). The four hashes are parts of one string.
func (o *Order) Hash(h *sale.Hasher, saleID string, code sale.Code, email sale.Email, key string) {
	var space [128]byte
	b := h.AppendCode(space[:0], code)
	candidate := len(b)
	b = h.AppendEmail(b, email)
	mail := len(b)
	if key != "" {
		b = h.AppendInput(b, "idempotency key", saleID, string(b[:candidate]), key)
	}
	keyed := len(b)
	if o.HoldID != "" {
		b = h.AppendInput(b, "booking of a hold", saleID, string(b[candidate:mail]), o.HoldID)
	} else {
		b = h.AppendInput(b, "booking", saleID, o.Level, string(b[candidate:mail]), strconv.Itoa(o.Count), strings.Join(o.Seats, ","))
	}
	all := string(b)
	o.Candidate, o.EmailHash = sale.CodeHash(all[:candidate]), sale.EmailHash(all[candidate:mail])
	o.Key, o.InputHash = all[mail:keyed], all[keyed:]
}

// request asks for the order's seats. Whoever made the order has checked the
// names: of one that the plan does not have no price is known, and without one
// the adapter refuses. A hold knows its price itself.
func (o Order) request(p *Plan, bookingID string) admission.Request {
	price := p.Sale.Price
	if o.HoldID == "" {
		price, _ = p.Sale.Amount(p.Halls, o.Level, o.Count, o.Seats)
	}
	return admission.Request{
		Sale: p.Sale.ID, BookingID: bookingID, Candidate: string(o.Candidate), Level: o.Level, Gen: p.Gen,
		Key: o.Key, InputHash: o.InputHash, EmailHash: string(o.EmailHash),
		AmountMinor: price.AmountMinor, Currency: price.Currency, Count: o.Count, Seats: o.Seats,
	}
}
