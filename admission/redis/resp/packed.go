package resp

import (
	"encoding/binary"
	"slices"
	"strconv"
)

// Packed is one part that is MessagePack values one behind the other, strings,
// numbers and arrays, for a script that takes them apart with cmsgpack.unpack, which
// returns them all: many small values cost the server less this way than as parts
// of their own. Its buffer is used again after Reset. The zero value is ready.
type Packed struct{ buf []byte }

// Reset begins anew, with room for about so many bytes.
func (p *Packed) Reset(bytes int) { p.buf = slices.Grow(p.buf[:0], bytes) }

// Array begins a value that is an array of n elements. Exactly so many must
// follow: each a call of String, Joined, Decimal or Int, or an Array.
func (p *Packed) Array(n int) {
	p.buf = binary.BigEndian.AppendUint32(append(p.buf, 0xdd), uint32(n))
}

// Int adds a number of at least 0 and below 2^32.
func (p *Packed) Int(n int) {
	if n < 0x80 {
		p.buf = append(p.buf, byte(n))
		return
	}
	p.buf = binary.BigEndian.AppendUint32(append(p.buf, 0xce), uint32(n))
}

// Decimal adds a number as a string, in decimal.
func (p *Packed) Decimal(n int64) {
	var digits [20]byte
	d := strconv.AppendInt(digits[:0], n, 10)
	p.length(len(d))
	p.buf = append(p.buf, d...)
}

// String adds a string.
func (p *Packed) String(s string) {
	p.length(len(s))
	p.buf = append(p.buf, s...)
}

// Joined adds one string that is the strings joined by sep.
func (p *Packed) Joined(sep byte, parts ...string) {
	n := len(parts) - 1
	for _, s := range parts {
		n += len(s)
	}
	p.length(n)
	for i, s := range parts {
		if i > 0 {
			p.buf = append(p.buf, sep)
		}
		p.buf = append(p.buf, s...)
	}
}

func (p *Packed) length(n int) {
	switch {
	case n < 0x20:
		p.buf = append(p.buf, 0xa0|byte(n))
	case n < 0x100:
		p.buf = append(p.buf, 0xd9, byte(n))
	default:
		p.buf = binary.BigEndian.AppendUint32(append(p.buf, 0xdb), uint32(n))
	}
}
