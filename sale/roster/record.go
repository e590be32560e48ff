package roster

import "fmt"

// record splits the window's first record into s.fields. It reports the bytes used up and the lines they hold, or why there is no record.
func (s *scanner) record(window []byte) (used, lines int, reason string) {
	s.fields, s.scratch, s.breaks = s.fields[:0], s.scratch[:0], 0
	for at := 0; ; {
		field, size, fault := s.field(window[at:])
		at += size
		switch {
		case fault != "":
			return at, s.breaks, fault
		case at >= maxRecordBytes:
			return at, s.breaks, fmt.Sprintf("is longer than %d bytes", maxRecordBytes)
		case len(s.fields) == maxFields:
			return at, s.breaks, fmt.Sprintf("has more than %d fields", maxFields)
		}
		s.fields = append(s.fields, field)
		if at == len(window) {
			return at, s.breaks, ""
		}
		if window[at] == s.delim {
			at++
			continue
		}
		return at + breakSize(window[at:]), s.breaks + 1, ""
	}
}

// field takes one field off the front of b, up to but without the delimiter or line break behind it.
func (s *scanner) field(b []byte) (field []byte, size int, fault string) {
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
	return b[:size], size, ""
}

// quoted takes a quoted field whose text begins at b[i]. A doubled quote is a quote; spaces may follow the closing one.
func (s *scanner) quoted(b []byte, i int) (field []byte, size int, fault string) {
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
				return nil, i, "has text after a closing quote"
			}
			return s.scratch[from:len(s.scratch):len(s.scratch)], i, ""
		case c == '\n' || c == '\r':
			if s.breaks++; s.breaks > maxRecordLines {
				return nil, i, fmt.Sprintf("has a quote that is not closed within %d lines", maxRecordLines)
			}
			s.scratch = append(s.scratch, '\n')
			i += breakSize(b[i:])
		default:
			s.scratch = append(s.scratch, c)
			i++
		}
	}
	return nil, i, "has a quote that is not closed"
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
