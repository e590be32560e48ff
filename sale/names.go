package sale

import (
	"encoding/base32"
	"fmt"
	"io"
	"strconv"
)

// MaxName is the longest name that ValidName accepts.
const MaxName = 40

// MaxLevelName keeps every token of a level within MaxName: a dash and a number of up to seven digits follow the level's name.
const MaxLevelName = 32

// ValidName says whether s is [A-Za-z0-9_-]{1,40}. Sale ids, level names, tokens and booking ids are checked with it before they reach a script or a key (protocol.md 3.4).
func ValidName(s string) bool {
	if len(s) < 1 || len(s) > MaxName {
		return false
	}
	for i := 0; i < len(s); i++ {
		c := s[i]
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-') {
			return false
		}
	}
	return true
}

// TokenName is the n-th token of a counted level, "N1-17"; n counts from 1. Numbers are never reused: a raise after a cut mints new ones (protocol.md 3.4 S9).
func TokenName(level string, n int) string {
	return level + "-" + strconv.Itoa(n)
}

// crockford has no letters that are mistaken for digits, so an id can be read out on the telephone; an id never begins with a dash, so it can be an argument on a command line.
var crockford = base32.NewEncoding("0123456789ABCDEFGHJKMNPQRSTVWXYZ").WithPadding(base32.NoPadding)

// NewBookingID mints the id of one booking attempt (protocol.md R2): 128 random bits, 26 characters, valid by ValidName. It is shown in URLs and is all that one needs to see a booking, so rand must be crypto/rand.Reader outside of tests.
func NewBookingID(rand io.Reader) (string, error) {
	var bits [16]byte
	if _, err := io.ReadFull(rand, bits[:]); err != nil {
		return "", fmt.Errorf("mint a booking id: random source: %w", err)
	}
	return crockford.EncodeToString(bits[:]), nil
}

// LateBookingID is the id under which a payment that came after the release of bid is admitted again. It is a function of bid, so a redelivery is a replay (protocol.md 3.7).
func LateBookingID(bid string) string {
	return "L-" + bid
}
