package fifo_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/holdfast/holdfast/localstack/fifo"
	"pgregory.net/rapid"
)

// machine runs the same random calls on the engine and on the naive queue and compares every answer.
type machine struct {
	cloud  *fifo.Cloud
	now    time.Time
	models map[string]*naive
	past   []delivery // handles ever issued, oldest first
	sent   int
}

type delivery struct {
	queue, receipt string
	lease          naiveLease
}

func newMachine(t *rapid.T) *machine {
	m := &machine{now: time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC), models: map[string]*naive{}}
	m.cloud = fifo.New(fifo.Options{Now: func() time.Time { return m.now }, Source: rand.NewPCG(3, 4)})
	scope := rapid.Bool().Draw(t, "dedup per group")
	dead := &naive{visibility: 30 * time.Second, retention: 4 * 24 * time.Hour, attempts: map[string]naiveAttempt{}}
	m.models[dlq] = dead
	m.models[q] = &naive{
		visibility: 3 * time.Second, retention: time.Hour, maxReceives: rapid.IntRange(1, 4).Draw(t, "max receives"),
		dead: dead, groupScope: scope, attempts: map[string]naiveAttempt{},
	}
	fatal(t, m.cloud.CreateQueue(dlq, nil))
	fatal(t, m.cloud.CreateQueue(q, func(c *fifo.Config) {
		c.VisibilityTimeout, c.Retention, c.GroupScope = m.models[q].visibility, m.models[q].retention, scope
		c.Redrive = fifo.RedrivePolicy{Target: dlq, MaxReceives: m.models[q].maxReceives}
	}))
	return m
}

func fatal(t *rapid.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (m *machine) send(t *rapid.T) {
	m.sent++
	in := fifo.SendInput{
		Group:   rapid.SampledFrom([]string{"A", "B", "C"}).Draw(t, "group"),
		DedupID: fmt.Sprint(rapid.IntRange(0, 30).Draw(t, "dedup")), Body: fmt.Sprint(m.sent),
	}
	got, err := m.cloud.Send(q, in)
	fatal(t, err)
	if want := m.models[q].send(in.Group, in.DedupID, in.Body, m.now); int(got.Sequence) != want {
		t.Fatalf("sent as number %d, want %d", got.Sequence, want)
	}
}

func (m *machine) receive(t *rapid.T) {
	name := rapid.SampledFrom([]string{q, q, q, dlq}).Draw(t, "queue")
	n := m.models[name]
	in := fifo.ReceiveInput{Max: rapid.IntRange(1, 10).Draw(t, "max"), AttemptID: rapid.SampledFrom([]string{"", "", "x", "y"}).Draw(t, "attempt")}
	hide := n.visibility
	if rapid.Bool().Draw(t, "own visibility") {
		hide = time.Duration(rapid.IntRange(0, 9).Draw(t, "visibility")) * time.Second
		in.Visibility = &hide
	}
	got, err := m.cloud.Receive(name, in).Answer()
	fatal(t, err)
	want := n.receive(in.Max, hide, in.AttemptID, m.now)
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || got[i].Body != want[i].body || got[i].Receives != want[i].receives {
			t.Fatalf("received %q, want %d messages; they differ at %d", bodies(got), len(want), i)
		}
		m.past = append(m.past, delivery{name, got[i].Receipt, naiveLease{want[i].seq, want[i].tries}})
	}
	n.catchUp(m.now)
}

// handle draws a recent delivery; false: nothing was received yet.
func (m *machine) handle(t *rapid.T) (delivery, bool) {
	if len(m.past) == 0 {
		return delivery{}, false
	}
	back := rapid.IntRange(1, min(len(m.past), 15)).Draw(t, "back")
	return m.past[len(m.past)-back], true
}

func (m *machine) delete(t *rapid.T) {
	d, ok := m.handle(t)
	if !ok {
		return
	}
	n := m.models[d.queue]
	err := m.cloud.Delete(d.queue, d.receipt)
	n.catchUp(m.now)
	switch {
	case n.held(d.lease) != nil:
		n.remove(n.held(d.lease))
		fatal(t, err)
	case n.find(d.lease) == nil:
		fatal(t, err)
	case !errors.Is(err, fifo.ErrReceiptExpired):
		t.Fatalf("delete with an expired handle: %v", err)
	}
}

func (m *machine) changeVisibility(t *rapid.T) {
	d, ok := m.handle(t)
	if !ok {
		return
	}
	n := m.models[d.queue]
	hide := time.Duration(rapid.IntRange(0, 9).Draw(t, "visibility")) * time.Second
	err := m.cloud.ChangeVisibility(d.queue, d.receipt, hide)
	n.catchUp(m.now)
	held := n.held(d.lease)
	if (err == nil) != (held != nil) {
		t.Fatalf("change: %v, held: %v", err, held != nil)
	}
	if held != nil {
		held.until = m.now.Add(hide)
		n.catchUp(m.now)
	}
}

func (m *machine) pass(t *rapid.T) {
	m.now = m.now.Add(time.Duration(rapid.SampledFrom([]int{1, 1, 2, 3, 5, 40, 299, 300, 3600}).Draw(t, "seconds")) * time.Second)
}

func (m *machine) purge(t *rapid.T) {
	if rapid.IntRange(0, 9).Draw(t, "one time in ten") != 0 {
		return // more often there would be nothing left to test
	}
	fatal(t, m.cloud.Purge(q))
	n := m.models[q]
	n.messages, n.ready, n.dedup, n.attempts = nil, nil, nil, map[string]naiveAttempt{}
}

// check compares what both say of the queues, and of the future.
func (m *machine) check(t *rapid.T) {
	var next time.Time
	var some bool
	for _, name := range []string{q, dlq} {
		n := m.models[name]
		st, err := m.cloud.Stats(name)
		fatal(t, err)
		n.catchUp(m.now)
		if shown, hidden := n.counts(); st.Visible != shown || st.InFlight != hidden || st.Delayed != 0 {
			t.Fatalf("%s has %d visible and %d in flight, want %d and %d", name, st.Visible, st.InFlight, shown, hidden)
		}
		if at, ok := n.nextEvent(); ok && (!some || at.Before(next)) {
			next, some = at, true
		}
	}
	if at, ok := m.cloud.NextEvent(); ok != some || !at.Equal(next) {
		t.Fatalf("next event %v %v, want %v %v", at, ok, next, some)
	}
}

func TestEngineAgreesWithTheNaiveQueue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := newMachine(t)
		t.Repeat(map[string]func(*rapid.T){
			"send": m.send, "send2": m.send, "receive": m.receive, "receive2": m.receive, "delete": m.delete,
			"change visibility": m.changeVisibility, "pass": m.pass, "purge": m.purge, "": m.check,
		})
	})
}
