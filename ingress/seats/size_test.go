package seats_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"strconv"
	"testing"
	"time"

	"github.com/holdfast/holdfast/admission"
)

// largestMap is what the map of 20,700 seats may weigh packed, in bytes: with
// page and scripts (60 KB at most) some two and a half seconds at 400 kbit/s.
const largestMap = 72 << 10

// holdEveryFourth takes n seats, each the fourth after the last one, for candidate i.
func (w *town) holdEveryFourth(i, n int) {
	w.Helper()
	names := make([]string, n)
	for k := range names {
		names[k] = "S" + strconv.Itoa(4*(i*n+k))
	}
	id := "c" + strconv.Itoa(i)
	a, err := w.redis.Hold(w.Context(), admission.HoldRequest{Sale: "hall", HoldID: "h-" + id, Candidate: id, Level: "Hall", Gen: 1,
		EmailHash: "aaaaaaaaaaaaaaaa", Currency: "EUR", Seats: names, For: time.Minute, Max: time.Minute})
	if err != nil || a.Outcome != admission.Admitted {
		w.Fatalf("hold %d: %v, %v", i, a.Outcome, err)
	}
}

// TestALargeMapIsSmall: the whole of GET /sales/{sale}/seats as a phone gets it,
// with every fourth of 4,000 seats taken, packed as the ingress does.
func TestALargeMapIsSmall(t *testing.T) {
	w := newTown(t, 20_700)
	for i := range 125 {
		w.holdEveryFourth(i, 8)
	}
	v, err := w.hub.View(t.Context(), w.plan)
	if err != nil {
		t.Fatal(err)
	}
	packed, plain, news := v.Packed(w.Now()), v.Document(w.Now(), true, ""), v.Document(w.Now(), false, "")
	t.Logf("20,700 seats, 1,000 taken: %d bytes, %d packed; without the plan %d", len(plain), len(packed), len(news))
	if len(plain) < 20_700*5 || len(packed) > largestMap || len(news) > len(plain)/4 {
		t.Errorf("%d bytes, packed %d; without the plan %d", len(plain), len(packed), len(news))
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(z); err != nil || !bytes.Equal(got, plain) {
		t.Errorf("it unpacks to %d bytes, %v", len(got), err)
	}
}
