package roster

import (
	"bytes"
	"cmp"
	"fmt"
	"strings"
	"unicode"
)

// Header is what the first line says.
type Header struct {
	Delimiter byte
	Code      int      // column of the code, from 0
	Email     int      // column of the e-mail
	Levels    int      // column of the levels, -1: the file has none and every candidate may book any level
	Fields    int      // number of columns
	Ignored   []string // columns that are not read, as they are written
}

// HeaderError says why a file's first line is not a roster's header. Nothing of the file has been imported.
type HeaderError struct{ Reason string }

func (e *HeaderError) Error() string {
	return "the roster's first line " + e.Reason + "; it should read: code,email,levels (levels may be left out)"
}

// spellings are the usual names of the columns, in small letters without anything else.
var spellings = map[string][]string{
	"code":   {"code", "codes", "candidatecode", "candidate", "candidateid", "candidateno", "candidatenumber", "accesscode", "bookingcode", "eligibilitycode", "invitationcode", "invitecode", "registrationcode", "registrationno", "registrationnumber", "regno", "rollno", "rollnumber", "membercode", "memberid", "membernumber", "studentid", "studentnumber"},
	"email":  {"email", "emails", "emailaddress", "emailid", "mail", "mailaddress", "candidateemail"},
	"levels": {"level", "levels", "allowedlevel", "allowedlevels", "levelsallowed", "category", "categories"},
}

// delimiters in the order in which they are tried; a header that reads with two of them is the same line with neither.
var delimiters = []byte{',', ';', '\t'}

// readHeader finds the delimiter by trying: the one with which the first line names both a code and an e-mail. Blank lines and a spreadsheet's "sep=;" before it are passed over.
func (s *scanner) readHeader() (Header, error) {
	if err := s.checkEncoding(); err != nil {
		return Header{}, err
	}
	for {
		s.fill()
		line := firstLine(s.buf[s.pos:s.end])
		switch {
		case len(line) > maxRecordBytes:
			return Header{}, &HeaderError{Reason: fmt.Sprintf("is longer than %d bytes", maxRecordBytes)}
		case s.readErr != nil && len(line) == s.end-s.pos:
			return Header{}, s.readErr
		case s.pos == s.end:
			return Header{}, &HeaderError{Reason: "is missing, the file is empty"}
		case len(bytes.TrimSpace(line)) > 0 && !bytes.HasPrefix(bytes.ToLower(line), []byte("sep=")):
			return s.parseHeader()
		}
		s.skipLine()
	}
}

// checkEncoding passes over a UTF-8 byte order mark and refuses the UTF-16 that some spreadsheets call text.
func (s *scanner) checkEncoding() error {
	s.fill()
	b := s.buf[:s.end]
	if bytes.HasPrefix(b, []byte("\xff\xfe")) || bytes.HasPrefix(b, []byte("\xfe\xff")) {
		return &HeaderError{Reason: "is UTF-16: save the file as CSV in UTF-8"}
	}
	if bytes.HasPrefix(b, []byte("\xef\xbb\xbf")) {
		s.pos = 3
	}
	return nil
}

func firstLine(b []byte) []byte {
	if i := bytes.IndexAny(b, "\r\n"); i >= 0 {
		return b[:i]
	}
	return b
}

// parseHeader tries the delimiters and moves past the header only with the right one. The fault it reports is that of the reading with the most fields.
func (s *scanner) parseHeader() (Header, error) {
	var fault error
	most := 0
	for _, s.delim = range delimiters {
		used, lines, reason := s.record(s.window())
		if reason != "" {
			fault = cmp.Or(fault, error(&HeaderError{Reason: reason}))
			continue
		}
		h, err := newHeader(s.delim, s.fields)
		if err == nil {
			s.pos += used
			s.line += lines
			return h, nil
		}
		if len(s.fields) > most {
			most, fault = len(s.fields), err
		}
	}
	return Header{}, fault
}

func newHeader(delim byte, fields [][]byte) (Header, error) {
	h := Header{Delimiter: delim, Code: -1, Email: -1, Levels: -1, Fields: len(fields)}
	columns := map[string]*int{"code": &h.Code, "email": &h.Email, "levels": &h.Levels}
	for i, field := range fields {
		kind := columnKind(string(field))
		at, known := columns[kind]
		switch {
		case !known:
			h.Ignored = append(h.Ignored, strings.TrimSpace(string(field)))
		case *at >= 0:
			return h, &HeaderError{Reason: fmt.Sprintf("names two columns that could be the %s, %d and %d: rename one", kind, *at+1, i+1)}
		default:
			*at = i
		}
	}
	switch {
	case h.Code < 0 && h.Email < 0:
		return h, &HeaderError{Reason: "names neither a code nor an e-mail column"}
	case h.Code < 0:
		return h, &HeaderError{Reason: "names no code column"}
	case h.Email < 0:
		return h, &HeaderError{Reason: "names no e-mail column"}
	}
	return h, nil
}

// columnKind is code, email, levels, or nothing.
func columnKind(name string) string {
	bare := strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, name)
	for kind, list := range spellings {
		for _, spelling := range list {
			if bare == spelling {
				return kind
			}
		}
	}
	return ""
}
