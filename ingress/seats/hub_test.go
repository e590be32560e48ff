package seats_test

import (
	"bytes"
	"log/slog"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/admission/admissiontest"
	"github.com/holdfast/holdfast/ingress/booking"
	"github.com/holdfast/holdfast/ingress/seats"
	"github.com/holdfast/holdfast/localstack/leak"
	"github.com/holdfast/holdfast/sale"
)

func TestMain(m *testing.M) { leak.Main(m) }

// town is a hub over a hall of so many seats.
type town struct {
	testing.TB
	hub   *seats.Hub
	redis *admissiontest.Redis
	plan  *booking.Plan

	mu  sync.Mutex
	now time.Time
}

func (w *town) Now() time.Time { w.mu.Lock(); defer w.mu.Unlock(); return w.now }

func (w *town) advance(d time.Duration) { w.mu.Lock(); w.now = w.now.Add(d); w.mu.Unlock() }

func (w *town) Plan(string) (*booking.Plan, bool) { return w.plan, true }

func (w *town) Sales() []string { return []string{"hall"} }

func newTown(t testing.TB, n int) *town {
	t.Helper()
	w := &town{TB: t, now: time.Date(2026, 5, 1, 9, 0, 0, 0, time.UTC)}
	l := sale.Level{Name: "Hall", Kind: sale.KindSeated, Cap: n}
	tokens := make([]string, n)
	var rows []admission.RosterEntry
	for i := range n {
		tokens[i] = "S" + strconv.Itoa(i)
		l.Seats = append(l.Seats, sale.Seat{Name: tokens[i], Section: "Stalls", Row: "R" + strconv.Itoa(i/100), Score: i + 1, Run: i/30 + 1})
		rows = append(rows, admission.RosterEntry{Candidate: "c" + strconv.Itoa(i), EmailHash: "aaaaaaaaaaaaaaaa"})
	}
	s := sale.Sale{ID: "hall", Levels: []sale.Level{l}, Price: sale.Money{AmountMinor: 1, Currency: "EUR"}}
	w.plan = &booking.Plan{Sale: s, Gen: 1, Halls: sale.Halls(s, nil)}
	w.redis = admissiontest.New(w.Now)
	err := w.redis.Install(t.Context(), admission.Plan{Sale: "hall", Gen: 1, OpensAt: w.now.Add(-time.Hour), ClosesAt: w.now.Add(time.Hour), Hold: time.Minute,
		TotalCap: n, Open: true, RosterVersion: "r", Levels: []admission.LevelPlan{{Name: "Hall", Kind: "s", Cap: n, Next: 1, Tokens: tokens}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.redis.PutRoster(t.Context(), "hall", rows); err != nil {
		t.Fatal(err)
	}
	w.hub = seats.New(seats.Options{Plans: w, Redis: w.redis, Soft: w.redis, Now: w.Now, Log: slog.New(slog.DiscardHandler)})
	return w
}

func (w *town) hold(i int) {
	w.Helper()
	a, err := w.redis.Hold(w.Context(), admission.HoldRequest{Sale: "hall", HoldID: "h" + strconv.Itoa(i) + "-" + strconv.FormatInt(w.Now().UnixMilli(), 10),
		Candidate: "c" + strconv.Itoa(i), Level: "Hall", Gen: 1, EmailHash: "aaaaaaaaaaaaaaaa", Currency: "EUR", Seats: []string{"S" + strconv.Itoa(i)}, For: time.Minute, Max: time.Minute})
	if err != nil || a.Outcome != admission.Admitted {
		w.Fatalf("hold %d: %v, %v", i, a.Outcome, err)
	}
}

// A thousand viewers cost Redis as much as one.
func TestAThousandViewersAreOneReading(t *testing.T) {
	w := newTown(t, 60)
	var all []*seats.Stream
	for range 1000 {
		s, err := w.hub.Subscribe(t.Context(), w.plan, "")
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, s)
	}
	reads := func() int { return w.redis.Calls("Seats") + w.redis.Calls("SeatVersion") }
	before := reads()
	w.hold(7)
	w.hub.Poll(t.Context(), false)
	if n := reads() - before; n != 2 {
		t.Errorf("%d readings for a thousand viewers", n)
	}
	first := []byte{}
	for i, s := range all {
		<-s.Events()
		delta := <-s.Events()
		if i == 0 {
			first = delta
		}
		if !bytes.Equal(delta, first) || !bytes.Contains(delta, []byte(`"held":{"S7":60}`)) {
			t.Fatalf("viewer %d got %s", i, delta)
		}
		s.Close()
		s.Close()
	}
	if n := w.hub.Watching(); n != 0 {
		t.Errorf("%d viewers are left", n)
	}
}

// A viewer who reads nothing is let go, and holds up nobody; it comes back with
// the version that it has.
func TestASlowViewerIsLetGo(t *testing.T) {
	w := newTown(t, 200)
	slow, err := w.hub.Subscribe(t.Context(), w.plan, "")
	if err != nil {
		t.Fatal(err)
	}
	for i := range 100 {
		w.hold(i)
		w.advance(time.Second)
		w.hub.Poll(t.Context(), false)
	}
	n := 0
	for range slow.Events() { // ends: it was closed
		n++
	}
	if n == 0 || n > 65 {
		t.Errorf("%d events were queued for somebody who takes none", n)
	}
	slow.Close()
	if w.hub.Watching() != 0 {
		t.Error("a viewer that was let go is counted")
	}
}

// Deltas from any version on lead to the snapshot that a new viewer gets.
func TestDeltasLeadToTheSnapshot(t *testing.T) {
	w := newTown(t, 100)
	v, err := w.hub.View(t.Context(), w.plan)
	if err != nil {
		t.Fatal(err)
	}
	versions := []string{v.Version()}
	for i := range 20 {
		w.hold(i)
		w.advance(4 * time.Second)
		if v, err = w.hub.View(t.Context(), w.plan); err != nil {
			t.Fatal(err)
		}
		versions = append(versions, v.Version())
	}
	if len(slices.Compact(slices.Clone(versions))) != len(versions) {
		t.Fatalf("a version twice: %v", versions)
	}
	for i, from := range versions {
		s, err := w.hub.Subscribe(t.Context(), w.plan, from)
		if err != nil {
			t.Fatal(err)
		}
		for want := i + 1; want < len(versions); want++ {
			e := <-s.Events()
			if !bytes.Contains(e, []byte("event: delta\nid: "+versions[want]+"\n")) || !bytes.Contains(e, []byte(`"from":"`+versions[want-1]+`"`)) {
				t.Fatalf("from %s: %s", from, e)
			}
		}
		select {
		case e := <-s.Events():
			t.Errorf("from %s: one too many: %s", from, e)
		default:
		}
		s.Close()
	}
}

func TestViewersAreBounded(t *testing.T) {
	w := newTown(t, 10)
	w.hub.Viewers = 1
	s, err := w.hub.Subscribe(t.Context(), w.plan, "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.hub.Subscribe(t.Context(), w.plan, ""); err == nil {
		t.Error("one viewer too many")
	}
	w.hub.Close()
	<-s.Events()
	if _, open := <-s.Events(); open {
		t.Error("the stream goes on after the hub has closed")
	}
	s.Close()
	if _, err := w.hub.Subscribe(t.Context(), w.plan, ""); err == nil {
		t.Error("a viewer of a hub that is closed")
	}
}

// BenchmarkChurn is one pass over 20,700 seats with 1,000 viewers: a hold, a
// reading, a delta for everybody.
func BenchmarkChurn(b *testing.B) {
	w := newTown(b, 20_700)
	for range 1000 {
		s, err := w.hub.Subscribe(b.Context(), w.plan, "")
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(s.Close)
		go func() {
			for range s.Events() {
			}
		}()
	}
	for i := range 5000 {
		w.hold(2 * i)
	}
	i := 1
	for b.Loop() {
		w.hold(i % 20_000)
		i += 2
		w.hub.Poll(b.Context(), false)
	}
}
