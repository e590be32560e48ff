package dynamo

import (
	"github.com/holdfast/holdfast/ledger"
)

// bookingUpdate writes a ledger.BookingChange.
func bookingUpdate(c ledger.BookingChange, t ledger.Transition) *expression {
	e := newExpression()
	e.require(e.equal("st", string(c.From)))
	if !c.HeldUntil.IsZero() {
		e.require(e.compare("hold_until", "<=", millis(c.HeldUntil)))
	}
	if !c.Before.IsZero() {
		e.require(e.compare("hold_until", "<", millis(c.Before)))
	}
	e.set("st", str(string(c.To)))
	if c.To == ledger.Released && c.From != ledger.Released {
		e.set("released_at", millis(t.At))
	}
	if !c.PaidAt.IsZero() {
		e.set("paid_at", millis(c.PaidAt))
	}
	if !c.Payment.Zero() {
		e.set("gateway", str(c.Payment.Gateway))
		e.set("pid", str(c.Payment.ID))
	}
	if !c.HoldUntil.IsZero() {
		e.set("hold_until", millis(c.HoldUntil))
	}
	if c.ReleaseAsks != 0 {
		e.add("release_asks", c.ReleaseAsks)
	}
	if c.Paying {
		e.set("paying", num(1))
	}
	if c.Append {
		e.set("reason", str(string(c.Reason)))
		e.set("actor", str(string(c.Actor)))
		e.append("history", changeValue(c.Entry(t.At)))
	}
	bookingDue(e, c, t)
	return e
}

// bookingDue moves the booking in the index: into the owed undos, to another
// time of its hold, or out.
func bookingDue(e *expression, c ledger.BookingChange, t ledger.Transition) {
	switch {
	case c.SetUndo:
		pk, sk := dueKey(undosOwed, c.Sale, c.ID, t.At)
		e.set("undo", num(1))
		e.set(DuePartitionKey, pk)
		e.set(DueSortKey, sk)
	case c.ClearUndo:
		e.remove("undo", DuePartitionKey, DueSortKey)
	case c.To == ledger.Held && !c.HoldUntil.IsZero():
		pk, sk := dueKey(holdsDue, c.Sale, c.ID, c.HoldUntil)
		e.set(DuePartitionKey, pk)
		e.set(DueSortKey, sk)
	case c.To == ledger.Paid:
		e.remove(DuePartitionKey, DueSortKey)
	}
}

// linkUpdate writes a ledger.Link. Its condition also keeps the update from
// creating a booking that is not there.
func linkUpdate(l ledger.Link) *expression {
	e := newExpression()
	e.require(e.equal("st", string(ledger.Released)))
	e.require(either(e.absent("successor"), e.equal("successor", l.Successor)))
	e.set("successor", str(l.Successor))
	return e
}

// paymentUpdate writes a ledger.PaymentChange. It is an update also where the
// item is new, because it must keep what an older one says.
func paymentUpdate(c ledger.PaymentChange, t ledger.Transition) *expression {
	e := newExpression()
	e.require(paymentCondition(e, c))
	e.set("sale", str(c.Sale))
	e.set("bid", str(c.BookingID))
	e.set("res", str(string(c.Resolution)))
	e.set("at", millis(t.At))
	if c.AmountMinor != 0 {
		e.set("amount_minor", num(c.AmountMinor))
		e.set("currency", str(c.Currency))
	}
	if c.Reason != "" {
		e.set("reason", str(c.Reason))
	}
	switch c.Refund {
	case ledger.RefundDue, ledger.RefundSent:
		pk, sk := dueKey(refundsDue, c.Sale, c.Key.String(), t.At)
		e.set("refund", str(string(c.Refund)))
		e.set(DuePartitionKey, pk)
		e.set(DueSortKey, sk)
	case ledger.RefundDone:
		e.set("refund", str(string(c.Refund)))
		e.remove(DuePartitionKey, DueSortKey)
	}
	return e
}

func paymentCondition(e *expression, c ledger.PaymentChange) string {
	switch c.When {
	case ledger.AbsentOrOwnOpen:
		return either(e.absent(PartitionKey), both(e.equal("bid", c.BookingID), e.equal("res", string(ledger.Open))))
	case ledger.AbsentOrOpen:
		return either(e.absent(PartitionKey), e.equal("res", string(ledger.Open)))
	case ledger.OwnApplied:
		return both(e.equal("bid", c.BookingID), e.equal("res", string(ledger.Applied)))
	case ledger.RefundIs:
		return both(e.equal("res", string(ledger.Refund)), e.equal("refund", string(c.FromRefund)))
	case ledger.InReview:
		return e.equal("res", string(ledger.Review))
	case ledger.OwnInReview:
		return both(e.equal("bid", c.BookingID), e.equal("res", string(ledger.Review)))
	}
	// No condition that is known: one that never holds, as PaymentChange.Allows.
	return both(e.absent(PartitionKey), "attribute_exists("+e.name(PartitionKey)+")")
}
