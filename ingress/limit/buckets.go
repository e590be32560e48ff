// Package limit bounds how often one client address or one code may ask. The
// limits are local to a process, sharded and bounded in memory: there is no
// global key that everybody has to pass (case H13). They protect the service,
// not the sale: nothing about correctness hangs on them.
package limit

import (
	"hash/maphash"
	"sync"
	"time"
)

const (
	shards   = 64
	perShard = 4096 // so at most 262,144 keys, about 50 bytes each
)

// Buckets are token buckets by key. Make them with NewBuckets; safe for
// concurrent use.
type Buckets struct {
	interval time.Duration // between tokens
	burst    time.Duration // what a full bucket is worth in time
	seed     maphash.Seed
	shards   [shards]shard
}

type shard struct {
	mu sync.Mutex
	// empty is the time at which the key's bucket will be full again: one number
	// stands for level and last use (GCRA). A key in the past is as good as absent.
	// Keys are here by their hash, under a seed that nobody outside knows: two that
	// shared one would share a limit, and a request's text is not kept.
	empty map[uint64]time.Time
}

// NewBuckets allows rate requests a second for each key, and burst at once. A
// rate of 0 or less allows everything: the result is nil, and a nil *Buckets
// works.
func NewBuckets(rate float64, burst int) *Buckets {
	if rate <= 0 {
		return nil
	}
	b := &Buckets{interval: time.Duration(float64(time.Second) / rate), seed: maphash.MakeSeed()}
	b.burst = b.interval * time.Duration(max(burst, 1))
	for i := range b.shards {
		b.shards[i].empty = make(map[uint64]time.Time)
	}
	return b
}

// Allow takes a token of the key's bucket. If there is none it takes nothing
// and says after how long there will be one.
func (b *Buckets) Allow(key string, now time.Time) (ok bool, after time.Duration) {
	if b == nil {
		return true, 0
	}
	id := maphash.String(b.seed, key)
	s := &b.shards[id%shards]
	s.mu.Lock()
	defer s.mu.Unlock()
	at := s.empty[id]
	if at.Before(now) {
		at = now
	}
	next := at.Add(b.interval)
	if over := next.Sub(now) - b.burst; over > 0 {
		return false, over
	}
	if _, known := s.empty[id]; !known && len(s.empty) >= perShard {
		s.evict(now)
	}
	s.empty[id] = next
	return true, 0
}

// evict makes room: full buckets go, they are as good as absent; if there is
// none, the one of a small sample that is closest to full. Whoever floods the
// limiter with addresses only makes it forget, it never refuses a stranger.
func (s *shard) evict(now time.Time) {
	const sample = 32
	var victim uint64
	var soonest time.Time
	n := 0
	for key, at := range s.empty {
		if at.Before(now) {
			delete(s.empty, key)
			continue
		}
		if n == 0 || at.Before(soonest) {
			victim, soonest = key, at
		}
		if n++; n == sample {
			break
		}
	}
	if len(s.empty) >= perShard {
		delete(s.empty, victim)
	}
}

// Len is how many keys are kept.
func (b *Buckets) Len() int {
	if b == nil {
		return 0
	}
	n := 0
	for i := range b.shards {
		b.shards[i].mu.Lock()
		n += len(b.shards[i].empty)
		b.shards[i].mu.Unlock()
	}
	return n
}
