// Package roster reads the list of candidates of a sale from a CSV file of any size: it streams, remembers only a fingerprint of each imported row, and says of every row what became of it.
//
// What offices send is accepted: comma, semicolon or tab; a byte order mark; CRLF, LF or CR; quotes; extra columns; stray and no-break spaces, full-width forms, any case; gzip. What is doubtful is never guessed: the row is reported with its line and the others go on.
package roster

import (
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"iter"

	"github.com/holdfast/holdfast/sale"
)

// Options bound a Reader. The zero value means the defaults.
type Options struct {
	MaxProblems   int // problems kept for the report; default 1,000, negative: none
	MaxCandidates int // imported rows; default 5,000,000
}

// Reader reads a roster once, from front to back. It is not safe for concurrent use.
type Reader struct {
	scan   *scanner
	head   Header
	levels levelSet
	opts   Options
	seed   maphash.Seed
	seen   map[sale.Code]fingerprint
	report Report
	failed error // what ended the reading, io.EOF or worse
}

// fingerprint is what is remembered of an imported row. The hashes are seeded afresh for each Reader, so no file can be made to collide on purpose.
type fingerprint struct {
	email, levels uint64
	line          int
}

// Entry is one row and its verdict. Row is set only if the verdict is Imported, Problem for every other.
type Entry struct {
	Line    int
	Verdict Verdict
	Row     sale.Row
	Problem Problem
}

// NewReader reads the header. levels are the names of the sale's levels in its order (Sale.LevelNames); rows may write them in any case. The stream may be gzipped, which is recognised. A *HeaderError means that the file is no roster.
func NewReader(r io.Reader, levels []string, opts Options) (*Reader, error) {
	if opts.MaxProblems == 0 {
		opts.MaxProblems = 1000
	}
	if opts.MaxCandidates == 0 {
		opts.MaxCandidates = 5_000_000
	}
	plain, err := gunzip(r)
	if err != nil {
		return nil, fmt.Errorf("read the roster: %w", err)
	}
	rd := &Reader{scan: newScanner(plain), levels: newLevelSet(levels), opts: opts, seed: maphash.MakeSeed(), seen: make(map[sale.Code]fingerprint)}
	if rd.head, err = rd.scan.readHeader(); err != nil {
		return nil, fmt.Errorf("read the roster: %w", err)
	}
	return rd, nil
}

func gunzip(r io.Reader) (io.Reader, error) {
	buffered := bufio.NewReader(r)
	if magic, _ := buffered.Peek(2); string(magic) != "\x1f\x8b" {
		return buffered, nil // a failure to peek shows again when the header is read
	}
	return gzip.NewReader(buffered)
}

// Header is what the first line said; the operator wants to see it before a large import.
func (rd *Reader) Header() Header { return rd.head }

// Report is the report so far; the whole one after Next has answered io.EOF. The problems are shared with the Reader.
func (rd *Reader) Report() Report { return rd.report }

// Next judges the next row, blank ones too. io.EOF is the end of the file; any other error ends the reading, and what came before it stands in Report.
func (rd *Reader) Next() (Entry, error) {
	if rd.failed != nil {
		return Entry{}, rd.failed
	}
	fields, line, err := rd.scan.next()
	var unreadable *recordError
	switch {
	case errors.As(err, &unreadable):
		return rd.done(Entry{Line: line, Problem: Problem{Verdict: Malformed, Reason: "the row " + unreadable.reason}})
	case errors.Is(err, io.EOF):
		rd.failed = io.EOF
		return Entry{}, io.EOF
	case err != nil:
		rd.failed = fmt.Errorf("read the roster, line %d: %w", line, err)
		return Entry{}, rd.failed
	}
	e := rd.judge(fields)
	e.Line = line
	if e.Verdict == Imported {
		if len(rd.seen) >= rd.opts.MaxCandidates {
			rd.failed = fmt.Errorf("read the roster, line %d: more than %d candidates: split the file or raise the limit", line, rd.opts.MaxCandidates)
			return Entry{}, rd.failed
		}
		e = rd.compare(e)
	}
	return rd.done(e)
}

// done puts the entry into the report.
func (rd *Reader) done(e Entry) (Entry, error) {
	if e.Verdict != Imported {
		e.Row, e.Verdict, e.Problem.Line = sale.Row{}, e.Problem.Verdict, e.Line
	}
	rd.report.add(e.Problem, e.Verdict, rd.opts.MaxProblems)
	return e, nil
}

// Rows gives out the imported rows alone. It ends at the end of the file, or after one error.
func (rd *Reader) Rows() iter.Seq2[sale.Row, error] {
	return func(yield func(sale.Row, error) bool) {
		for {
			e, err := rd.Next()
			switch {
			case errors.Is(err, io.EOF):
				return
			case err != nil:
				yield(sale.Row{}, err)
				return
			case e.Verdict == Imported && !yield(e.Row, nil):
				return
			}
		}
	}
}
