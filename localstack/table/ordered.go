package table

import "sort"

// chunkSize bounds one sorted run. Small enough that an insert moves little,
// large enough that a million rows need only some ten thousand runs.
const chunkSize = 128

// row is one version of an item with its size, shared by the table and its
// indexes.
type row struct {
	item Item
	size int
}

type entry struct {
	key string
	row *row
}

// ordered is a map in key order: a sorted list of sorted runs. Reads cost two
// binary searches, writes move at most one run. The zero value is empty.
type ordered struct {
	chunks [][]entry // none is empty
	size   int
}

// cursor points at an entry, or past the end (chunk == len(chunks)). Any
// write makes it invalid.
type cursor struct{ chunk, index int }

// seek finds the first entry whose key is not below key.
func (o *ordered) seek(key string) cursor {
	c := sort.Search(len(o.chunks), func(i int) bool {
		chunk := o.chunks[i]
		return chunk[len(chunk)-1].key >= key
	})
	if c == len(o.chunks) {
		return cursor{c, 0}
	}
	chunk := o.chunks[c]
	return cursor{c, sort.Search(len(chunk), func(i int) bool { return chunk[i].key >= key })}
}

// at is the entry under the cursor; ok is false outside of the map.
func (o *ordered) at(c cursor) (e entry, ok bool) {
	if c.chunk < 0 || c.chunk >= len(o.chunks) {
		return entry{}, false
	}
	return o.chunks[c.chunk][c.index], true
}

// next moves one entry up.
func (o *ordered) next(c cursor) cursor {
	if c.index+1 < len(o.chunks[c.chunk]) {
		return cursor{c.chunk, c.index + 1}
	}
	return cursor{c.chunk + 1, 0}
}

// prev moves one entry down, also from past the end; before the first entry
// it gives a cursor outside of the map.
func (o *ordered) prev(c cursor) cursor {
	if c.index > 0 {
		return cursor{c.chunk, c.index - 1}
	}
	if c.chunk == 0 {
		return cursor{-1, 0}
	}
	return cursor{c.chunk - 1, len(o.chunks[c.chunk-1]) - 1}
}

func (o *ordered) get(key string) *row {
	if e, ok := o.at(o.seek(key)); ok && e.key == key {
		return e.row
	}
	return nil
}

// set inserts or replaces.
func (o *ordered) set(key string, r *row) {
	c := o.seek(key)
	if e, ok := o.at(c); ok && e.key == key {
		o.chunks[c.chunk][c.index].row = r
		return
	}
	o.size++
	if len(o.chunks) == 0 {
		o.chunks = append(o.chunks, []entry{{key, r}})
		return
	}
	if c.chunk == len(o.chunks) { // above every key: append to the last run
		c = cursor{c.chunk - 1, len(o.chunks[c.chunk-1])}
	}
	chunk := append(o.chunks[c.chunk], entry{})
	copy(chunk[c.index+1:], chunk[c.index:])
	chunk[c.index] = entry{key, r}
	o.chunks[c.chunk] = chunk
	if len(chunk) > chunkSize {
		o.split(c.chunk)
	}
}

// split halves the run i, the upper half in memory of its own.
func (o *ordered) split(i int) {
	chunk := o.chunks[i]
	half := len(chunk) / 2
	upper := append(make([]entry, 0, chunkSize+1), chunk[half:]...)
	clear(chunk[half:])
	o.chunks = append(o.chunks, nil)
	copy(o.chunks[i+2:], o.chunks[i+1:])
	o.chunks[i], o.chunks[i+1] = chunk[:half], upper
}

// remove deletes the key if it is there.
func (o *ordered) remove(key string) {
	c := o.seek(key)
	if e, ok := o.at(c); !ok || e.key != key {
		return
	}
	o.size--
	chunk := o.chunks[c.chunk]
	copy(chunk[c.index:], chunk[c.index+1:])
	chunk[len(chunk)-1] = entry{}
	o.chunks[c.chunk] = chunk[:len(chunk)-1]
	if len(chunk) == 1 {
		o.chunks = append(o.chunks[:c.chunk], o.chunks[c.chunk+1:]...)
	}
}
