package table

import (
	"hash/maphash"
	"sync"
	"time"
)

// tokenLife is how long a ClientRequestToken is remembered.
const tokenLife = 10 * time.Minute

// tokens remembers the client request tokens of transactions that succeeded,
// with a fingerprint of what they did.
type tokens struct {
	mu    sync.Mutex
	known map[string]uint64
	order []usedToken // by expiry
}

type usedToken struct {
	token   string
	expires time.Time
}

func newTokens() tokens { return tokens{known: map[string]uint64{}} }

// reserve claims a token before its transaction runs. done tells that the same
// transaction has succeeded before. A transaction that then fails must release.
func (t *tokens) reserve(token string, fingerprint uint64, now time.Time) (done bool, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	expired := 0
	for expired < len(t.order) && !t.order[expired].expires.After(now) {
		delete(t.known, t.order[expired].token)
		expired++
	}
	t.order = t.order[expired:]
	before, ok := t.known[token]
	if ok && before != fingerprint {
		return false, &Error{Code: CodeTokenMismatch, Message: "Request parameters do not match those of the original request"}
	}
	if !ok {
		t.known[token] = fingerprint
		t.order = append(t.order, usedToken{token, now.Add(tokenLife)})
	}
	return ok, nil
}

// release forgets the token reserved last under this name.
func (t *tokens) release(token string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.known, token)
	for i := len(t.order) - 1; i >= 0; i-- {
		if t.order[i].token == token {
			t.order = append(t.order[:i], t.order[i+1:]...)
			return
		}
	}
}

var seed = maphash.MakeSeed()

// fingerprint tells transactions apart. Maps are mixed by addition, so their
// random order does not matter.
func fingerprint(requests []writeRequest) uint64 {
	var sum uint64
	for _, r := range requests {
		sum = mix(sum, uint64(r.kind))
		for _, text := range []string{r.table, r.condition, r.update, r.returnOld} {
			sum = mix(sum, maphash.String(seed, text))
		}
		for name, attribute := range r.names {
			sum += mix(maphash.String(seed, name), maphash.String(seed, attribute))
		}
		sum = mix(sum, r.item.fingerprint())
		sum = mix(sum, r.key.fingerprint())
		sum = mix(sum, r.values.fingerprint())
	}
	return sum
}

func mix(a, b uint64) uint64 {
	x := (a ^ b>>32 ^ b<<32) * 0x9e3779b97f4a7c15
	return (x ^ x>>29) * 0xbf58476d1ce4e5b9
}

func (it Item) fingerprint() uint64 {
	sum := uint64(len(it))
	for name, v := range it {
		sum += mix(maphash.String(seed, name), v.fingerprint())
	}
	return sum
}

func (v Value) fingerprint() uint64 {
	sum := mix(uint64(v.kind)+1, maphash.String(seed, v.text))
	if v.flag {
		sum++
	}
	for _, member := range v.Members() {
		sum = mix(sum, maphash.String(seed, member))
	}
	for _, element := range v.Values() {
		sum = mix(sum, element.fingerprint())
	}
	return mix(sum, v.Attributes().fingerprint())
}
