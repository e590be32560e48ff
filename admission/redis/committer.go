package redis

import (
	"context"

	"github.com/holdfast/holdfast/admission"
)

// CommitOptions size the group commit. The zero value is right for a replica
// that acknowledges within a millisecond.
type CommitOptions struct {
	InFlight int // batches of a sale under way at a time; 0 = 2. Use 4 where an acknowledgement takes over 1 ms
	// Connections bounds the batches of one kind that are under way for all sales of
	// one primary, in this process; 0 = 4, and never fewer than InFlight. Each holds a
	// connection, and connections that wait for replicas cost the primary more than
	// callers that wait for a batch. Up to it a sale starts one more than InFlight,
	// once a whole MaxBatch waits for it. In a cluster each primary has its own: one
	// that is frozen holds those of no other.
	Connections int
	MaxBatch    int // calls per batch; 0 = 256: a script of some 2 ms, the most that others may wait behind
	MaxQueue    int // calls of a sale that wait for their batch; 0 = 8192, beyond it they are refused
}

func (o CommitOptions) complete() CommitOptions {
	if o.InFlight == 0 {
		o.InFlight = 2
	}
	if o.Connections == 0 {
		o.Connections = 4
	}
	o.Connections = max(o.Connections, o.InFlight)
	if o.MaxBatch == 0 {
		o.MaxBatch = 256
	}
	if o.MaxQueue == 0 {
		o.MaxQueue = 8192
	}
	return o
}

// Committer is an Admitter that commits many admissions in one script and one
// acknowledgement (protocol.md 3.11), and an Attacher and a Settler that write
// many bookings in one script. CandidateBooking, which every refusal by a full
// mark asks, reads many candidates in one command. A lone call goes out at once; calls that come
// while batches are under way wait for the next, which takes all of them. It
// needs no Close. It is safe for concurrent use.
type Committer struct {
	store    *Store
	admits   *group[admission.Request, admission.Answer]
	attaches *group[admission.Attachment, admission.AttachAnswer]
	settles  *group[settlement, bool]
	holders  *group[string, string]
}

var (
	_ admission.Admitter = (*Committer)(nil)
	_ admission.Attacher = (*Committer)(nil)
	_ admission.Settler  = (*Committer)(nil)
)

// NewCommitter returns a group commit in front of the store.
func NewCommitter(s *Store, opt CommitOptions) *Committer {
	opt = opt.complete()
	c := &Committer{store: s}
	c.admits = newGroup(opt, s.primary, c.commit)
	c.attaches = newGroup(opt, s.primary, s.attachMany)
	c.settles = newGroup(opt, s.primary, s.settleMany)
	c.holders = newGroup(opt, s.primary, s.holders)
	return c
}

// Admit joins the sale's next batch and waits for its own answer. A caller whose
// ctx ends while it is queued was never sent (ErrUnavailable); later its
// admission, if there is one, is undone (ErrUnknown).
func (c *Committer) Admit(ctx context.Context, r admission.Request) (admission.Answer, error) {
	if validRequest(&r) != nil {
		return admission.Answer{Outcome: admission.BadArgument, BookingID: r.BookingID}, nil
	}
	return c.admits.do(ctx, r.Sale, r)
}

func (c *Committer) commit(ctx context.Context, _ string, calls []*call[admission.Request, admission.Answer]) {
	reqs := make([]*admission.Request, len(calls))
	for i, w := range calls {
		reqs[i] = &w.ask
	}
	c.store.commit(ctx, reqs, func(i int, a admission.Answer, err error) bool { return calls[i].deliver(a, err) })
}

// Attach joins the sale's next batch of attaches. One that has to be acknowledged
// goes by itself.
func (c *Committer) Attach(ctx context.Context, a admission.Attachment) (admission.AttachAnswer, error) {
	if a.Acknowledge {
		return c.store.Attach(ctx, a)
	}
	if err := validAttachment(&a); err != nil {
		return admission.AttachAnswer{}, err
	}
	return c.attaches.do(ctx, a.Sale, a)
}

// Settle joins the sale's next batch of settles.
func (c *Committer) Settle(ctx context.Context, sale, bookingID, candidate string, paid bool) (bool, error) {
	if err := validSettlement(sale, bookingID, candidate); err != nil {
		return false, err
	}
	return c.settles.do(ctx, sale, settlement{bookingID, paid})
}

// CandidateBooking joins the sale's next batch of reads. A candidate who holds
// nothing is admission.ErrNotFound.
func (c *Committer) CandidateBooking(ctx context.Context, sale, candidate string) (string, error) {
	var ch check
	ch.ok(word(sale, maxName), "sale", sale)
	ch.ok(word(candidate, maxHash), "candidate", candidate)
	if ch.err != nil {
		return "", ch.err
	}
	return c.holders.do(ctx, sale, candidate)
}
