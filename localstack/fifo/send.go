package fifo

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/holdfast/holdfast/localstack/fault"
)

// MaxBatch is the number of entries that a batch may have.
const MaxBatch = 10

// Attribute is a message attribute: String for the types String and Number, Binary for the type Binary.
type Attribute struct {
	Type   string
	String string
	Binary []byte
}

// SendInput is a message to send. DedupID may be empty on a queue with ContentDedup.
type SendInput struct {
	Group, DedupID, Body string
	Attributes           map[string]Attribute // not copied: don't change it afterwards
}

// Sent identifies a stored message. A repeat within the deduplication window gets the identity of the first.
type Sent struct {
	ID       string
	Sequence uint64
}

// SendResult is the outcome of one entry of a batch.
type SendResult struct {
	Sent
	Err error
}

// Send stores a message, or recognises it as a repeat of the last five minutes. It is safe to repeat after any error.
func (c *Cloud) Send(name string, in SendInput) (Sent, error) {
	var out Sent
	err := c.call("SendMessage", name, func(q *queue, now time.Time, v fault.Verdict) (err error) {
		if in.Group == "" {
			return fmt.Errorf("%w: the request must contain the parameter MessageGroupId", ErrMissing)
		}
		out, err = q.send(in, now, v.Kind == fault.Duplicate)
		return err
	})
	return out, err
}

// SendBatch stores up to ten messages in their order; each entry succeeds or fails by itself. A missing group or deduplication id, however, refuses the whole batch, as AWS does.
func (c *Cloud) SendBatch(name string, in []SendInput) ([]SendResult, error) {
	var out []SendResult
	err := c.call("SendMessageBatch", name, func(q *queue, now time.Time, v fault.Verdict) error {
		if err := q.checkBatch(in); err != nil {
			return err
		}
		out = make([]SendResult, len(in))
		for i, m := range in {
			if v.Fails(i) {
				out[i].Err = fault.ErrFailed
				continue
			}
			out[i].Sent, out[i].Err = q.send(m, now, v.Kind == fault.Duplicate)
		}
		return nil
	})
	return out, err
}

func (q *queue) checkBatch(in []SendInput) error {
	if err := checkBatchSize(len(in)); err != nil {
		return err
	}
	total := 0
	for _, m := range in {
		total += m.size()
	}
	if total > MaxMessageBytes {
		return fmt.Errorf("%w: %d bytes", ErrBatchTooLong, total)
	}
	for _, m := range in {
		if m.Group == "" {
			return fmt.Errorf("%w: the request must contain the parameter MessageGroupId", ErrInvalid)
		}
		if err := q.checkDedupID(m); err != nil {
			return err
		}
	}
	return nil
}

func checkBatchSize(n int) error {
	switch {
	case n == 0:
		return ErrBatchEmpty
	case n > MaxBatch:
		return fmt.Errorf("%w: %d", ErrBatchTooMany, n)
	}
	return nil
}

// send stores one message; twice is the fault of a deduplication that did not happen.
func (q *queue) send(in SendInput, now time.Time, twice bool) (Sent, error) {
	if err := q.checkMessage(in); err != nil {
		return Sent{}, err
	}
	if in.DedupID == "" {
		sum := sha256.Sum256([]byte(in.Body))
		in.DedupID = hex.EncodeToString(sum[:])
	}
	key := in.DedupID
	if q.cfg.GroupScope {
		key = in.Group + "\x00" + key // neither id can contain the separator
	}
	if first, ok := q.dedup.get(key); ok && !twice {
		return first, nil
	}
	out := q.store(in, now)
	if twice {
		q.store(in, now)
	}
	q.dedup.put(key, out, now.Add(windowLength))
	return out, nil
}

func (q *queue) store(in SendInput, now time.Time) Sent {
	m := &message{id: q.cloud.newID(), body: in.Body, dedupID: in.DedupID, attrs: in.Attributes, sent: now}
	q.add(m, in.Group, now)
	return Sent{ID: m.id, Sequence: m.seq}
}

func (q *queue) checkMessage(in SendInput) error {
	switch {
	case in.Body == "":
		return fmt.Errorf("%w: the request must contain the parameter MessageBody", ErrMissing)
	case in.size() > q.cfg.MaxMessageBytes:
		return fmt.Errorf("%w: the message must be shorter than %d bytes, attributes included", ErrInvalid, q.cfg.MaxMessageBytes)
	case !idChars(in.Group):
		return fmt.Errorf("%w: MessageGroupId can only include alphanumeric and punctuation characters, 1 to 128 in length", ErrInvalid)
	case !idChars(in.DedupID):
		return fmt.Errorf("%w: MessageDeduplicationId can only include alphanumeric and punctuation characters, 1 to 128 in length", ErrInvalid)
	case !carried(in.Body):
		return ErrContents
	}
	return q.checkDedupID(in)
}

func (q *queue) checkDedupID(in SendInput) error {
	if in.DedupID == "" && !q.cfg.ContentDedup {
		return fmt.Errorf("%w: the queue should either have ContentBasedDeduplication enabled or MessageDeduplicationId provided explicitly", ErrInvalid)
	}
	return nil
}

func (in SendInput) size() int {
	n := len(in.Body)
	for name, a := range in.Attributes {
		n += len(name) + len(a.Type) + len(a.String) + len(a.Binary)
	}
	return n
}

func idChars(s string) bool {
	for i := range len(s) {
		if s[i] <= ' ' || s[i] > '~' {
			return false
		}
	}
	return len(s) <= 128
}

// carried reports whether SQS carries these characters: what XML 1.0 allows.
func carried(s string) bool {
	for _, r := range s {
		if r < ' ' && r != '\t' && r != '\n' && r != '\r' || r == 0xFFFE || r == 0xFFFF {
			return false
		}
	}
	return utf8.ValidString(s)
}
