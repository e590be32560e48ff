package table

import (
	"bytes"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// The ordered map behaves as a Go map with sorted keys, forwards and backwards.
func TestOrderedAgainstMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var o ordered
		model := map[string]*row{}
		key := rapid.StringMatching(`[ab]{0,9}`)
		for range rapid.IntRange(0, 600).Draw(t, "writes") {
			k := key.Draw(t, "key")
			if rapid.IntRange(0, 3).Draw(t, "remove") == 0 {
				o.remove(k)
				delete(model, k)
				continue
			}
			model[k] = &row{}
			o.set(k, model[k])
		}
		want := sortedKeys(model)
		if o.size != len(want) {
			t.Fatalf("size %d, want %d", o.size, len(want))
		}
		var up, down []string
		for at := o.seek(""); ; at = o.next(at) {
			e, ok := o.at(at)
			if !ok {
				break
			}
			if e.row != model[e.key] {
				t.Fatalf("%q has another row", e.key)
			}
			up = append(up, e.key)
		}
		for at := o.prev(cursor{len(o.chunks), 0}); ; at = o.prev(at) {
			e, ok := o.at(at)
			if !ok {
				break
			}
			down = append(down, e.key)
		}
		slices.Reverse(down)
		if !slices.Equal(up, want) || !slices.Equal(down, want) {
			t.Fatalf("up %q, down %q, want %q", up, down, want)
		}
		probe := key.Draw(t, "probe")
		i, _ := slices.BinarySearch(want, probe)
		if e, ok := o.at(o.seek(probe)); ok != (i < len(want)) || ok && e.key != want[i] {
			t.Fatalf("seek %q found %q, %v", probe, e.key, ok)
		}
	})
}

// Keys of one partition order as sort keys do, whatever bytes they hold, and
// no partition reaches into another.
func TestStorageKeysKeepOrder(t *testing.T) {
	s := schema{hash: keyAttribute{"pk", KindB}, sort: keyAttribute{"sk", KindB}}
	raw := rapid.SliceOfN(rapid.SampledFrom([]byte{0, 1, 2, 0xfe, 0xff}), 1, 5)
	rapid.Check(t, func(t *rapid.T) {
		pk, other := raw.Draw(t, "pk"), raw.Draw(t, "other")
		a, b := raw.Draw(t, "a"), raw.Draw(t, "b")
		keyA, _ := s.storageKey(Item{"pk": B(pk), "sk": B(a)})
		keyB, _ := s.storageKey(Item{"pk": B(pk), "sk": B(b)})
		if got, want := bytes.Compare([]byte(keyA), []byte(keyB)), bytes.Compare(a, b); got != want {
			t.Fatalf("order of %x, %x is %d, want %d", a, b, got, want)
		}
		inside := prefixRange(partition(B(other))).holds(keyA)
		if inside != bytes.Equal(pk, other) {
			t.Fatalf("key of %x in the range of %x: %v", pk, other, inside)
		}
	})
}

func TestSegmentsPartitionTheHashSpace(t *testing.T) {
	for _, total := range []int{1, 2, 3, 7, 64} {
		filled := map[int]bool{}
		for i := range 1000 {
			key, hits := partition(Int(int64(i))), 0
			for segment := range total {
				if segmentRange(segment, total).holds(key) {
					hits++
					filled[segment] = true
				}
			}
			if hits != 1 {
				t.Fatalf("key %d lies in %d of %d segments", i, hits, total)
			}
		}
		if len(filled) != total {
			t.Errorf("a thousand keys fill %d of %d segments", len(filled), total)
		}
	}
}
