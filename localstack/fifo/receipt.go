package fifo

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
)

// A receipt handle says itself which delivery it stands for, authenticated by the cloud's key. So nothing need be kept of past deliveries, and a handle that was ever valid can be told from garbage for as long as the queue lives.
const (
	handleBody = 3 * 8
	handleMAC  = 12
)

// lease is one delivery of one message.
type lease struct {
	seq   uint64 // the message
	tries uint64 // its how-manieth receive
}

func (q *queue) handle(m *message) string {
	b := make([]byte, handleBody, handleBody+sha256.Size)
	binary.BigEndian.PutUint64(b, q.id)
	binary.BigEndian.PutUint64(b[8:], m.seq)
	binary.BigEndian.PutUint64(b[16:], uint64(m.tries))
	return base64.RawURLEncoding.EncodeToString(q.sign(b))
}

func (q *queue) sign(body []byte) []byte {
	h := hmac.New(sha256.New, q.cloud.key[:])
	h.Write(body[:handleBody])
	return h.Sum(body[:handleBody])[:handleBody+handleMAC]
}

// parse returns the delivery of a handle, or ErrReceiptInvalid if this queue never issued it.
func (q *queue) parse(handle string) (lease, error) {
	b, err := base64.RawURLEncoding.DecodeString(handle)
	if err != nil || len(b) != handleBody+handleMAC || binary.BigEndian.Uint64(b) != q.id {
		return lease{}, ErrReceiptInvalid
	}
	body := make([]byte, handleBody, handleBody+sha256.Size)
	copy(body, b)
	if !hmac.Equal(q.sign(body), b) {
		return lease{}, ErrReceiptInvalid
	}
	return lease{binary.BigEndian.Uint64(b[8:]), binary.BigEndian.Uint64(b[16:])}, nil
}

// held returns the message of a delivery while it is in flight, else nil.
func (q *queue) held(l lease) *message {
	m := q.bySeq[l.seq]
	if m == nil || m.state != inFlight || uint64(m.tries) != l.tries {
		return nil
	}
	return m
}
