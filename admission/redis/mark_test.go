package redis

import (
	"errors"
	"testing"

	"github.com/holdfast/holdfast/admission"
)

// TestMarkFollowsMark: a mark takes the place of the one that the ledger knows,
// and no other; one that nobody has noted yet stays.
func TestMarkFollowsMark(t *testing.T) {
	b := newBench(t)
	for _, step := range []struct{ known, next, want string }{
		{"", "m1", "m1"},
		{"", "m2", "m1"},   // m1 is not noted yet
		{"m1", "m2", "m2"}, // now it is
		{"m1", "m3", "m2"},
		{"", "m3", ""}, // whoever asks so has slept
		{"m2", "m3", "m3"},
		{"m1", "m4", ""},
		{"x", "m4", ""},
		{"m3", "m3", "m3"},
	} {
		a, err := b.store.SetMark(b.ctx(), admission.Mark{Sale: b.sale, Gen: gen, Known: step.known, Next: step.next})
		if err != nil || a.Mark != step.want || !a.Acknowledged {
			t.Errorf("%q after %q: %+v, %v; want %q", step.next, step.known, a, err, step.want)
		}
	}
	for name, c := range map[string]struct {
		mark admission.Mark
		want error
	}{
		"another generation": {admission.Mark{Sale: b.sale, Gen: gen + 1, Known: "m3", Next: "m4"}, admission.ErrStaleGen},
		"no such sale":       {admission.Mark{Sale: "nosuchsale", Gen: gen, Next: "m4"}, admission.ErrStaleGen},
		"no mark":            {admission.Mark{Sale: b.sale, Gen: gen, Known: "m3"}, admission.ErrInvalid},
		"a separator":        {admission.Mark{Sale: b.sale, Gen: gen, Known: "m 3", Next: "m4"}, admission.ErrInvalid},
	} {
		if a, err := b.store.SetMark(b.ctx(), c.mark); !errors.Is(err, c.want) || a.Mark != "" || a.Acknowledged != errors.Is(err, admission.ErrStaleGen) {
			t.Errorf("%s: %+v, %v", name, a, err)
		}
	}
}
