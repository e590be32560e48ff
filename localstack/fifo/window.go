package fifo

import "time"

// window remembers values by key until they expire. Values must be put in the order of their expiry, which a window of constant length does by itself; its memory is what was put within that length.
type window[V any] struct {
	entries map[string]windowEntry[V]
	order   []windowKey // by expiry; those before head are forgotten
	head    int
}

type windowEntry[V any] struct {
	value   V
	expires time.Time
}

type windowKey struct {
	key     string
	expires time.Time
}

func (w *window[V]) get(key string) (V, bool) {
	e, ok := w.entries[key]
	return e.value, ok
}

func (w *window[V]) put(key string, v V, expires time.Time) {
	if w.entries == nil {
		w.entries = map[string]windowEntry[V]{}
	}
	w.entries[key] = windowEntry[V]{v, expires}
	w.order = append(w.order, windowKey{key, expires})
}

// forget drops what has expired by now.
func (w *window[V]) forget(now time.Time) {
	for w.head < len(w.order) && !w.order[w.head].expires.After(now) {
		k := w.order[w.head]
		if e, ok := w.entries[k.key]; ok && !e.expires.After(now) { // a key may have been put again since
			delete(w.entries, k.key)
		}
		w.order[w.head] = windowKey{}
		w.head++
	}
	if w.head > len(w.order)/2 { // each move pays for itself: half of what is copied was forgotten
		w.order = append(w.order[:0], w.order[w.head:]...)
		w.head = 0
	}
}
