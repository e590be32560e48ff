package dynamo

import (
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/holdfast/holdfast/ledger"
)

// bookingItem is the B item of a booking that is being created.
func bookingItem(b ledger.Booking) item {
	r := row(bookingKey(b.ID).item())
	r["sale"], r["st"], r["reason"], r["actor"] = str(b.Sale), str(string(b.State)), str(string(b.Reason)), str(string(b.Actor))
	r["gen"], r["amount_minor"], r["release_asks"] = num(b.Gen), num(b.Price.AmountMinor), num(b.ReleaseAsks)
	r["seats"], r["history"] = list(b.Seats, seatValue), list(b.History, changeValue)
	for name, s := range map[string]string{
		"ch": b.Candidate, "level": b.Level, "currency": b.Price.Currency, "gateway": b.Payment.Gateway, "pid": b.Payment.ID,
		"key": b.Key, "input_hash": b.InputHash, "email_hash": b.EmailHash, "successor": b.Successor,
	} {
		r.setStr(name, s)
	}
	r.setTime("admitted_at", b.AdmittedAt)
	r.setTime("hold_until", b.HoldUntil)
	r.setTime("paid_at", b.PaidAt)
	r.setTime("released_at", b.ReleasedAt)
	switch {
	case b.UndoOwed:
		r["undo"] = num(1)
		r[DuePartitionKey], r[DueSortKey] = dueKey(undosOwed, b.Sale, b.ID, b.ReleasedAt)
	case b.State == ledger.Held:
		r[DuePartitionKey], r[DueSortKey] = dueKey(holdsDue, b.Sale, b.ID, b.HoldUntil)
	}
	return item(r)
}

func seatValue(s ledger.Seat) types.AttributeValue {
	return &types.AttributeValueMemberM{Value: item{"token": str(s.Token), "score": num(s.Score)}}
}

func changeValue(c ledger.Change) types.AttributeValue {
	return &types.AttributeValueMemberM{Value: item{"from": str(string(c.From)), "to": str(string(c.To)),
		"at": millis(c.At), "actor": str(string(c.Actor)), "reason": str(string(c.Reason))}}
}

func readBooking(it item) (ledger.Booking, error) {
	r := &reader{item: it}
	b := ledger.Booking{
		ID: lastPart(r.str(PartitionKey)), Sale: r.str("sale"), Candidate: r.str("ch"), Level: r.str("level"),
		State: ledger.State(r.str("st")), Gen: r.num("gen"),
		Payment: ledger.PaymentKey{Gateway: r.str("gateway"), ID: r.str("pid")},
		Key:     r.str("key"), InputHash: r.str("input_hash"), EmailHash: r.str("email_hash"),
		AdmittedAt: r.time("admitted_at"), HoldUntil: r.time("hold_until"), PaidAt: r.time("paid_at"), ReleasedAt: r.time("released_at"),
		Reason: ledger.Reason(r.str("reason")), Actor: ledger.Actor(r.str("actor")),
		UndoOwed: r.num("undo") != 0, Successor: r.str("successor"), ReleaseAsks: int(r.num("release_asks")),
		Paying: r.num("paying") != 0,
	}
	b.Price.AmountMinor, b.Price.Currency = r.num("amount_minor"), r.str("currency")
	r.each("seats", func(s *reader) {
		b.Seats = append(b.Seats, ledger.Seat{Token: s.str("token"), Score: s.num("score")})
	})
	r.each("history", func(c *reader) {
		b.History = append(b.History, ledger.Change{From: ledger.State(c.str("from")), To: ledger.State(c.str("to")),
			At: c.time("at"), Actor: ledger.Actor(c.str("actor")), Reason: ledger.Reason(c.str("reason"))})
	})
	return b, r.err
}

func readPayment(it item) (ledger.PaymentRecord, error) {
	r := &reader{item: it}
	return ledger.PaymentRecord{
		Key: paymentOf(r.str(PartitionKey)), Sale: r.str("sale"), BookingID: r.str("bid"),
		Resolution: ledger.Resolution(r.str("res")), Refund: ledger.RefundStep(r.str("refund")),
		AmountMinor: r.num("amount_minor"), Currency: r.str("currency"), Reason: r.str("reason"), At: r.time("at"),
	}, r.err
}

// ownerItem is a C or S item.
func ownerItem(k key, saleID, bookingID string) item {
	it := k.item()
	it["sale"], it["bid"] = str(saleID), str(bookingID)
	return it
}
