package events

import (
	"encoding/json"
	"fmt"
	"time"
)

// MaxBody bounds an encoded event, in bytes (exclusive). Ten of them, the most
// in one batch, fit into any SQS request; a real event has under 2 KiB.
const MaxBody = 64 << 10

// VersionError is the refusal of an event that a newer build has written. It is
// not ErrInvalid: while a deployment rolls, or after one was rolled back, a
// worker that knows the version may still get the message, so it is retried,
// not parked.
type VersionError struct {
	Version int // as read
}

// Error names the version and what to do.
func (e *VersionError) Error() string {
	return fmt.Sprintf("events: envelope version %d is newer than %d, the newest that this build reads: deploy a worker that knows it", e.Version, Version)
}

// envelope is the wire form. Group and sequence are in the body as well as in
// the queue's attributes, because a redrive by hand or an emulator may lose
// the latter (protocol.md 1.5).
type envelope struct {
	Event
	Group string `json:"group"`
	Seq   int    `json:"seq"`
}

// Encode checks e and gives the body of its message; times become UTC. It
// fails only with ErrInvalid.
func Encode(e Event) ([]byte, error) {
	e = e.normal()
	e.Version = Version
	if err := e.Validate(); err != nil {
		return nil, err
	}
	body, err := json.Marshal(envelope{Event: e, Group: e.Group(), Seq: e.Type.Seq()})
	if err != nil { // a time that RFC 3339 can't express
		return nil, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	if len(body) >= MaxBody {
		return nil, fmt.Errorf("%w: the body has %d bytes, at most %d are allowed", ErrInvalid, len(body), MaxBody-1)
	}
	return body, nil
}

// Decode reads a message body. Unknown fields are skipped on purpose, so that a
// newer build may add some while older workers still run. An event of a newer
// version gives a *VersionError, everything else that is wrong ErrInvalid.
func Decode(body []byte) (Event, error) {
	if len(body) >= MaxBody {
		return Event{}, fmt.Errorf("%w: the body has %d bytes, at most %d are allowed", ErrInvalid, len(body), MaxBody-1)
	}
	var head struct { // read first: a newer envelope need not fit the rest
		Version int `json:"v"`
	}
	if err := json.Unmarshal(body, &head); err != nil {
		return Event{}, fmt.Errorf("%w: not an envelope: %w", ErrInvalid, err)
	}
	switch {
	case head.Version > Version:
		return Event{}, &VersionError{Version: head.Version}
	case head.Version < 1:
		return Event{}, fmt.Errorf("%w: version %d never existed", ErrInvalid, head.Version)
	}
	var env envelope
	if err := json.Unmarshal(body, &env); err != nil {
		return Event{}, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	e := env.normal()
	if err := e.Validate(); err != nil {
		return Event{}, err
	}
	if env.Group != e.Group() || env.Seq != e.Type.Seq() {
		return Event{}, fmt.Errorf("%w: group or seq do not belong to the content", ErrInvalid)
	}
	return e, nil
}

// normal gives an equal event whose times are in UTC and without a monotonic
// reading, so that what was decoded compares equal to what was encoded.
func (e Event) normal() Event {
	utc := func(t time.Time) time.Time { return t.Round(0).UTC() }
	e.At = utc(e.At)
	if e.Held != nil {
		h := *e.Held
		h.AdmittedAt, h.HoldUntil = utc(h.AdmittedAt), utc(h.HoldUntil)
		e.Held = &h
	}
	if e.Captured != nil {
		c := *e.Captured
		c.CapturedAt = utc(c.CapturedAt)
		e.Captured = &c
	}
	return e
}
