package roster

import (
	"errors"
	"fmt"
	"hash/maphash"
	"strings"
	"unicode/utf8"

	"github.com/holdfast/holdfast/sale"
)

// judge decides about a row by itself: Imported, or why not.
func (rd *Reader) judge(fields [][]byte) Entry {
	blank := true
	for _, field := range fields {
		blank = blank && strings.TrimSpace(string(field)) == ""
	}
	if blank {
		return refuse(Blank, "", "the row is blank", "")
	}
	if reason := rd.ragged(fields); reason != "" {
		return refuse(Malformed, "", reason, "")
	}
	for _, i := range []int{rd.head.Code, rd.head.Email, rd.head.Levels} {
		if i >= 0 && !utf8.Valid(fields[i]) {
			return refuse(Malformed, "", fmt.Sprintf("field %d is not UTF-8: save the file as CSV in UTF-8", i+1), "")
		}
	}
	text := string(fields[rd.head.Code])
	code, err := sale.NormaliseCode(text)
	if errors.Is(err, sale.ErrNoCode) {
		return refuse(MissingCode, "code", err.Error(), "")
	} else if err != nil {
		return refuse(InvalidCode, "code", err.Error(), mask(text))
	}
	text = string(fields[rd.head.Email])
	email, err := sale.ParseEmail(text)
	if errors.Is(err, sale.ErrNoEmail) {
		return refuse(MissingEmail, "email", err.Error(), "")
	} else if err != nil {
		return refuse(InvalidEmail, "email", err.Error(), mask(text))
	}
	row := sale.Row{Code: code, Email: email}
	if rd.head.Levels >= 0 {
		var unknown string
		if row.Levels, unknown = rd.levels.parse(string(fields[rd.head.Levels])); unknown != "" {
			return refuse(UnknownLevel, "levels", "the sale has no such level", clip(unknown))
		}
	}
	return Entry{Verdict: Imported, Row: row}
}

// ragged says what is wrong with the number of fields. A short row is never read as if the rest were empty, because no levels means any level; a field too many is most often an unquoted delimiter, after which the columns are off.
func (rd *Reader) ragged(fields [][]byte) string {
	if last := max(rd.head.Code, rd.head.Email, rd.head.Levels); len(fields) <= last {
		return fmt.Sprintf("the row has %d fields and needs %d, even if the last are empty", len(fields), last+1)
	}
	for _, extra := range fields[min(rd.head.Fields, len(fields)):] {
		if strings.TrimSpace(string(extra)) != "" {
			return fmt.Sprintf("the row has %d fields, the header %d: put quotes around a field that holds the delimiter", len(fields), rd.head.Fields)
		}
	}
	return ""
}

// compare holds a good row against the imported ones. The first row of a code stays, whatever comes later: an order of lines that decides must be one that people can see.
func (rd *Reader) compare(e Entry) Entry {
	now := fingerprint{
		email:  maphash.String(rd.seed, e.Row.Email.Folded()),
		levels: maphash.String(rd.seed, strings.Join(e.Row.Levels, ",")),
		line:   e.Line,
	}
	first, known := rd.seen[e.Row.Code]
	again := func(v Verdict, field, reason, shown string) Entry {
		out := refuse(v, field, fmt.Sprintf(reason, first.line), shown)
		out.Line, out.Problem.FirstLine = e.Line, first.line
		return out
	}
	switch {
	case !known:
		rd.seen[e.Row.Code] = now
		return e
	case first.email != now.email:
		return again(ConflictingEmail, "email", "line %d has the same code with another e-mail and stays", mask(string(e.Row.Code))+" "+mask(string(e.Row.Email)))
	case first.levels != now.levels:
		return again(ConflictingLevels, "levels", "line %d has the same code with other levels and stays", mask(string(e.Row.Code)))
	}
	return again(RepeatedIdentical, "", "the same as line %d", mask(string(e.Row.Code)))
}

func refuse(v Verdict, field, reason, shown string) Entry {
	return Entry{Verdict: v, Problem: Problem{Verdict: v, Field: field, Reason: reason, Shown: shown}}
}
