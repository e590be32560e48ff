package table

import (
	"math/big"
	"strconv"
	"strings"
)

// maxDigits, maxExponent and minExponent bound a DynamoDB number: 38
// significant digits, 1e-130 up to 9.99e125. Exponents are those of 0.d1d2…
const (
	maxDigits   = 38
	maxExponent = 126
	minExponent = -129
)

// decimal is ±0.d1d2d3… × 10^exponent with d1 and the last digit not zero;
// zero has no digits. One form per number makes comparing trivial.
type decimal struct {
	negative bool
	digits   string
	exponent int
}

// parseDecimal reads a number as DynamoDB does: sign, digits, point, exponent.
func parseDecimal(text string) (decimal, error) {
	rest, exponent := text, 0
	if i := strings.IndexAny(rest, "eE"); i >= 0 {
		e, err := strconv.Atoi(rest[i+1:])
		if err != nil || len(rest)-i > 12 {
			return decimal{}, notNumeric(text)
		}
		rest, exponent = rest[:i], e
	}
	negative := strings.HasPrefix(rest, "-")
	if negative || strings.HasPrefix(rest, "+") {
		rest = rest[1:]
	}
	whole, fraction, _ := strings.Cut(rest, ".")
	if whole == "" && fraction == "" || !allDigits(whole) || !allDigits(fraction) {
		return decimal{}, notNumeric(text)
	}
	digits := whole
	if fraction != "" {
		digits += fraction
	}
	return normalised(negative, digits, exponent+len(whole), numberTooLong)
}

func notNumeric(text string) *Error {
	return invalid("The parameter cannot be converted to a numeric value: %s", text)
}

func allDigits(text string) bool {
	for i := range len(text) {
		if text[i] < '0' || text[i] > '9' {
			return false
		}
	}
	return true
}

// normalised strips zeros on both ends and checks the bounds; tooLong is the
// error for too many digits, which DynamoDB words differently for a sum.
func normalised(negative bool, digits string, exponent int, tooLong *Error) (decimal, error) {
	trimmed := strings.TrimLeft(digits, "0")
	exponent -= len(digits) - len(trimmed)
	trimmed = strings.TrimRight(trimmed, "0")
	switch {
	case trimmed == "":
		return decimal{}, nil
	case exponent > maxExponent:
		return decimal{}, numberOverflow
	case exponent < minExponent:
		return decimal{}, numberUnderflow
	case len(trimmed) > maxDigits:
		return decimal{}, tooLong
	}
	return decimal{negative, trimmed, exponent}, nil
}

// String is the canonical form: plain digits, no exponent, no needless zero.
func (d decimal) String() string {
	if d.digits == "" {
		return "0"
	}
	text := d.digits
	switch n := len(d.digits); {
	case d.exponent <= 0:
		text = "0." + strings.Repeat("0", -d.exponent) + d.digits
	case d.exponent < n:
		text = d.digits[:d.exponent] + "." + d.digits[d.exponent:]
	case d.exponent > n:
		text += strings.Repeat("0", d.exponent-n)
	}
	if d.negative {
		return "-" + text
	}
	return text
}

func (d decimal) sign() int {
	switch {
	case d.digits == "":
		return 0
	case d.negative:
		return -1
	}
	return 1
}

func (d decimal) compare(e decimal) int {
	if d.sign() != e.sign() {
		return d.sign() - e.sign()
	}
	order := d.exponent - e.exponent
	if order == 0 {
		order = strings.Compare(d.digits, e.digits)
	}
	return order * d.sign()
}

func (d decimal) negated() decimal {
	d.negative = d.digits != "" && !d.negative
	return d
}

// plus adds exactly. A sum that needs more than 38 digits is an error, never
// rounded (DynamoDB calls it an overflow).
func (d decimal) plus(e decimal) (decimal, error) {
	if d.digits == "" {
		return e, nil
	}
	if e.digits == "" {
		return d, nil
	}
	scale := min(d.exponent-len(d.digits), e.exponent-len(e.digits))
	sum := d.scaled(scale)
	sum.Add(sum, e.scaled(scale))
	digits := sum.Text(10)
	negative := sum.Sign() < 0
	digits = strings.TrimPrefix(digits, "-")
	return normalised(negative, digits, scale+len(digits), numberOverflow)
}

// scaled is the integer d / 10^scale; scale must not exceed d's last digit.
func (d decimal) scaled(scale int) *big.Int {
	zeros := d.exponent - len(d.digits) - scale
	n, _ := new(big.Int).SetString(d.digits+strings.Repeat("0", zeros), 10)
	if d.negative {
		n.Neg(n)
	}
	return n
}

// sortable is a byte string that orders as the number does.
func (d decimal) sortable() string {
	if d.digits == "" {
		return "\x02"
	}
	raw := make([]byte, 0, 3+len(d.digits))
	raw = append(raw, byte(d.exponent-minExponent))
	raw = append(raw, d.digits...)
	if !d.negative {
		return "\x03" + string(raw)
	}
	for i := range raw {
		raw[i] = ^raw[i]
	}
	return "\x01" + string(append(raw, 0xff)) // a longer negative is smaller
}
