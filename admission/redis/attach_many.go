package redis

import (
	"context"
	"strconv"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/admission/redis/resp"
)

// settlement is a booking that the ledger knows.
type settlement struct {
	bookingID string
	paid      bool
}

// attachMany attaches a batch (lua/attach_many.lua). Nobody waits for replicas: a
// lost attach leaves a pending entry, which the reaper resolves with the gateway.
func (s *Store) attachMany(ctx context.Context, sale string, calls []*call[admission.Attachment, admission.AttachAnswer]) {
	k := saleKeys(sale)
	var args resp.Packed
	args.Reset(300 * len(calls)) // most of it is the payment's page
	columns := []func(*admission.Attachment){
		func(a *admission.Attachment) { args.String(a.BookingID) },
		func(a *admission.Attachment) { args.Decimal(int64(a.Driver)) },
		func(a *admission.Attachment) { args.String(a.PaymentID) },
		func(a *admission.Attachment) { args.String(keptURL(a.URL)) },
		func(a *admission.Attachment) { args.Decimal(max(toMillis(a.HoldUntil), 0)) }, // digits only: the script compares them as text
		func(a *admission.Attachment) { args.Decimal(a.StashFor.Milliseconds()) },
	}
	for _, add := range columns {
		for _, c := range calls {
			add(&c.ask)
		}
	}
	pack := func(out *resp.Writer) {
		out.String(k.pending())
		out.String(k.bk())
		out.String(k.cfg())
		out.Packed(&args)
	}
	answers := make([]admission.AttachAnswer, len(calls))
	faults := make([]error, len(calls))
	err := s.many(ctx, attachManyScript, k, 3, 1, pack, func(flat []resp.Value) error {
		for i, c := range calls {
			if v := flat[0]; v.Kind == resp.Text {
				answers[i], faults[i] = attached(c.ask.PaymentID, v.Text)
				flat = flat[1:]
				continue
			}
			var raw any
			raw, flat = resp.Any(flat)
			answers[i], faults[i] = parseAttach(c.ask.PaymentID, raw)
		}
		return nil
	}, len(calls))
	for i, c := range calls {
		if err != nil {
			c.deliver(admission.AttachAnswer{}, err)
			continue
		}
		c.deliver(answers[i], faults[i])
	}
}

// attached reads the answer of somebody whose payment is attached: until when the
// seats are held, in milliseconds.
func attached(pid, hold string) (admission.AttachAnswer, error) {
	ms, err := strconv.ParseInt(hold, 10, 64)
	if err != nil {
		return admission.AttachAnswer{}, malformed("attach_many: held until %q", hold)
	}
	return admission.AttachAnswer{Outcome: admission.Attached, PaymentID: pid, HoldUntil: fromMillis(ms)}, nil
}

// settleMany settles a batch (lua/settle_many.lua).
func (s *Store) settleMany(ctx context.Context, sale string, calls []*call[settlement, bool]) {
	k := saleKeys(sale)
	pack := func(out *resp.Writer) {
		out.String(k.pending())
		out.String(k.bk())
		out.String(k.cfg())
		for _, c := range calls {
			out.String(c.ask.bookingID)
			out.String(flag(c.ask.paid))
		}
	}
	went := make([]bool, len(calls))
	err := s.many(ctx, settleManyScript, k, 3, 2*len(calls), pack, func(flat []resp.Value) error {
		for i := range calls {
			if flat[i].Kind != resp.Int || flat[i].Int < 0 || flat[i].Int > 1 {
				return malformed("settle_many: answer %d is neither 0 nor 1", i+1)
			}
			went[i] = went[i] || flat[i].Int == 1
		}
		return nil
	}, len(calls))
	for i, c := range calls {
		c.deliver(went[i] && err == nil, err)
	}
}

// many runs a vector form that nobody waits for and gives read its n answers. It
// runs the same calls again after a lost answer: every vector form bears that.
func (s *Store) many(ctx context.Context, sc *script, k keys, keyCount, argCount int, pack func(*resp.Writer),
	read func([]resp.Value) error, n int,
) error {
	return s.again(ctx, func(ctx context.Context) error {
		return s.onWire(ctx, k.cfg(), func(w *wire) error {
			flat, err := w.script(sc, keyCount, argCount, pack, ask{})
			if err != nil {
				return err
			}
			if flat[0].Kind != resp.List || int(flat[0].Int) != n {
				return malformed("%s: want %d answers", sc.name, n)
			}
			return read(flat[1:])
		})
	})
}
