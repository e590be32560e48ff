package table

import (
	"errors"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestNumberCanonicalForm(t *testing.T) {
	for text, want := range map[string]string{
		"1": "1", "1.0": "1", "1e3": "1000", "-0": "0", "+3": "3", "00012": "12", "1.50": "1.5", ".123": "0.123", "5.": "5",
		"1e+5": "100000", "-17.4E2": "-1740", "0.0001e4": "1", "1e-3": "0.001", "0e999": "0",
		"12345678901234567890123456789012345678":  "12345678901234567890123456789012345678",
		"123456789012345678901234567890123456780": "123456789012345678901234567890123456780",
		"1e125":  "1" + strings.Repeat("0", 125),
		"1e-130": "0." + strings.Repeat("0", 129) + "1",
	} {
		v, err := N(text)
		if err != nil || v.Text() != want {
			t.Errorf("N(%q) = %q, %v; want %q", text, v.Text(), err, want)
		}
	}
}

func TestNumberRefusals(t *testing.T) {
	for text, want := range map[string]string{
		"": "cannot be converted", "dog": "cannot be converted", " 1": "cannot be converted", "1 ": "cannot be converted",
		"NaN": "cannot be converted", "-": "cannot be converted", ".": "cannot be converted", "1e": "cannot be converted",
		"1e99999999999999999999": "cannot be converted", "0x10": "cannot be converted", "1_0": "cannot be converted",
		"3.14159265358979323846264338327950288419":   "38 significant",
		"314159265358979323846264338327950288419e30": "38 significant",
		"1e126": "Number overflow", "-11e125": "Number overflow", "1e-131": "Number underflow", "0.9e-130": "Number underflow",
	} {
		_, err := N(text)
		var refusal *Error
		if !errors.As(err, &refusal) || refusal.Code != CodeValidation || !strings.Contains(refusal.Message, want) {
			t.Errorf("N(%q): %v; want a validation error with %q", text, err, want)
		}
	}
}

func TestSumsAreExactOrRefused(t *testing.T) {
	for _, c := range []struct{ a, b, want string }{
		{"1", "10000000000000000000000", "10000000000000000000001"},
		{"0.1", "0.2", "0.3"}, {"-2", "0.1", "-1.9"}, {"5", "-5", "0"}, {"0", "7", "7"}, {"7", "0", "7"},
		{"9007199254740993", "1", "9007199254740994"}, {"9e125", "9e124", "9.9e125"},
		{"9e125", "9e125", "overflow"}, {"1e50", "1", "overflow"}, {"-9e125", "-9e125", "overflow"},
	} {
		a, b := number(t, c.a), number(t, c.b)
		sum, err := addNumbers(a.decimal(), b.decimal())
		if c.want == "overflow" {
			if !errors.Is(err, numberOverflow) {
				t.Errorf("%s + %s = %s, %v; want an overflow", c.a, c.b, sum.Text(), err)
			}
		} else if err != nil || !sum.Equal(number(t, c.want)) {
			t.Errorf("%s + %s = %s, %v; want %s", c.a, c.b, sum.Text(), err, c.want)
		}
	}
}

func number(t testing.TB, text string) Value {
	t.Helper()
	v, err := N(text)
	if err != nil {
		t.Fatalf("N(%q): %v", text, err)
	}
	return v
}

// Order and sum agree with exact rationals, and so does the order of keys.
func TestNumbersAgainstRationals(t *testing.T) {
	text := rapid.StringMatching(`-?[0-9]{1,12}(\.[0-9]{1,6})?(e-?[0-9])?`)
	rapid.Check(t, func(t *rapid.T) {
		a, b := text.Draw(t, "a"), text.Draw(t, "b")
		x, err := parseDecimal(a)
		y, err2 := parseDecimal(b)
		if err != nil || err2 != nil {
			t.Fatalf("parse %q, %q: %v, %v", a, b, err, err2)
		}
		rx, _ := new(big.Rat).SetString(a)
		ry, _ := new(big.Rat).SetString(b)
		if got, want := sign(x.compare(y)), rx.Cmp(ry); got != want {
			t.Fatalf("compare %s, %s = %d; want %d", a, b, got, want)
		}
		if got, want := strings.Compare(x.sortable(), y.sortable()), rx.Cmp(ry); got != want {
			t.Fatalf("key order of %s, %s = %d; want %d", a, b, got, want)
		}
		sum, err := x.plus(y)
		if err != nil {
			t.Fatalf("%s + %s: %v", a, b, err)
		}
		if got, _ := new(big.Rat).SetString(sum.String()); got.Cmp(rx.Add(rx, ry)) != 0 {
			t.Fatalf("%s + %s = %s", a, b, sum)
		}
	})
}

// Numbers of which one's digits begin the other's, in order.
func TestNumberKeysInOrder(t *testing.T) {
	ordered := []string{"-9e125", "-124", "-123.4", "-123", "-12.3", "-12", "-1.2", "-1", "-0.1", "-1e-130", "0", "1e-130", "0.1", "1", "1.2", "12", "12.3", "123", "123.4", "124", "9e125"}
	for i, a := range ordered {
		for j, b := range ordered {
			x, y := number(t, a), number(t, b)
			if got := strings.Compare(escape(x.sortable()), escape(y.sortable())); got != sign(i-j) {
				t.Errorf("key order of %s, %s = %d", a, b, got)
			}
			if got, _ := x.compare(y); sign(got) != sign(i-j) {
				t.Errorf("compare %s, %s = %d", a, b, got)
			}
		}
	}
}

func sign(n int) int {
	switch {
	case n < 0:
		return -1
	case n > 0:
		return 1
	}
	return 0
}
