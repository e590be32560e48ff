package sandbox

import (
	"encoding/json"
	"net/http"
	"net/url"
	"time"

	"github.com/holdfast/holdfast/payment"
	"github.com/holdfast/holdfast/payment/sandbox/api"
)

// ParseWebhook checks the signature in constant time and its time against now,
// in both directions. What the event says about the payment is dropped: it only
// says where to look (protocol.md 2.2.2).
func (g *Gateway) ParseWebhook(h http.Header, body []byte, now time.Time) (payment.Notice, error) {
	signatures := h.Values(api.HeaderSignature)
	if len(signatures) != 1 || len(body) > api.MaxBodyBytes {
		return payment.Notice{}, payment.ErrBadSignature
	}
	if err := api.Verify(g.config.WebhookSecret, signatures[0], body, now); err != nil {
		return payment.Notice{}, payment.ErrBadSignature
	}
	var e api.Event
	if err := json.Unmarshal(body, &e); err != nil {
		return payment.Notice{}, payment.ErrBadNotice
	}
	meta := e.Metadata
	if e.Account != g.config.Name || !api.ValidID(e.ID) || !api.ValidID(e.PaymentID) ||
		!fits(meta.Sale) || !fits(meta.BookingID) || !fits(meta.Candidate) {
		return payment.Notice{}, payment.ErrBadNotice
	}
	return payment.Notice{EventID: e.ID, PaymentID: e.PaymentID, Metadata: payment.Metadata{
		Sale: meta.Sale, BookingID: meta.BookingID, Candidate: meta.Candidate,
	}}, nil
}

// ParseReturn reads the query of a redirect, which anybody can forge. Its event
// id is never that of a webhook, so that a forged redirect can't make the queue
// drop a true notice as a duplicate. It has no metadata; the payment id leads on.
func (g *Gateway) ParseReturn(q url.Values) (payment.Notice, error) {
	id := q.Get(api.ParamPayment)
	if !api.ValidID(id) {
		return payment.Notice{}, payment.ErrBadNotice
	}
	ref := q.Get(api.ParamRef)
	if !api.ValidID(ref) {
		ref = "none"
	}
	return payment.Notice{EventID: "return-" + id + "-" + ref, PaymentID: id}, nil
}

func fits(s string) bool { return len(s) <= api.MaxFieldBytes }
