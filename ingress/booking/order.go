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
	Key       string   // hash of the idempotency key, or ""
	InputHash string   // of what the key stands for
}

// Fill hashes what a repeated request is compared by: the key belongs to one
// candidate of one sale, the input is everything else (protocol.md 3.5).
func (o *Order) Fill(h *sale.Hasher, saleID, key string) {
	if key != "" {
		o.Key = h.Input("idempotency key", saleID, string(o.Candidate), key)
	}
	o.InputHash = h.Input("booking", saleID, o.Level, string(o.EmailHash), strconv.Itoa(o.Count), strings.Join(o.Seats, ","))
}

// seats is how many seats the order is for.
func (o Order) seats() int {
	if len(o.Seats) > 0 {
		return len(o.Seats)
	}
	return o.Count
}

func (o Order) request(p *Plan, bookingID string) admission.Request {
	price := p.Sale.PriceOf(o.Level).Times(o.seats())
	return admission.Request{
		Sale: p.Sale.ID, BookingID: bookingID, Candidate: string(o.Candidate), Level: o.Level, Gen: p.Gen,
		Key: o.Key, InputHash: o.InputHash, EmailHash: string(o.EmailHash),
		AmountMinor: price.AmountMinor, Currency: price.Currency, Count: o.Count, Seats: o.Seats,
	}
}
