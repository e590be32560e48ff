package redis

import (
	"context"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/holdfast/holdfast/admission"
)

// Settle clears the pending entry of a booking that the ledger knows
// (protocol.md 3.4 S3). A lost settle heals by itself, so nothing is waited for.
func (s *Store) Settle(ctx context.Context, sale, bookingID, candidate string, paid bool) (bool, error) {
	if err := validSettlement(sale, bookingID, candidate); err != nil {
		return false, err
	}
	k := saleKeys(sale)
	var went bool
	err := s.retry(ctx, k.cfg(), func(ctx context.Context, conn *goredis.Conn) error {
		raw, err := settleScript.run(ctx, conn, []string{k.pending(), k.bk(), k.cfg()}, bookingID, flag(paid))
		if err != nil {
			return err
		}
		n, ok := raw.(int64)
		if !ok || n < 0 || n > 1 {
			return malformed("settle: unknown answer %v", raw)
		}
		went = went || n == 1
		return nil
	})
	return went, err
}

func validSettlement(sale, bookingID, candidate string) error {
	var c check
	c.names(sale, bookingID)
	c.ok(word(candidate, maxHash), "candidate", candidate)
	return c.err
}

func validAttachment(a *admission.Attachment) error {
	var c check
	c.names(a.Sale, a.BookingID)
	c.ok(validPayment(a.PaymentID), "payment id", a.PaymentID)
	c.ok(a.StashFor >= time.Millisecond, "stash life", "below 1 ms")
	return c.err
}

func flag(b bool) string {
	if b {
		return "1"
	}
	return "0"
}

// Attach binds a payment to an admitted booking (protocol.md 3.4 S5). An attach
// whose first answer was lost finds its own payment and answers Attached.
func (s *Store) Attach(ctx context.Context, a admission.Attachment) (admission.AttachAnswer, error) {
	if err := validAttachment(&a); err != nil {
		return admission.AttachAnswer{}, err
	}
	k := saleKeys(a.Sale)
	var answer admission.AttachAnswer
	err := s.retry(ctx, k.cfg(), func(ctx context.Context, conn *goredis.Conn) error {
		raw, err := attachScript.run(ctx, conn, []string{k.pending(), k.bk(), k.cfg()},
			a.BookingID, a.Driver, a.PaymentID, keptURL(a.URL), millis(a.HoldUntil), a.StashFor.Milliseconds())
		if err != nil {
			return err
		}
		if answer, err = parseAttach(a.PaymentID, raw); err != nil {
			return err
		}
		// A payment that somebody else attached is worth no more than ours: the
		// caller goes on from it to the ledger (protocol.md R4). HAVE wrote nothing.
		if bound := answer.Outcome == admission.Attached || answer.Outcome == admission.AlreadyAttached; !bound || !a.Acknowledge {
			return nil
		}
		ok, err := s.acknowledgedPast(ctx, conn, k)
		if err == nil && !ok {
			return admission.ErrUnacknowledged
		}
		return err
	})
	return answer, err
}

func parseAttach(paymentID string, raw any) (a admission.AttachAnswer, err error) {
	p := newReply("attach", raw)
	switch name := p.str(); name {
	case "OK":
		a.Outcome, a.PaymentID, a.HoldUntil = admission.Attached, paymentID, fromMillis(p.num())
	case "HAVE":
		a.Outcome, a.PaymentID = admission.AlreadyAttached, p.str()
		p.stage()
		a.HoldUntil = fromMillis(p.num())
		if a.PaymentID == paymentID {
			a.Outcome = admission.Attached
		}
	case "GONE":
		a.Outcome = admission.AttachGone
	case "SUPERSEDED":
		a.Outcome = admission.AttachSuperseded
	default:
		return a, p.unknown(name)
	}
	return a, p.end()
}

// mustAcknowledge is acknowledged for answers that are worth nothing without it.
func (s *Store) mustAcknowledge(ctx context.Context, c doer) error {
	ok, err := s.acknowledged(ctx, c)
	if err == nil && !ok {
		return admission.ErrUnacknowledged
	}
	return err
}

// Stash returns the payment URL that is kept for this booking. One whose life has
// passed by Redis TIME is admission.ErrNotFound.
func (s *Store) Stash(ctx context.Context, sale, bookingID string) (string, error) {
	var c check
	c.names(sale, bookingID)
	if c.err != nil {
		return "", c.err
	}
	raw, now, err := s.recordsOf(ctx, saleKeys(sale), []string{bookingID})
	if err != nil {
		return "", err
	}
	until, url := stashOf(raw[0])
	if url == "" || !now.Before(until) {
		return "", admission.ErrNotFound
	}
	return url, nil
}
