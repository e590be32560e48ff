package events

import (
	"crypto/sha256"
	"encoding/hex"
)

// maxID is the longest message group or deduplication id that SQS accepts, in
// characters of ASCII without spaces and control characters.
const maxID = 128

// Group is the message group in which the queue keeps the event's order: the
// whole candidate hash, never a prefix of it (protocol.md 3A row 7). A notice
// whose candidate is unknown is ordered with the other notices of its payment;
// nothing depends on its order against the candidate's own events, because the
// worker asks the gateway and the ledger decides.
func (e Event) Group() string {
	if e.Candidate != "" || e.Notice == nil {
		return e.Candidate
	}
	return "P:" + digest(e.Notice.Gateway, e.Notice.PaymentID)
}

// DedupID is the deduplication id: the same content always has the same one,
// so an event may be sent again after a lost answer (protocol.md 3.5 step 5).
//
//	H:<booking>            booking.held
//	N:<hash>               payment.notified, of the gateway and its event id
//	Q:<gateway>:<payment>  payment.captured, or Q:<hash> where that does not fit
//
// It is empty for an event without a valid payload.
func (e Event) DedupID() string {
	switch {
	case e.Type == BookingHeld:
		return "H:" + e.BookingID
	case e.Type == PaymentNotified && e.Notice != nil:
		return "N:" + digest(e.Notice.Gateway, e.Notice.EventID)
	case e.Type == PaymentCaptured && e.Captured != nil:
		id := "Q:" + e.Captured.Gateway + ":" + e.Captured.PaymentID
		if !validID(id) {
			id = "Q:" + digest(e.Captured.Gateway, e.Captured.PaymentID)
		}
		return id
	}
	return ""
}

// Seq ranks the steps of one booking: held 1, notified 2, captured 3; 0 for an
// unknown type. A reader that sees a higher rank before a lower one knows that
// the queue's order was broken, as it is by a redrive; events of one rank have
// no order among themselves.
func (t Type) Seq() int {
	switch t {
	case BookingHeld:
		return 1
	case PaymentNotified:
		return 2
	case PaymentCaptured:
		return 3
	}
	return 0
}

// digest is 64 hex digits that stand for the parts; the separator can't occur
// in a valid part, so different parts never run together.
func digest(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		h.Write([]byte(p))
		h.Write([]byte{0})
	}
	return hex.EncodeToString(h.Sum(nil))
}

// validID says whether SQS takes s as a group or deduplication id.
func validID(s string) bool { return len(s) <= maxID && printable(s) }
