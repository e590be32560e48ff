package sale_test

import (
	"bytes"
	"crypto/rand"
	"errors"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/holdfast/holdfast/sale"
)

func TestValidName(t *testing.T) {
	for _, good := range []string{"a", "N1", "spring_2027-a", strings.Repeat("x", 40)} {
		if !sale.ValidName(good) {
			t.Errorf("%q is refused", good)
		}
	}
	for _, bad := range []string{"", "a b", "a|b", "a{b}", "a:b", "ä", "a\n", "a.b", strings.Repeat("x", 41)} {
		if sale.ValidName(bad) {
			t.Errorf("%q is accepted", bad)
		}
	}
}

func TestEveryTokenOfALevelIsAName(t *testing.T) {
	if got := sale.TokenName("N1", 17); got != "N1-17" {
		t.Errorf("token is %q", got)
	}
	if token := sale.TokenName(strings.Repeat("x", sale.MaxLevelName), 9_999_999); !sale.ValidName(token) {
		t.Errorf("token %q is no name", token)
	}
}

func TestNewBookingID(t *testing.T) {
	id, err := sale.NewBookingID(bytes.NewReader(bytes.Repeat([]byte{0xff}, 16)))
	if err != nil || id != "ZZZZZZZZZZZZZZZZZZZZZZZZZW" {
		t.Errorf("128 ones are %q, %v: the bits are not all in the id", id, err)
	}
	seen := make(map[string]bool)
	for range 1000 {
		id, err := sale.NewBookingID(rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		if len(id) != 26 || !sale.ValidName(id) || !sale.ValidName(sale.LateBookingID(id)) || seen[id] {
			t.Fatalf("id %q", id)
		}
		seen[id] = true
	}
}

func TestNewBookingIDNeverGuessesWithoutARandomSource(t *testing.T) {
	broken := errors.New("no entropy")
	if id, err := sale.NewBookingID(iotest.ErrReader(broken)); id != "" || !errors.Is(err, broken) {
		t.Errorf("got %q, %v", id, err)
	}
	if id, err := sale.NewBookingID(strings.NewReader("short")); id != "" || err == nil {
		t.Errorf("a short source gave %q, %v", id, err)
	}
}

func TestLateBookingIDIsAFunctionOfTheBooking(t *testing.T) {
	if got := sale.LateBookingID("ABC"); got != "L-ABC" {
		t.Errorf("got %q", got)
	}
}
