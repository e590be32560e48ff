package roster

import (
	"bytes"
	"errors"
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
	scratch []byte // room for fields that were quoted
	breaks  int    // line breaks inside the quotes of the current record
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
