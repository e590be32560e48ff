package sale

import "log/slog"

// Code is a candidate's code in its normal form; make one with NormaliseCode. It is a secret of the candidate: it is hashed by Hasher before it is stored or sent, and a logger prints a placeholder.
type Code string

// Email is a candidate's e-mail as it was typed, without surrounding white space; make one with ParseEmail, compare with Folded.
type Email string

// CodeHash is the keyed hash of a code: 43 characters of unpadded base64url. It is the candidate for every other package (`ch` in protocol.md), the SQS message group and a Redis field, always whole (protocol.md 3A row 7).
type CodeHash string

// EmailHash is 16 hexadecimal characters of the keyed hash of a folded e-mail (`eh` in protocol.md).
type EmailHash string

// Row is a candidate of the roster.
type Row struct {
	Code   Code
	Email  Email
	Levels []string // what may be booked, in the order of the sale, each once; empty: any level
}

// LogValue keeps codes out of logs.
func (Code) LogValue() slog.Value { return slog.StringValue("[code]") }

// LogValue keeps e-mails out of logs.
func (Email) LogValue() slog.Value { return slog.StringValue("[e-mail]") }
