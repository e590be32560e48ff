package roster

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

// scanner cuts a CSV stream into records. encoding/csv is not used because a roster comes from whatever a registrar's office has: it must read lone carriage returns, bound the size of a record, and lose one line to a stray quote, not the rest of the file.
//
// It reads through a window of fixed size. A record that does not fit, or whose quotes make no sense, is reported as a fault of its first line, and reading goes on at the next line.
type scanner struct {
	r       io.Reader
	delim   byte
	buf     []byte
	pos     int // where the next record begins in buf
	end     int // where the bytes read so far end
	line    int // number of the line at pos, from 1
	eof     bool
	readErr error // the reader's own failure, kept until the records before it are out
	fields  [][]byte
	scratch []byte // room for unquoted fields
}

const (
	windowBytes = 128 << 10
	// maxRecordBytes bounds a record; a row with every address line that a registrar exports is shorter.
	maxRecordBytes = 16 << 10
	// maxRecordLines bounds the line breaks that quotes may hold, and so how often a stray quote makes a line be read again.
	maxRecordLines = 20
	maxFields      = 256
)

// recordError is a fault of one record. The scanner has moved past its first line.
type recordError struct{ reason string }

func (e *recordError) Error() string { return e.reason }

func newScanner(r io.Reader) *scanner {
	return &scanner{r: r, buf: make([]byte, windowBytes), line: 1}
}

// fill makes more than maxRecordBytes bytes available at pos, unless the stream ends before. An error of the reader counts as the end of what can be parsed; next reports it.
func (s *scanner) fill() {
	if s.eof || s.end-s.pos > maxRecordBytes {
		return
	}
	copy(s.buf, s.buf[s.pos:s.end])
	s.pos, s.end = 0, s.end-s.pos
	for idle := 0; s.end < len(s.buf) && !s.eof; {
		n, err := s.r.Read(s.buf[s.end:])
		s.end += n
		if err != nil {
			s.eof = true
			if !errors.Is(err, io.EOF) {
				s.readErr = err
			}
		}
		if n > 0 {
			idle = 0
		} else if idle++; idle > 100 {
			s.eof, s.readErr = true, io.ErrNoProgress
		}
	}
}

// next returns the next record and the line it begins at. The fields are valid until the next call. A *recordError means that this record is unreadable and the next call goes on; io.EOF the end; anything else that the reader failed. A stream that was cut off never looks like one that ended: the last record before a failure is not given out, it may be half of itself.
func (s *scanner) next() (fields [][]byte, line int, err error) {
	s.fill()
	line = s.line
	if s.pos == s.end {
		if s.readErr != nil {
			return nil, line, s.readErr
		}
		return nil, line, io.EOF
	}
	used, lines, reason := s.record(s.window())
	if s.readErr != nil && s.pos+used == s.end {
		return nil, line, s.readErr
	}
	if reason != "" {
		s.skipLine()
		return nil, line, &recordError{reason}
	}
	s.pos += used
	s.line += lines
	return s.fields, line, nil
}

// window is what a record may take up, and one byte more: so a carriage return that ends the longest record is seen with its line feed.
func (s *scanner) window() []byte { return s.buf[s.pos:min(s.end, s.pos+maxRecordBytes+1)] }

// record splits the window's first record into s.fields. It reports the bytes used up and the lines they hold, or why there is no record.
func (s *scanner) record(window []byte) (used, lines int, reason string) {
	s.fields, s.scratch = s.fields[:0], s.scratch[:0]
	for at := 0; ; {
		field, size, breaks, fault := s.field(window[at:])
		at += size
		lines += breaks
		switch {
		case fault != "":
			return at, lines, fault
		case at >= maxRecordBytes:
			return at, lines, fmt.Sprintf("is longer than %d bytes", maxRecordBytes)
		case lines > maxRecordLines:
			return at, lines, "has a quote that is not closed"
		case len(s.fields) == maxFields:
			return at, lines, fmt.Sprintf("has more than %d fields", maxFields)
		}
		s.fields = append(s.fields, field)
		if at == len(window) {
			return at, lines, ""
		}
		if window[at] == s.delim {
			at++
			continue
		}
		return at + breakSize(window[at:]), lines + 1, ""
	}
}

// field takes one field off the front of b, up to but without the delimiter or line break behind it.
func (s *scanner) field(b []byte) (field []byte, size, breaks int, fault string) {
	start := 0
	for start < len(b) && b[start] == ' ' {
		start++
	}
	if start < len(b) && b[start] == '"' {
		return s.quoted(b, start+1)
	}
	for size < len(b) && b[size] != s.delim && b[size] != '\n' && b[size] != '\r' {
		size++
	}
	return b[:size], size, 0, ""
}

// quoted takes a quoted field whose text begins at b[i]. A doubled quote is a quote; spaces may follow the closing one.
func (s *scanner) quoted(b []byte, i int) (field []byte, size, breaks int, fault string) {
	from := len(s.scratch)
	for i < len(b) {
		switch c := b[i]; {
		case c == '"' && i+1 < len(b) && b[i+1] == '"':
			s.scratch = append(s.scratch, '"')
			i += 2
		case c == '"':
			i++
			for i < len(b) && b[i] == ' ' {
				i++
			}
			if i < len(b) && b[i] != s.delim && b[i] != '\n' && b[i] != '\r' {
				return nil, i, breaks, "has text after a closing quote"
			}
			return s.scratch[from:len(s.scratch):len(s.scratch)], i, breaks, ""
		case c == '\n' || c == '\r':
			n := breakSize(b[i:])
			if breaks++; breaks > maxRecordLines {
				return nil, i, breaks, "has a quote that is not closed"
			}
			s.scratch = append(s.scratch, '\n')
			i += n
		default:
			s.scratch = append(s.scratch, c)
			i++
		}
	}
	return nil, i, breaks, "has a quote that is not closed"
}

// skipLine moves past the end of the current line, however long it is.
func (s *scanner) skipLine() {
	for {
		if i := bytes.IndexAny(s.buf[s.pos:s.end], "\r\n"); i >= 0 {
			s.pos += i
			s.fill() // a carriage return at the very end of the window may have a line feed behind it
			s.pos += breakSize(s.buf[s.pos:s.end])
			s.line++
			return
		}
		s.pos = s.end
		s.fill()
		if s.pos == s.end {
			return
		}
	}
}

// breakSize is the length of the line break at the front of b: CRLF, LF or CR.
func breakSize(b []byte) int {
	switch {
	case len(b) > 1 && b[0] == '\r' && b[1] == '\n':
		return 2
	case len(b) > 0 && (b[0] == '\r' || b[0] == '\n'):
		return 1
	}
	return 0
}
