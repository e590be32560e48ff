package seats

import (
	"bytes"
	"compress/gzip"
	"strconv"
	"sync"
	"time"

	"github.com/holdfast/holdfast/admission"
)

// Source says where a map came from.
type Source string

// The sources.
const (
	FromRedis  Source = "redis"
	FromLedger Source = "ledger" // Redis can't be read: sold and held seats as the ledger has them
)

// View is a sale's map at one version. It is immutable.
type View struct {
	Source Source

	sale    string
	nonce   string // of the chain of versions: another process has another one
	seq     int64
	gen, n  int64
	layout  *layout
	board   []seat
	holders []admission.Holder
	ahead   time.Duration // of Redis TIME before this host's clock

	once sync.Once
	body []byte // without the closing brace

	packing sync.Once
	packed  []byte // the whole document with the plan
}

// Version is what deltas chain by. It is opaque to viewers.
func (v *View) Version() string { return v.nonce + "-" + strconv.FormatInt(v.seq, 10) }

// Free says whether a seat may be chosen, as far as this map knows.
func (v *View) Free(name string) bool {
	i, ok := v.layout.at[name]
	return ok && v.board[i].state == free
}

// redisNow is Redis TIME as this process reckons it.
func (v *View) redisNow(now time.Time) time.Time { return now.Add(v.ahead) }

// snapshot is the whole map without the closing brace, built once: held and sold
// seats; every other seat of the plan is free.
func (v *View) snapshot(now time.Time) []byte {
	v.once.Do(func() {
		at := v.redisNow(now)
		b := v.seats(v.head(nil, at), all(len(v.board)), at, false)
		v.body = b[:len(b):len(b)] // whoever appends to it takes a copy
	})
	return v.body
}

func all(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}

// Document is the snapshot as it is served: with the plan if wanted, and with the
// seats of the hold or booking whose id the viewer knows.
func (v *View) Document(now time.Time, withPlan bool, own string) []byte {
	b := append(make([]byte, 0, len(v.snapshot(now))+len(v.layout.plan)+256), v.snapshot(now)...)
	if own != "" {
		b = v.own(b, own, v.redisNow(now))
	}
	if withPlan {
		b = append(b, `,"plan":`...)
		b = append(b, v.layout.plan...)
	}
	return append(b, '}', '\n')
}

// Packed is the document with the plan, as everybody gets it first, in gzip. It is
// packed once for all who ask, because a large hall's is work.
func (v *View) Packed(now time.Time) []byte {
	v.packing.Do(func() {
		var b bytes.Buffer
		z, _ := gzip.NewWriterLevel(&b, gzip.BestSpeed) // the level is one of its own
		_, _ = z.Write(v.Document(now, true, ""))       // into memory
		_ = z.Close()
		v.packed = b.Bytes()
	})
	return v.packed
}

// own appends what belongs to the id. An id that holds nothing, or no longer, has
// an empty list.
func (v *View) own(b []byte, id string, now time.Time) []byte {
	b = append(b, `,"own":{"seats":[`...)
	var left int64
	for _, h := range v.holders {
		if h.ID != id || h.Stage == admission.StageSoft && !h.Until.After(now) {
			continue
		}
		for i, name := range h.Seats {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(b, '"')
			b = append(b, name...)
			b = append(b, '"')
		}
		if h.Stage != admission.StagePaid {
			left = secondsLeft(millis(h.Until), now)
		}
	}
	b = append(b, `],"seconds_left":`...)
	b = strconv.AppendInt(b, left, 10)
	return append(b, '}')
}

// delta is what changed from the version before to this one.
func (v *View) delta(from string, list []int, now time.Time) []byte {
	at := v.redisNow(now)
	b := v.head(nil, at)
	b = append(b, `,"from":"`...)
	b = append(b, from...)
	b = append(b, '"')
	return append(v.seats(b, list, at, true), '}')
}
