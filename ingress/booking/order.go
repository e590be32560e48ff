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

// Fill hashes what a repeated request is compared by: the key belongs to one
// candidate of one sale, the input is everything else (protocol.md 3.5).
func (o *Order) Fill(h *sale.Hasher, saleID, key string) {
	if key != "" {
		o.Key = h.Input("idempotency key", saleID, string(o.Candidate), key)
	}
	if o.HoldID != "" {
		o.InputHash = h.Input("booking of a hold", saleID, string(o.EmailHash), o.HoldID)
		return
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
	price := o.price(p)
	return admission.Request{
		Sale: p.Sale.ID, BookingID: bookingID, Candidate: string(o.Candidate), Level: o.Level, Gen: p.Gen,
		Key: o.Key, InputHash: o.InputHash, EmailHash: string(o.EmailHash),
		AmountMinor: price.AmountMinor, Currency: price.Currency, Count: o.Count, Seats: o.Seats,
	}
}

// price of the order. Named seats cost what their sections say; a hold knows its
// price itself. Of a name that the plan does not have the level's price is taken:
// the script refuses it.
func (o Order) price(p *Plan) sale.Money {
	if hall := p.Halls[o.Level]; hall != nil && len(o.Seats) > 0 {
		if sum, err := hall.Amount(o.Seats); err == nil {
			return sum
		}
	}
	return p.Sale.PriceOf(o.Level).Times(o.seats())
}
