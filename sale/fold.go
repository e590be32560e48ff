package sale

import (
	"strings"
	"unicode"
)

// Fold brings forms that look alike, and only those, to ASCII; case is left alone. What people paste is not what they see: spreadsheets add no-break spaces, chat programs add invisible marks, phones with an East Asian or Bengali keyboard type digits of their own. Folding twice changes nothing.
//
//   - invisible characters (zero width, soft hyphen, direction marks, byte order mark) are dropped
//   - full-width forms, decimal digits of any script and the various dashes become ASCII
//   - every white space becomes a plain space, and those at the ends are cut
func Fold(raw string) string {
	if plain(raw) {
		return strings.Trim(raw, " ")
	}
	return strings.Trim(strings.Map(foldRune, raw), " ")
}

// plain says whether Fold has nothing to do but cut spaces.
func plain(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] < ' ' || s[i] >= 0x7f {
			return false
		}
	}
	return true
}

func foldRune(r rune) rune {
	switch {
	case r >= 0xff01 && r <= 0xff5e: // full-width forms of '!'..'~'
		return r - 0xff01 + '!'
	case r < 0x7f && !unicode.IsSpace(r):
		return r
	case unicode.IsSpace(r):
		return ' '
	case invisible(r):
		return -1
	case r >= 0x2010 && r <= 0x2015, r == 0x2212, r == 0xfe58, r == 0xfe63: // hyphens and dashes, minus
		return '-'
	case unicode.Is(unicode.Nd, r):
		return digit(r)
	}
	return r
}

// invisible characters carry no meaning in a code or an address, wherever they stand.
func invisible(r rune) bool {
	switch {
	case r == 0x00ad, r == 0x061c, r == 0x180e, r == 0xfeff:
		return true
	case r >= 0x200b && r <= 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x2060 && r <= 0x206f:
		return true
	}
	return false
}

// digit is the ASCII form of a decimal digit of any script. Unicode keeps the ten digits of a script together and in order, so the distance from the range's start tells the value.
func digit(r rune) rune {
	for _, span := range unicode.Nd.R16 {
		if r >= rune(span.Lo) && r <= rune(span.Hi) {
			return '0' + (r-rune(span.Lo))%10
		}
	}
	for _, span := range unicode.Nd.R32 {
		if r >= rune(span.Lo) && r <= rune(span.Hi) {
			return '0' + (r-rune(span.Lo))%10
		}
	}
	return r
}
