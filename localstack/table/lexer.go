package table

import (
	"strings"
	"unicode/utf8"
)

type tokenKind uint8

const (
	tokenEnd    tokenKind = iota
	tokenWord             // a name or keyword
	tokenName             // #name
	tokenValue            // :value
	tokenNumber           // a list index
	tokenSymbol           // punctuation and operators
	tokenBad              // a character that no expression holds
)

type token struct {
	kind       tokenKind
	text       string
	start, end int // bytes in the source, for "near" in errors
}

const symbols = "()[],.=<>+-"

func isWordByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// lex splits an expression; the last token is always tokenEnd.
func lex(source string) []token {
	tokens := make([]token, 0, 16)
	for at := 0; at < len(source); {
		if strings.IndexByte(" \t\r\n", source[at]) >= 0 {
			at++
			continue
		}
		t := lexOne(source, at)
		tokens = append(tokens, t)
		at = t.end
	}
	return append(tokens, token{kind: tokenEnd, text: "<EOF>", start: len(source), end: len(source)})
}

func lexOne(source string, at int) token {
	c := source[at]
	kind, end := tokenSymbol, at+1
	switch {
	case strings.HasPrefix(source[at:], "<>"), strings.HasPrefix(source[at:], "<="), strings.HasPrefix(source[at:], ">="):
		end = at + 2
	case strings.IndexByte(symbols, c) >= 0:
	case c == '#' || c == ':' || isWordByte(c):
		for end < len(source) && isWordByte(source[end]) {
			end++
		}
		kind = wordKind(source[at:end])
	default:
		_, width := utf8.DecodeRuneInString(source[at:])
		kind, end = tokenBad, at+width
	}
	return token{kind: kind, text: source[at:end], start: at, end: end}
}

func wordKind(text string) tokenKind {
	switch c := text[0]; {
	case len(text) == 1 && (c == '#' || c == ':'):
		return tokenBad
	case c == '#':
		return tokenName
	case c == ':':
		return tokenValue
	case allDigits(text):
		return tokenNumber
	case c >= '0' && c <= '9':
		return tokenBad // an attribute name may not begin with a digit
	}
	return tokenWord
}
