package roster

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// mask shows enough of a code or an e-mail to find it in the file, and too little to use it: the first character or two, and an e-mail's domain. What would move a terminal's cursor, or look like a formula to a spreadsheet, is shown as a dot.
func mask(value string) string {
	local, domain, isEmail := strings.Cut(strings.TrimSpace(value), "@")
	keep := 2
	if utf8.RuneCountInString(local) < 6 {
		keep = 1
	}
	var b strings.Builder
	for _, r := range local {
		if keep--; keep < 0 {
			break
		}
		b.WriteRune(visible(r))
	}
	b.WriteString("***")
	if isEmail {
		b.WriteString("@" + clip(domain))
	}
	return b.String()
}

// clip makes a text from the file fit to be shown: short, and nothing in it but what can be seen.
func clip(s string) string {
	const most = 40
	s = strings.Map(visible, s)
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return string([]rune(s)[:most]) + "..."
}

func visible(r rune) rune {
	if unicode.IsPrint(r) && !strings.ContainsRune(`=<>"`, r) {
		return r
	}
	return '.'
}
