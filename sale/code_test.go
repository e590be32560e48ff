package sale_test

import (
	"errors"
	"strings"
	"testing"
	"unicode"

	"github.com/holdfast/holdfast/sale"
)

func TestNormaliseCode(t *testing.T) {
	for raw, want := range map[string]sale.Code{
		"QTHR313910":                    "QTHR313910",
		"  qthr313910\t":                "QTHR313910",
		"\u00a0QTHR313910\u00a0":        "QTHR313910",
		"\ufeffQT\u200bHR31\u00ad3910":  "QTHR313910",
		"\u202aQTHR313910\u202c":        "QTHR313910",
		"ＱＴｈｒ３１３９１０\u3000":              "QTHR313910",
		"QTHR৩১৩৯১০":                    "QTHR313910",
		"QTHR٣١٣٩١٠":                    "QTHR313910",
		"\u2003ab\u201112\u2028":        "AB-12",
		strings.Repeat("a", 40):         sale.Code(strings.Repeat("A", 40)),
		"1234":                          "1234",
		"a" + strings.Repeat("-", 3):    "",
		"-abcd":                         "",
		"abc":                           "",
		"ab cd":                         "",
		"ab\u00a0cd":                    "",
		"AB\x00CD1":                     "",
		"CX|1213":                       "",
		"=HYPERLINK":                    "",
		"<b>x</b>":                      "",
		"ABCı":                          "", // a dotless i is not an I
		"ABCſ":                          "", // a long s is not an S
		"ABCÄ":                          "",
		"АВСЕ":                          "", // Cyrillic look-alikes are other letters
		"AB\xffCD":                      "",
		strings.Repeat("A", 41):         "",
		strings.Repeat("\u200b", 10000): "",
		"":                              "",
		" \u00a0\u200b\ufeff ":          "",
	} {
		got, err := sale.NormaliseCode(raw)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("NormaliseCode(%q) = %q, %v, want %q", raw, got, err, want)
		}
	}
}

func TestNormaliseCodeTellsMissingFromInvalid(t *testing.T) {
	if _, err := sale.NormaliseCode(" \u00a0\u200b"); !errors.Is(err, sale.ErrNoCode) {
		t.Errorf("white space alone: %v, want ErrNoCode", err)
	}
	_, err := sale.NormaliseCode("SECRET 12")
	var invalid *sale.CodeError
	if !errors.As(err, &invalid) || strings.Contains(err.Error(), "SECRET") {
		t.Errorf("white space inside: %v, want a CodeError without the code", err)
	}
}

// Every digit that Unicode has means the same number in a code; the blocks of mathematical digits lie side by side in one range.
func TestFoldReadsDigitsOfEveryScript(t *testing.T) {
	digits := 0
	var value rune
	before := rune(-1)
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if !unicode.Is(unicode.Nd, r) {
			continue
		}
		if r != before+1 || value == 9 {
			value = -1
		}
		value, before = value+1, r
		if got := sale.Fold(string(r)); got != string('0'+value) {
			t.Fatalf("Fold(%U) = %q, want %c", r, got, '0'+value)
		}
		digits++
	}
	if digits < 600 || digits%10 != 0 {
		t.Errorf("%d digits seen", digits)
	}
}

func FuzzNormaliseCode(f *testing.F) {
	for _, seed := range []string{"QTHR313910", " ab-12\u00a0", "ＡＢ１２", "a b", "\u202e12৩", "\xff\xfe"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		code, err := sale.NormaliseCode(raw)
		if err != nil {
			if code != "" {
				t.Fatalf("NormaliseCode(%q) = %q with error %v", raw, code, err)
			}
			return
		}
		if !sale.ValidName(string(code)) || strings.ToUpper(string(code)) != string(code) {
			t.Fatalf("NormaliseCode(%q) = %q, not in normal form", raw, code)
		}
		for _, same := range []string{string(code), " " + raw + "\u00a0", strings.ToLower(string(code)), "\ufeff" + raw} {
			if again, err := sale.NormaliseCode(same); again != code && len(same) <= 8*sale.MaxCode {
				t.Fatalf("NormaliseCode(%q) = %q, %v, but %q gave %q", same, again, err, raw, code)
			}
		}
	})
}
