// Package resp is the small part of the Redis protocol (RESP2) that the hot path
// of admission needs: commands packed into one write, replies read without an
// allocation per part.
package resp

import "strconv"

// Writer packs commands, to be sent in one write. Its buffer is used again after
// Reset. The zero value is ready.
type Writer struct{ buf []byte }

// Reset forgets what was packed.
func (w *Writer) Reset() { w.buf = w.buf[:0] }

// Bytes are the packed commands, valid until the next call.
func (w *Writer) Bytes() []byte { return w.buf }

// Command begins a command of n parts, its name included. Exactly n calls of
// String or Int must follow.
func (w *Writer) Command(n int) {
	w.buf = append(w.buf, '*')
	w.buf = strconv.AppendInt(w.buf, int64(n), 10)
	w.buf = append(w.buf, '\r', '\n')
}

// String adds one part.
func (w *Writer) String(s string) {
	w.length(len(s))
	w.buf = append(w.buf, s...)
	w.buf = append(w.buf, '\r', '\n')
}

// Int adds one part in decimal.
func (w *Writer) Int(n int64) {
	var digits [20]byte
	d := strconv.AppendInt(digits[:0], n, 10)
	w.length(len(d))
	w.buf = append(w.buf, d...)
	w.buf = append(w.buf, '\r', '\n')
}

// Joined adds one part that is the strings joined by sep.
func (w *Writer) Joined(sep byte, parts ...string) {
	n := len(parts) - 1
	for _, p := range parts {
		n += len(p)
	}
	w.length(n)
	for i, p := range parts {
		if i > 0 {
			w.buf = append(w.buf, sep)
		}
		w.buf = append(w.buf, p...)
	}
	w.buf = append(w.buf, '\r', '\n')
}

// Concat adds one part that is the strings one after another.
func (w *Writer) Concat(parts ...string) {
	n := 0
	for _, p := range parts {
		n += len(p)
	}
	w.length(n)
	for _, p := range parts {
		w.buf = append(w.buf, p...)
	}
	w.buf = append(w.buf, '\r', '\n')
}

func (w *Writer) length(n int) {
	w.buf = append(w.buf, '$')
	w.buf = strconv.AppendInt(w.buf, int64(n), 10)
	w.buf = append(w.buf, '\r', '\n')
}

// Packed adds one part.
func (w *Writer) Packed(p *Packed) {
	w.length(len(p.buf))
	w.buf = append(w.buf, p.buf...)
	w.buf = append(w.buf, '\r', '\n')
}
