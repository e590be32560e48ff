package redis

import (
	"context"
	"errors"
	"net"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/holdfast/holdfast/admission"
)

func TestSeatMap(t *testing.T) {
	b := newSeatBench(t)
	held := b.hold(b.wish("h1", "c1", "H1", "H2"), admission.Admitted)
	b.hold(b.wish("h2", "c2", "H3"), admission.Admitted)
	sold := b.promote(b.book("b2", "c2"), "h2", admission.Admitted)
	must(t, b.mustAdmit(b.req("b3", "c3")), admission.Admitted) // counted: no named seat
	m, err := b.store.Seats(b.ctx(), b.sale, []string{"H", "K"})
	if err != nil {
		t.Fatal(err)
	}
	want := []admission.Holder{
		{ID: "b2", Level: "H", Stage: admission.StageAdmitted, Until: sold.HoldUntil, Seats: []string{"H3"}},
		{ID: "h1", Level: "H", Stage: admission.StageSoft, Until: held.Until, Seats: []string{"H1", "H2"}},
	}
	byID := cmpopts.SortSlices(func(x, y admission.Holder) bool { return x.ID < y.ID })
	if diff := cmp.Diff(want, m.Holders, byID); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	g, v, err := b.store.SeatVersion(b.ctx(), b.sale)
	if err != nil || g != gen || v != m.Version || m.Gen != gen || m.Now.IsZero() {
		t.Errorf("version %d of generation %d, %v; the map says %+v", v, g, err, m)
	}
	b.expire("h1")
	if n, version, err := b.store.Lapse(b.ctx(), b.sale, "H", 5); n != 1 || version <= v || err != nil {
		t.Errorf("lapse: %d, version %d after %d, %v", n, version, v, err)
	}
}

func TestSeatMapOfNoSale(t *testing.T) {
	b := bareBench(t, pair, Config{})
	if _, err := b.store.Seats(b.ctx(), b.sale, nil); !errors.Is(err, admission.ErrNotFound) {
		t.Errorf("map: %v, want ErrNotFound", err)
	}
	if _, _, err := b.store.SeatVersion(b.ctx(), b.sale); !errors.Is(err, admission.ErrNotFound) {
		t.Errorf("version: %v, want ErrNotFound", err)
	}
	if _, err := b.store.Seats(b.ctx(), "a b", nil); !errors.Is(err, admission.ErrInvalid) {
		t.Errorf("bad name: %v, want ErrInvalid", err)
	}
}

// TestSeatMapIsOneRoundTrip counts what crosses the connection, however many seats
// are held.
func TestSeatMapIsOneRoundTrip(t *testing.T) {
	var conns countedDialer
	b := bareBench(t, pair, Config{Dialer: conns.dial})
	b.installHall(30)
	for i, seat := range numbered("H", 9) {
		b.hold(b.wish("h"+itoa(i), "c"+itoa(i+1), seat), admission.Admitted)
	}
	if _, err := b.store.Seats(b.ctx(), b.sale, []string{"H"}); err != nil {
		t.Fatal(err)
	}
	before := conns.writes.Load()
	if m, err := b.store.Seats(b.ctx(), b.sale, []string{"H"}); err != nil || len(m.Holders) != 9 {
		t.Fatalf("%d holders, %v", len(m.Holders), err)
	}
	if n := conns.writes.Load() - before; n != 1 {
		t.Errorf("%d writes for one map", n)
	}
}

// countedDialer counts the writes of all its connections.
type countedDialer struct{ writes atomic.Int64 }

func (d *countedDialer) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	c, err := (&net.Dialer{}).DialContext(ctx, network, addr)
	return &countedConn{c, d}, err
}

type countedConn struct {
	net.Conn
	d *countedDialer
}

func (c *countedConn) Write(p []byte) (int, error) {
	c.d.writes.Add(1)
	return c.Conn.Write(p)
}
