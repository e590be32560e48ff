package fifo

import (
	crand "crypto/rand"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/holdfast/holdfast/localstack/fault"
)

// Service is this engine's name in fault points.
const Service = "sqs"

// Options are the engine's surroundings; the zero Options are real time, random ids and no faults.
type Options struct {
	Now    func() time.Time // time.Now if nil
	Source rand.Source      // of ids and of the key of receipt handles; from the system if nil
	Faults fault.Plan       // fault.Healthy if nil
	// OnSlow is called, without a lock, before a call that the plan slows down: fault.Sleep in real time, a note in a simulator. Nothing is called if nil.
	OnSlow func(fault.Point, time.Duration)
	// MaxInFlight is the limit of each queue, 120,000 if 0. At it receives find nothing and no error is reported (protocol.md 1.5).
	MaxInFlight int
}

// Cloud holds the queues. It is safe for concurrent use.
type Cloud struct {
	now    func() time.Time
	faults fault.Plan
	onSlow func(fault.Point, time.Duration)
	limit  int           // of messages in flight, per queue
	wake   chan struct{} // tells Run that NextEvent may have come nearer

	mu      sync.Mutex
	src     rand.Source
	key     [32]byte // authenticates receipt handles
	queues  map[string]*queue
	created uint64    // queues ever created: part of every handle, so that a new queue of an old name refuses old ones
	touched []*queue  // their polls must be served before the lock is given back
	armed   time.Time // when Run will look again; zero without Run
}

// New returns a cloud without queues.
func New(o Options) *Cloud {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Source == nil {
		var seed [32]byte
		_, _ = crand.Read(seed[:]) // never fails, by its contract
		o.Source = rand.NewChaCha8(seed)
	}
	if o.Faults == nil {
		o.Faults = fault.Healthy
	}
	if o.MaxInFlight == 0 {
		o.MaxInFlight = maxInFlight
	}
	c := &Cloud{limit: o.MaxInFlight, now: o.Now, faults: o.Faults, onSlow: o.OnSlow, src: o.Source, wake: make(chan struct{}, 1), queues: map[string]*queue{}}
	for i := 0; i < len(c.key); i += 8 {
		binary.BigEndian.PutUint64(c.key[i:], c.src.Uint64())
	}
	return c
}

// ask consults the fault plan about a call, outside of the lock, and waits out a slow one.
func (c *Cloud) ask(op, name string) (fault.Verdict, error) {
	p := fault.Point{Service: Service, Op: op, Resource: name}
	v := c.faults.Decide(p)
	if v.Kind == fault.Slow && c.onSlow != nil {
		c.onSlow(p, v.Delay)
	}
	return v, v.Refusal()
}

// call runs f on a queue as one atomic operation: the fault plan first, then what is due, then f, then the polls that it woke.
func (c *Cloud) call(op, name string, f func(q *queue, now time.Time, v fault.Verdict) error) error {
	v, err := c.ask(op, name)
	if err != nil {
		return err
	}
	err = c.locked(func(now time.Time) error {
		q := c.queues[name]
		if q == nil {
			return ErrNoQueue
		}
		q.catchUp(now)
		return f(q, now, v)
	})
	if v.Kind == fault.LoseAnswer {
		return fault.ErrAnswerLost
	}
	return err
}

// locked runs f under the lock and then serves the polls of every queue that f touched, and of those that serving touched.
func (c *Cloud) locked(f func(now time.Time) error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now()
	err := f(now)
	c.serve(now)
	return err
}

func (c *Cloud) serve(now time.Time) {
	for len(c.touched) > 0 {
		q := c.touched[0]
		c.touched = c.touched[1:]
		q.touched = false
		q.servePolls(now)
	}
}

func (c *Cloud) newID() string {
	var b [16]byte
	binary.BigEndian.PutUint64(b[:8], c.src.Uint64())
	binary.BigEndian.PutUint64(b[8:], c.src.Uint64())
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
