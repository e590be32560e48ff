package model

// hashes is a set of hashes by open addressing, for millions of them.
type hashes struct {
	slots []uint64
	n     int
}

func newHashes() *hashes { return &hashes{slots: make([]uint64, 1<<16)} }

// add reports whether h is new. Zero stands for an empty slot, so it counts as one.
func (t *hashes) add(h uint64) bool {
	if h == 0 {
		h = 1
	}
	if 2*t.n >= len(t.slots) {
		t.grow()
	}
	mask := uint64(len(t.slots) - 1)
	for i := h & mask; ; i = (i + 1) & mask {
		switch t.slots[i] {
		case 0:
			t.slots[i] = h
			t.n++
			return true
		case h:
			return false
		}
	}
}

func (t *hashes) grow() {
	old := t.slots
	*t = hashes{slots: make([]uint64, 2*len(old))}
	for _, h := range old {
		if h != 0 {
			t.add(h)
		}
	}
}
