// Package delivery is what the shells around a handler share: one delivery of
// one message, from its bytes to the answer whether it may be deleted. The
// shells differ in where messages come from and how they are given back.
package delivery

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"

	"github.com/holdfast/holdfast/events"
)

// Handler makes an event's work durable. Nil means done; a *events.ParkError
// means that no retry will help; any other error means try again. It must bear
// any event twice, at the same time and out of order, and end when ctx does.
type Handler interface {
	Handle(ctx context.Context, e events.Event, m events.Meta) error
}

// Parker keeps a message that can't be handled where an operator sees it. Nil
// means that it is kept durably: the message is deleted next. It must be safe to
// call again for the same delivery.
type Parker interface {
	Park(ctx context.Context, body string, m events.Meta, reason string) error
}

// Verdict is what became of a delivery.
type Verdict string

// The verdicts.
const (
	Ack   Verdict = "ack"   // done; delete it
	Park  Verdict = "park"  // parked; delete it
	Retry Verdict = "retry" // keep it, and everything behind it in its group
)

// ReasonUndecodable is the park reason of a body that is no event.
const ReasonUndecodable = "undecodable"

// Report describes one delivery for metrics and logs.
type Report struct {
	Type    events.Type // "" if undecodable
	Verdict Verdict
	Reason  string        // why it was parked, or was to be; else ""
	Age     time.Duration // from sending to the verdict
	Took    time.Duration
	Err     error // nil with Ack
}

// Deliverer delivers messages to a handler. Handler and Parker are required.
// It is safe for concurrent use.
type Deliverer struct {
	Handler Handler
	Parker  Parker
	Timeout time.Duration    // of one delivery; DefaultTimeout if 0
	Observe func(Report)     // told of each delivery; may be nil; must be quick
	Now     func() time.Time // time.Now if nil
	Log     *slog.Logger     // slog.Default if nil
}

// DefaultTimeout bounds one delivery: a handler that hangs must not hold its
// group for ever.
const DefaultTimeout = 30 * time.Second

// Check says what is missing.
func (d *Deliverer) Check() error {
	var missing []error
	if d.Handler == nil {
		missing = append(missing, errors.New("a Handler is required"))
	}
	if d.Parker == nil {
		missing = append(missing, errors.New("a Parker is required: without one poison blocks its group"))
	}
	return errors.Join(missing...)
}

// Deliver handles m and says whether it may be deleted. False means that it and
// the rest of its group have to come again.
func (d *Deliverer) Deliver(ctx context.Context, m events.Message) bool {
	start := d.now()
	timeout := d.Timeout
	if timeout <= 0 {
		timeout = DefaultTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	e, err := d.handle(ctx, m)
	r := Report{Type: e.Type, Verdict: Ack}
	if err != nil {
		r.Verdict, r.Reason, r.Err = d.judge(ctx, m, err)
	}
	end := d.now()
	r.Took, r.Age = end.Sub(start), m.Age(end)
	d.log(ctx, e, m, r)
	if d.Observe != nil {
		d.Observe(r)
	}
	return r.Verdict != Retry
}

// handle decodes and handles. A panic is a failure of this delivery, not of the
// process, in which other groups are at work.
func (d *Deliverer) handle(ctx context.Context, m events.Message) (e events.Event, err error) {
	e, err = events.Decode([]byte(m.Body))
	var newer *events.VersionError
	switch {
	case errors.As(err, &newer): // some other worker, or the next build, can read it
		return e, err
	case err != nil:
		return e, events.Park(ReasonUndecodable, err)
	}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the handler panicked: %v\n%s", p, debug.Stack())
		}
	}()
	return e, d.Handler.Handle(ctx, e, m.Meta)
}

// judge turns a failure into a verdict, and parks what is to be parked. If
// parking fails nothing is settled and the message comes again.
func (d *Deliverer) judge(ctx context.Context, m events.Message, err error) (Verdict, string, error) {
	reason, park := events.ParkReason(err)
	if !park {
		return Retry, "", err
	}
	if parkErr := d.Parker.Park(ctx, m.Body, m.Meta, reason); parkErr != nil {
		return Retry, reason, fmt.Errorf("%w; and it could not be parked: %w", err, parkErr)
	}
	return Park, reason, err
}

func (d *Deliverer) log(ctx context.Context, e events.Event, m events.Message, r Report) {
	if r.Verdict == Ack {
		return
	}
	log, level := d.Log, slog.LevelWarn
	if log == nil {
		log = slog.Default()
	}
	if r.Verdict == Park {
		level = slog.LevelError // it needs a person
	}
	log.Log(ctx, level, "event not handled", "verdict", r.Verdict, "reason", r.Reason, "type", e.Type,
		"sale", e.Sale, "booking_id", e.BookingID, "message_id", m.Meta.MessageID, "receives", m.Meta.ReceiveCount, "error", r.Err)
}

func (d *Deliverer) now() time.Time {
	if d.Now == nil {
		return time.Now()
	}
	return d.Now()
}

// Groups splits a batch by message group. Groups come in the order of their
// first message and messages keep theirs; one without a group is its own.
func Groups(batch []events.Message) [][]events.Message {
	var groups [][]events.Message
	place := make(map[string]int, len(batch))
	for _, m := range batch {
		i, known := place[m.Meta.Group]
		if !known || m.Meta.Group == "" {
			i = len(groups)
			place[m.Meta.Group] = i
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], m)
	}
	return groups
}
