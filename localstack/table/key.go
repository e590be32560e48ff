package table

import (
	"encoding/binary"
	"hash/fnv"
	"strings"
)

// A storage key is
//
//	hash(partition key) 8 bytes | escaped partition key | escaped sort key | …
//
// so that one ordered map holds all partitions: a query is a range within a
// partition, a scan is the whole map in the order of the hash (DynamoDB's
// order, too), and a segment of a parallel scan is a range of the hash.
// Index keys end with the key of the item in its table, which makes them
// unique where index sort keys repeat.

// escape ends text with 00 01 and turns each 00 within it into 00 FF, which
// keeps the order of texts and makes no one's end the middle of another.
func escape(text string) string { return escapePrefix(text) + "\x00\x01" }

func escapePrefix(text string) string { return strings.ReplaceAll(text, "\x00", "\x00\xff") }

// sortable gives bytes that order as key values of one type do.
func (v Value) sortable() string {
	if v.kind == KindN {
		return v.decimal().sortable()
	}
	return v.text
}

// partition is the part of a storage key that all items of one partition share.
func partition(v Value) string {
	text := v.sortable()
	key := make([]byte, 8, 8+len(text)+2)
	binary.BigEndian.PutUint64(key, spread(text))
	return string(key) + escape(text)
}

// spread is FNV-1a with a finaliser (FNV's high bits are weak for short keys).
func spread(text string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(text))
	x := h.Sum64()
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	return x ^ x>>33
}

// keyRange is the storage keys from low up to, not including, high. An empty
// high has no bound.
type keyRange struct{ low, high string }

func (r keyRange) holds(key string) bool {
	return key >= r.low && (r.high == "" || key < r.high)
}

// prefixRange is every key that begins with prefix.
func prefixRange(prefix string) keyRange { return keyRange{prefix, afterPrefix(prefix)} }

// afterPrefix is the least string above all that begin with prefix.
func afterPrefix(prefix string) string {
	for i := len(prefix) - 1; i >= 0; i-- {
		if prefix[i] < 0xff {
			return prefix[:i] + string([]byte{prefix[i] + 1})
		}
	}
	return ""
}

// segmentRange is the part of the hash space that belongs to one of total
// segments of a parallel scan.
func segmentRange(segment, total int) keyRange {
	return keyRange{hashBound(segment, total), hashBound(segment+1, total)}
}

func hashBound(i, total int) string {
	if i <= 0 || i >= total {
		return ""
	}
	step := ^uint64(0) / uint64(total)
	return string(binary.BigEndian.AppendUint64(nil, step*uint64(i)))
}
