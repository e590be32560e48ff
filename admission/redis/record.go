package redis

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/holdfast/holdfast/admission"
)

// recordFields is the number of fields of a packed record; doc.go names them.
const recordFields = 16

var errRecord = fmt.Errorf("%w: booking record", errMalformed)

// packRecord is the form of a record in bk.
func packRecord(r *admission.Record) string {
	scores := make([]string, len(r.Scores))
	for i, o := range r.Scores {
		scores[i] = strconv.FormatInt(o, 10)
	}
	return strings.Join([]string{
		string(r.Stage), strconv.Itoa(r.Driver), millis(r.DriverAt), millis(r.HoldUntil), r.PaymentID,
		r.Candidate, r.Level, r.Key, r.InputHash, r.EmailHash, millis(r.AdmittedAt),
		strconv.FormatInt(r.AmountMinor, 10), r.Currency, strconv.FormatInt(r.Gen, 10),
		strings.Join(r.Tokens, ","), strings.Join(scores, ","),
	}, "|")
}

// stashOf finds the payment's page in a packed record, and until when it is kept:
// "pid until url" in the place of the payment's id. "" is none.
func stashOf(raw string) (until time.Time, url string) {
	f := strings.SplitN(raw, "|", 6)
	if len(f) < 6 {
		return time.Time{}, ""
	}
	_, rest, _ := strings.Cut(f[4], " ")
	ms, url, _ := strings.Cut(rest, " ")
	var p fieldParser
	until = p.time(ms)
	return until, url
}

// unpackRecord reads a packed record. The booking id is not in it.
func unpackRecord(bookingID, raw string) (admission.Record, error) {
	f := strings.Split(raw, "|")
	if len(f) != recordFields {
		return admission.Record{}, fmt.Errorf("%w of %s: %d fields, want %d", errRecord, bookingID, len(f), recordFields)
	}
	f[4], _, _ = strings.Cut(f[4], " ") // the payment's page is not for everybody: stashOf
	var p fieldParser
	r := admission.Record{
		BookingID: bookingID, Stage: admission.Stage(f[0]), Driver: int(p.number(f[1])),
		DriverAt: p.time(f[2]), HoldUntil: p.time(f[3]), PaymentID: f[4],
		Candidate: f[5], Level: f[6], Key: f[7], InputHash: f[8], EmailHash: f[9], AdmittedAt: p.time(f[10]),
		AmountMinor: p.number(f[11]), Currency: f[12], Gen: p.number(f[13]),
		Tokens: strings.Split(f[14], ","),
	}
	for _, o := range strings.Split(f[15], ",") {
		r.Scores = append(r.Scores, p.number(o))
	}
	switch r.Stage {
	case admission.StageSoft, admission.StageAdmitted, admission.StageAttached, admission.StagePaid:
	default:
		p.err = fmt.Errorf("stage %q", f[0])
	}
	if len(r.Scores) != len(r.Tokens) {
		p.err = fmt.Errorf("%d seats with %d scores", len(r.Tokens), len(r.Scores))
	}
	if p.err != nil {
		return admission.Record{}, fmt.Errorf("%w of %s: %w", errRecord, bookingID, p.err)
	}
	return r, nil
}

type fieldParser struct{ err error }

func (p *fieldParser) number(s string) int64 {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil && p.err == nil {
		p.err = fmt.Errorf("number %q", s)
	}
	return n
}

func (p *fieldParser) time(s string) time.Time { return fromMillis(p.number(s)) }

// millis and fromMillis are the wire form of times; zero is the zero time.
func millis(t time.Time) string {
	return strconv.FormatInt(toMillis(t), 10)
}

func toMillis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

func fromMillis(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

// parseStage accepts the stages that a reply may name.
func parseStage(s string) (admission.Stage, error) {
	switch g := admission.Stage(s); g {
	case admission.StageSoft, admission.StageAdmitted, admission.StageAttached, admission.StagePaid:
		return g, nil
	}
	return "", malformed("unknown stage %q", s)
}
