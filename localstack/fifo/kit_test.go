package fifo_test

import (
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/holdfast/holdfast/localstack/fault"
	"github.com/holdfast/holdfast/localstack/fifo"
)

// kit is a cloud under a clock that the test moves.
type kit struct {
	*fifo.Cloud
	t     testing.TB
	plan  *fault.Script
	mu    sync.Mutex
	clock time.Time
	slow  []time.Duration
	sent  int
}

const q = "orders.fifo"

// limit is the kit's limit of messages in flight.
const limit = 50

func newKit(t testing.TB, change func(*fifo.Config)) *kit {
	t.Helper()
	k := &kit{t: t, plan: &fault.Script{}, clock: time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)}
	k.Cloud = fifo.New(fifo.Options{Now: k.now, Source: rand.NewPCG(1, 2), Faults: k.plan, MaxInFlight: limit, OnSlow: func(_ fault.Point, d time.Duration) { k.slow = append(k.slow, d) }})
	k.must(k.CreateQueue(q, change))
	return k
}

func (k *kit) now() time.Time {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.clock
}

// pass moves the clock without letting the cloud look at it.
func (k *kit) pass(d time.Duration) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.clock = k.clock.Add(d)
}

func (k *kit) must(err error) {
	k.t.Helper()
	if err != nil {
		k.t.Fatal(err)
	}
}

// dedupID returns an id that was not used yet.
func (k *kit) dedupID() string {
	k.sent++
	return strconv.Itoa(k.sent)
}

// send sends bodies to a group, each under a deduplication id of its own.
func (k *kit) send(group string, bodies ...string) {
	k.t.Helper()
	for _, b := range bodies {
		_, err := k.Send(q, fifo.SendInput{Group: group, DedupID: k.dedupID(), Body: b})
		k.must(err)
	}
}

func (k *kit) receiveFrom(name string, max int) []fifo.Message {
	k.t.Helper()
	m, err := k.Receive(name, fifo.ReceiveInput{Max: max}).Answer()
	k.must(err)
	return m
}

func (k *kit) receive(max int) []fifo.Message {
	k.t.Helper()
	return k.receiveFrom(q, max)
}

// expect receives and compares the bodies, written as "1 2 3".
func (k *kit) expect(max int, want string) []fifo.Message {
	k.t.Helper()
	m := k.receive(max)
	if got := bodies(m); got != want {
		k.t.Fatalf("received %q, want %q", got, want)
	}
	return m
}

func bodies(m []fifo.Message) string {
	s := make([]string, len(m))
	for i := range m {
		s[i] = m[i].Body
	}
	return strings.Join(s, " ")
}

func visibility(d time.Duration) func(*fifo.Config) {
	return func(c *fifo.Config) { c.VisibilityTimeout = d }
}

func ptr[T any](v T) *T { return &v }
