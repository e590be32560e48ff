package sale_test

import (
	"crypto/rand"
	"strings"
	"testing"

	"github.com/holdfast/holdfast/sale"
)

func TestMintedKnowsItsOwnIDs(t *testing.T) {
	h, same, other := newHasher(t, strings.Repeat("k", 32)), newHasher(t, strings.Repeat("k", 32)), newHasher(t, strings.Repeat("l", 32))
	seen := map[string]bool{}
	for range 1000 {
		id, err := h.BookingID(rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		if seen[id] || len(id) != 26 || !sale.ValidName(id) {
			t.Fatalf("id %q", id)
		}
		seen[id] = true
		if !h.Minted(id) || !same.Minted(id) || !same.Minted(sale.LateBookingID(sale.LateBookingID(id))) {
			t.Fatalf("%s is not known", id)
		}
		if other.Minted(id) {
			t.Fatalf("%s is known without the secret", id)
		}
	}
}

func TestMintedRefusesWhatIsInvented(t *testing.T) {
	h := newHasher(t, strings.Repeat("k", 32))
	id, err := h.BookingID(strings.NewReader("a fixed seed"))
	if err != nil {
		t.Fatal(err)
	}
	// Ids are stored: this line may not change.
	if id != "C4G6CTBRCNJ20WV5CNJC1JZM1W" {
		t.Errorf("the id of a fixed seed is %s", id)
	}
	const alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
	for at := range id { // one character changed, each to every other: the last one's spare bits too
		for _, c := range alphabet {
			if forged := id[:at] + string(c) + id[at+1:]; forged != id && h.Minted(forged) {
				t.Errorf("%s passes for %s", forged, id)
			}
		}
	}
	for _, s := range []string{"", "L-", "x", strings.ToLower(id), id + "0", id[1:], "l-" + id, id + "\n", strings.Repeat("=", 26), strings.Repeat("é", 13)} {
		if h.Minted(s) {
			t.Errorf("%q passes", s)
		}
	}
	for range 1000 {
		guess, err := sale.NewBookingID(rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		if h.Minted(guess) {
			t.Errorf("the guess %s passes", guess)
		}
	}
	if _, err := h.BookingID(strings.NewReader("short")); err == nil {
		t.Error("an id without its random bytes")
	}
}
