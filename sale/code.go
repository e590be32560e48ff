package sale

import (
	"errors"
	"fmt"
	"strings"
)

// The shape of a code in its normal form.
const (
	MinCode = 4
	MaxCode = 40
)

// ErrNoCode says that a code is empty. Every other fault of a code is a *CodeError.
var ErrNoCode = errors.New("the code is missing")

// CodeError says why a text is no code. It never holds the text.
type CodeError struct{ Reason string }

func (e *CodeError) Error() string { return "the code " + e.Reason }

// NormaliseCode brings a code to the one form that roster, ingress and command line share: full-width forms, digits of other scripts and dashes become ASCII, invisible characters vanish, surrounding white space (no-break spaces too) is cut, letters become capitals. The result must be MinCode to MaxCode characters of A-Z, 0-9 and inner dashes.
//
// White space inside a code is a fault, not noise: joining what stands on its two sides might make somebody else's code. Normalising twice gives the same code.
func NormaliseCode(raw string) (Code, error) {
	if len(raw) > 8*MaxCode { // before any work; no spelling of a valid code is that long
		return "", &CodeError{Reason: fmt.Sprintf("is longer than %d characters", MaxCode)}
	}
	s := strings.Map(upperASCII, Fold(raw))
	if s == "" {
		return "", ErrNoCode
	}
	for _, r := range s {
		switch {
		case r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-':
		case r == ' ':
			return "", &CodeError{Reason: "has white space inside"}
		default:
			return "", &CodeError{Reason: "has a character other than letters A-Z, digits and dashes"}
		}
	}
	switch {
	case len(s) < MinCode:
		return "", &CodeError{Reason: fmt.Sprintf("is shorter than %d characters", MinCode)}
	case len(s) > MaxCode:
		return "", &CodeError{Reason: fmt.Sprintf("is longer than %d characters", MaxCode)}
	case s[0] == '-' || s[len(s)-1] == '-':
		return "", &CodeError{Reason: "begins or ends with a dash"}
	}
	return Code(s), nil
}

// upperASCII leaves other letters alone: the capital of a dotless i would be somebody else's I.
func upperASCII(r rune) rune {
	if r >= 'a' && r <= 'z' {
		return r - 'a' + 'A'
	}
	return r
}
