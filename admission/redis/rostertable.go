package redis

import (
	"hash/maphash"
	"math/bits"
	"slices"
	"strings"

	"github.com/holdfast/holdfast/admission"
)

// rosterTable is a roster as 8-byte keyed hashes of candidate and e-mail in an
// open-addressing table, at most half full: 16 MB per million candidates. The
// key is this process's own, so nobody can look for collisions; a stranger
// passes for a candidate with a chance of n / 2^64, and is then admitted.
// It is immutable.
type rosterTable struct {
	seed maphash.Seed
	tags []uint64   // 0 = empty
	sets []uint8    // parallel to tags: which levels; nil where every row allows any
	only [][]string // the level sets; only[0] is any
}

// maxSets bounds the distinct level sets. Rows beyond it are left out: the
// script judges those candidates itself.
const maxSets = 255

type rosterBuilder struct {
	table rosterTable
	rows  []uint64
	set   []uint8
	known map[string]uint8
}

func newRosterBuilder() *rosterBuilder {
	return &rosterBuilder{table: rosterTable{seed: maphash.MakeSeed(), only: [][]string{nil}}, known: map[string]uint8{"": 0}}
}

func (b *rosterBuilder) add(r admission.RosterEntry) {
	name := strings.Join(r.Levels, ",")
	set, ok := b.known[name]
	if !ok {
		if len(b.table.only) == maxSets {
			return
		}
		set = uint8(len(b.table.only))
		b.table.only = append(b.table.only, r.Levels)
		b.known[name] = set
	}
	b.rows = append(b.rows, b.table.tag(r.Candidate, r.EmailHash))
	b.set = append(b.set, set)
}

func (b *rosterBuilder) build() *rosterTable {
	t := b.table
	size := 1 << bits.Len(uint(max(1, 2*len(b.rows)-1)))
	t.tags = make([]uint64, size)
	if len(t.only) > 1 {
		t.sets = make([]uint8, size)
	}
	for i, tag := range b.rows {
		at := t.slot(tag)
		t.tags[at] = tag
		if t.sets != nil {
			t.sets[at] = b.set[i]
		}
	}
	return &t
}

func (t *rosterTable) tag(candidate, emailHash string) uint64 {
	var h maphash.Hash
	h.SetSeed(t.seed)
	h.WriteString(candidate)
	h.WriteByte('|') // in neither of them
	h.WriteString(emailHash)
	return max(1, h.Sum64())
}

// slot is where tag is, or the empty place where it would be.
func (t *rosterTable) slot(tag uint64) int {
	mask := len(t.tags) - 1
	at := int(tag) & mask
	for t.tags[at] != 0 && t.tags[at] != tag {
		at = (at + 1) & mask
	}
	return at
}

// allows says that the roster has this candidate with this e-mail for this
// level. False only means: ask the script.
func (t *rosterTable) allows(candidate, emailHash, level string) bool {
	if t == nil || emailHash == "" {
		return false
	}
	tag := t.tag(candidate, emailHash)
	at := t.slot(tag)
	if t.tags[at] != tag {
		return false
	}
	if t.sets == nil || t.sets[at] == 0 {
		return true
	}
	return slices.Contains(t.only[t.sets[at]], level)
}
