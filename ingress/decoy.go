package ingress

import (
	"context"
	"crypto/rand"
	"math/big"
	mathrand "math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/holdfast/holdfast/ingress/booking"
	"github.com/holdfast/holdfast/payment"
	"github.com/holdfast/holdfast/sale"
)

// decoy answers who filled the honeypot: like a success in every byte that is
// not random, and as late as one (case H15). It admits nothing, asks nobody and
// says nothing to the log.
//
// To look like real answers it remembers a few: how long they took, and the last
// part of their payment URLs. It never repeats one: that would be somebody's
// payment page.
type decoy struct {
	// Before the first real payment of this process: URLs of the gateway's form,
	// or if it can't say, the beginning of one.
	sample   func() string
	fallback string

	mu    sync.Mutex
	took  ring[time.Duration]
	parts ring[string]
	base  string // of the newest real URL, up to its last part
}

// payURLSampler is a gateway that can say how its payment pages are addressed.
type payURLSampler interface {
	// SamplePayURL is a new URL of the form of a Session's, which is no payment's.
	SamplePayURL() string
}

func newDecoy(publicURL string, gw payment.Gateway) *decoy {
	d := &decoy{fallback: publicURL + "/pay/"}
	if s, ok := gw.(payURLSampler); ok {
		d.sample = s.SamplePayURL
	}
	return d
}

// The times of a decoy before there was any real success.
const (
	guessTook   = 30 * time.Millisecond
	guessSpread = 60 * time.Millisecond
)

// observe remembers a real success.
func (d *decoy) observe(url string, took time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.took.add(took)
	if i := strings.LastIndexByte(url, '/'); i > len("https://") {
		d.base = url[:i+1]
		d.parts.add(url[i+1:])
	}
}

// answer makes up a booking.
func (d *decoy) answer(p *booking.Plan, b *bookingBody, now time.Time) booking.Answer {
	level, ok := p.Sale.Level(b.level)
	if !ok && len(p.Sale.Levels) > 0 {
		level = p.Sale.Levels[0]
	}
	id, err := sale.NewBookingID(rand.Reader)
	if err != nil { // crypto/rand does not fail on any platform we run on
		id = strings.Repeat("0", 26)
	}
	return booking.Answer{Verdict: booking.Created, BookingID: id, State: booking.Held, Level: level.Name,
		Seats: madeUpSeats(level, b, p.Sale.MaxSeats), PaymentURL: d.url(),
		HoldUntil: now.Add(p.ClockAhead + p.Sale.Hold).Truncate(time.Millisecond)}
}

func madeUpSeats(level sale.Level, b *bookingBody, most int) []string {
	n := min(max(b.count, 1), most)
	if level.Kind == sale.KindSeated {
		if len(b.names) > 0 {
			return b.names[:min(len(b.names), most)]
		}
		return someSeats(level.Seats, n)
	}
	first := 1 + mathrand.IntN(max(level.Cap-n, 1))
	seats := make([]string, n)
	for i := range seats {
		seats[i] = level.Name + "-" + strconv.Itoa(first+i)
	}
	return seats
}

// someSeats are up to n neighbours of a seated level.
func someSeats(all []sale.Seat, n int) []string {
	n = min(n, len(all))
	first := mathrand.IntN(len(all) - n + 1)
	seats := make([]string, n)
	for i := range seats {
		seats[i] = all[first+i].Name
	}
	return seats
}

// wait returns when a real booking that began at start would have been
// answered, or when ctx ends.
func (d *decoy) wait(ctx context.Context, start time.Time, now func() time.Time) {
	d.mu.Lock()
	took, ok := d.took.pick()
	d.mu.Unlock()
	if !ok {
		took = guessTook + mathrand.N(guessSpread)
	}
	t := time.NewTimer(took - now().Sub(start))
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// url makes up a payment URL of the shape of the real ones.
func (d *decoy) url() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	like, ok := d.parts.pick()
	switch {
	case !ok && d.sample != nil:
		return d.sample()
	case !ok:
		return d.fallback + "pay_" + fresh("abcdefghijklmnopqrstuvwxyz234567", 26)
	}
	return d.base + d.remake(like)
}

// remake replaces what differs from payment to payment. A prefix such as "pay_"
// stays; every other letter or digit becomes one of its kind that real ones
// have, so that hexadecimal stays hexadecimal.
func (d *decoy) remake(like string) string {
	from := strings.LastIndexAny(like, "_-=") + 1
	pools := map[int]string{}
	for _, p := range d.parts.all() {
		for _, c := range p[min(from, len(p)):] {
			if k := kind(c); k > 0 && !strings.ContainsRune(pools[k], c) {
				pools[k] += string(c)
			}
		}
	}
	out := []byte(like[:from])
	for _, c := range []byte(like[from:]) {
		if pool := pools[kind(rune(c))]; kind(rune(c)) > 0 && pool != "" {
			out = append(out, fresh(pool, 1)...)
			continue
		}
		out = append(out, c)
	}
	return string(out)
}

func kind(c rune) int {
	switch {
	case c >= '0' && c <= '9':
		return 1
	case c >= 'a' && c <= 'z':
		return 2
	case c >= 'A' && c <= 'Z':
		return 3
	}
	return 0
}

// fresh is n random characters of an alphabet.
func fresh(alphabet string, n int) string {
	out := make([]byte, n)
	for i := range out {
		k, err := rand.Int(rand.Reader, big.NewInt(int64(len(alphabet))))
		if err != nil {
			k = big.NewInt(mathrand.Int64N(int64(len(alphabet))))
		}
		out[i] = alphabet[k.Int64()]
	}
	return string(out)
}

// ring keeps the newest values.
type ring[T any] struct {
	values [64]T
	n      int
}

func (r *ring[T]) add(v T) {
	r.values[r.n%len(r.values)] = v
	r.n++
}

func (r *ring[T]) all() []T { return r.values[:min(r.n, len(r.values))] }

// pick is one of them at random.
func (r *ring[T]) pick() (v T, ok bool) {
	all := r.all()
	if len(all) == 0 {
		return v, false
	}
	return all[mathrand.IntN(len(all))], true
}
