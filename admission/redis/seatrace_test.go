package redis

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/localstack/redisproc"
)

// seatRace lets clients fight for overlapping groups of few seats: {a,b}, {b,a},
// {b,c} and so on. Each goes on until it has had its group so many times.
type seatRace struct {
	b      *bench
	seats  int
	wins   int
	faults bool // calls may fail: a server is killed now and then

	held, taken, promoted, refused, lost atomic.Int64
}

func (r *seatRace) group(i int) []string {
	a, b := "H"+itoa(i%r.seats+1), "H"+itoa((i+1)%r.seats+1)
	switch i / r.seats % 3 {
	case 0:
		return []string{a, b}
	case 1:
		return []string{b, a}
	}
	return []string{a, b, "H" + itoa((i+2)%r.seats+1)}
}

// client plays one candidate; it reports how often it asked.
func (r *seatRace) client(ctx context.Context, i int) (asked int, err error) {
	c, seats := "p"+itoa(i), r.group(i)
	for won := 0; won < r.wins; asked++ {
		if ctx.Err() != nil {
			return asked, fmt.Errorf("client %d starves: %d of %d after %d requests", i, won, r.wins, asked)
		}
		hold := "h" + itoa(i) + "x" + itoa(asked)
		w := r.b.wish(hold, c, seats...)
		if r.faults {
			w.For = 300 * time.Millisecond // what nobody hears of any more frees itself
		}
		a, err := r.b.store.Hold(ctx, w)
		switch {
		case err != nil && r.faults:
			r.lost.Add(1)
			continue
		case err != nil:
			return asked, err
		case a.Outcome == admission.Taken:
			r.taken.Add(1)
			continue
		case a.Outcome == admission.Duplicate && r.faults: // a booking whose release was lost, or never heard of
			r.giveBack(ctx, a.BookingID, c)
			continue
		case a.Outcome != admission.Admitted:
			return asked, fmt.Errorf("client %d: hold: %v", i, a.Outcome)
		}
		r.held.Add(1)
		done, err := r.finish(ctx, i, hold, c, seats)
		if err != nil {
			return asked, err
		}
		if done {
			won++
		}
	}
	return asked, nil
}

// finish releases the hold, or promotes it and gives the booking back.
func (r *seatRace) finish(ctx context.Context, i int, hold, c string, seats []string) (bool, error) {
	if i%2 == 0 {
		_, err := r.b.store.Undo(ctx, admission.Undo{Sale: r.b.sale, BookingID: hold, Candidate: c, Level: "H", Mode: admission.UndoQuick, Driver: 1})
		if err != nil && !r.faults {
			return false, err
		}
		return true, nil
	}
	q := r.b.book("b"+hold, c)
	q.Key = ""
	a, err := r.b.store.Promote(ctx, q, hold)
	switch {
	case err != nil && (r.faults || errors.Is(err, admission.ErrUnacknowledged) || errors.Is(err, admission.ErrUnavailable)):
		r.refused.Add(1)
		return false, nil
	case err != nil:
		return false, err
	case a.Outcome == admission.HoldGone && r.faults: // its time was over, or a failover lost it
		return false, nil
	case r.faults && a.Outcome == admission.Dead: // an attempt that was not heard of ran, and was undone
		return false, nil
	case !admitted(a):
		return false, fmt.Errorf("client %d: promote: %v", i, a.Outcome)
	case !slices.Equal(a.Tokens, seats):
		return false, fmt.Errorf("client %d: promoted to %v, held %v", i, a.Tokens, seats)
	}
	r.promoted.Add(1)
	return true, r.settle(ctx, q.BookingID, c, seats)
}

// settle looks for an acknowledged booking, whatever has failed meanwhile, and
// gives it back.
func (r *seatRace) settle(ctx context.Context, bid, c string, seats []string) error {
	for {
		rec, err := r.b.store.Record(ctx, r.b.sale, bid)
		if errors.Is(err, admission.ErrNotFound) || err == nil && !slices.Equal(rec.Tokens, seats) {
			return fmt.Errorf("booking %s was acknowledged with %v, now it has %v (%v)", bid, seats, rec.Tokens, err)
		}
		if err == nil || ctx.Err() != nil {
			break
		}
	}
	r.giveBack(ctx, bid, c)
	return nil
}

// giveBack releases a booking as a sweep would: until every replica has it.
func (r *seatRace) giveBack(ctx context.Context, bid, c string) {
	for ctx.Err() == nil {
		a, err := r.b.store.Undo(ctx, admission.Undo{Sale: r.b.sale, BookingID: bid, Candidate: c, Level: "H", Mode: admission.UndoAbort})
		if err == nil && a.Acknowledged {
			return
		}
		r.lost.Add(1)
	}
}

// probe reads records, seats and free tokens in one transaction: each seat has one
// owner, and each group is whole.
func (b *bench) probe(ctx context.Context) error {
	p := b.admin.TxPipeline()
	homes, seats, free := [2]*goredis.MapStringStringCmd{p.HGetAll(ctx, b.k.pending()), p.HGetAll(ctx, b.k.bk())}, p.HGetAll(ctx, b.k.seat()), p.ZRange(ctx, b.k.free("H"), 0, -1)
	seen, used := p.HGetAll(ctx, b.k.seen()), p.Get(ctx, b.k.level("H"))
	if _, err := p.Exec(ctx); err != nil && !errors.Is(err, goredis.Nil) {
		return nil // the server is down: nothing to see
	}
	owned, records := 0, maps.Clone(homes[0].Val())
	maps.Copy(records, homes[1].Val())
	for id, raw := range records {
		rec, err := unpackRecord(id, raw)
		if err != nil {
			return err
		}
		if seen.Val()[rec.Candidate] != id {
			return fmt.Errorf("%s of %s is not its booking", id, rec.Candidate)
		}
		for _, s := range rec.Tokens {
			if o := seats.Val()[s]; o != id {
				return fmt.Errorf("%s names seat %s, whose owner is %q: half a group", id, s, o)
			}
		}
		owned += len(rec.Tokens)
	}
	for _, s := range free.Val() {
		if o, ok := seats.Val()[s]; ok {
			return fmt.Errorf("seat %s is free and %s's", s, o)
		}
	}
	if len(seats.Val()) != owned || owned+len(free.Val()) != hallSeats || len(seen.Val()) != len(records) || owned > 0 && used.Val() != itoa(owned) {
		return fmt.Errorf("%d seats in records, %d with an owner, %d free, %s counted; %d records of %d candidates",
			owned, len(seats.Val()), len(free.Val()), used.Val(), len(records), len(seen.Val()))
	}
	return nil
}

const hallSeats = 20

// run plays the race with the given number of clients and probes all the while.
func (r *seatRace) run(t *testing.T, clients int) (probes int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 6*time.Minute) // what one core takes for it, and more
	defer cancel()
	var roster []string
	for i := range clients {
		roster = append(roster, "p"+itoa(i))
	}
	r.b.roster(roster...)
	stop, probed := make(chan struct{}), make(chan error, 1)
	go func() {
		for {
			select {
			case <-stop:
				probed <- nil
				return
			default:
			}
			if err := r.b.probe(ctx); err != nil {
				probed <- fmt.Errorf("probe %d: %w", probes, err)
				cancel()
				return
			}
			probes++
		}
	}()
	var wg sync.WaitGroup
	var most atomic.Int64
	for i := range clients {
		wg.Go(func() {
			asked, err := r.client(ctx, i)
			if err != nil {
				t.Error(err)
			}
			for m := most.Load(); int64(asked) > m && !most.CompareAndSwap(m, int64(asked)); m = most.Load() {
			}
		})
	}
	wg.Wait()
	close(stop)
	if err := <-probed; err != nil {
		t.Error(err)
	}
	t.Logf("%d clients: %d holds, %d taken, %d promoted, %d promotions refused, %d answers lost, %d probes, at most %d requests of one client",
		clients, r.held.Load(), r.taken.Load(), r.promoted.Load(), r.refused.Load(), r.lost.Load(), probes, most.Load())
	return probes
}

// TestRaceForOverlappingGroups: every seat has one owner at every probe, no group
// is ever half held, nobody starves.
func TestRaceForOverlappingGroups(t *testing.T) {
	b := newSeatBench(t)
	r := &seatRace{b: b, seats: 20, wins: 3}
	if probes := r.run(t, 200); probes == 0 {
		t.Error("nobody looked")
	}
	b.sound()
	if n := b.admin.HLen(b.ctx(), b.k.bk()).Val(); n != 0 {
		t.Errorf("%d records are left", n)
	}
}

// TestRaceForGroupsUnderFailovers kills the primary again and again. What a
// failover loses are holds; what was acknowledged stays.
func TestRaceForGroupsUnderFailovers(t *testing.T) {
	p := redisproc.TestPair(t)
	var primary atomic.Value
	primary.Store(p.Primary.Addr())
	dial := func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, primary.Load().(string))
	}
	b := bareBench(t, p, Config{Dialer: dial, WaitTimeout: 40 * time.Millisecond})
	b.admin = goredis.NewClient(&goredis.Options{Addr: "primary:1", Dialer: dial, MaxRetries: -1, DialTimeout: time.Second})
	t.Cleanup(func() { b.admin.Close() })
	b.installHall(30)
	r := &seatRace{b: b, seats: 12, wins: 6, faults: true}

	stop, done := make(chan struct{}), make(chan error, 1)
	go func() { done <- failovers(t, b, p, &primary, stop) }()
	probes := r.run(t, 60)
	close(stop)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if probes == 0 {
		t.Error("nobody looked")
	}
	b.sound()
}

// failovers kills the primary, promotes its replica and gives it a new one,
// until the race is over.
func failovers(t *testing.T, b *bench, p *redisproc.Pair, primary *atomic.Value, stop chan struct{}) error {
	old, next := p.Primary, p.Replica
	for n := 0; ; n++ {
		select {
		case <-stop:
			t.Logf("%d failovers", n)
			if n == 0 {
				return errors.New("the race was over before the first failover")
			}
			return nil
		default:
		}
		if err := old.Kill(); err != nil {
			return err
		}
		c := goredis.NewClient(&goredis.Options{Addr: next.Addr()})
		err := c.Do(b.ctx(), "replicaof", "no", "one").Err()
		c.Close()
		if err != nil {
			return err
		}
		primary.Store(next.Addr())
		replica := redisproc.Test(t, redisproc.Options{ReplicaOf: next.Addr()})
		if err := redisproc.AwaitReplicas(b.ctx(), next.Addr(), 1); err != nil {
			return err
		}
		if err := awaitPromotions(b, stop); err != nil {
			return err
		}
		old, next = next, replica
	}
}

// awaitPromotions lets the sale go on for a while: until a few changes were made.
func awaitPromotions(b *bench, stop chan struct{}) error {
	ctx := b.ctx()
	var from int64
	for {
		_, now, err := b.store.SeatVersion(ctx, b.sale)
		switch {
		case ctx.Err() != nil:
			return fmt.Errorf("the sale does not go on: %w", err)
		case err == nil && from == 0:
			from = now
		case err == nil && now > from+60:
			return nil
		}
		select {
		case <-stop:
			return nil
		default:
		}
	}
}

// TestSeatsOnACluster: every multi-seat script declares its keys, and sales spread
// over the nodes.
func TestSeatsOnACluster(t *testing.T) {
	b := bareBench(t, pair, Config{})
	cl, err := redisproc.StartCluster(b.ctx(), 3, true)
	if err != nil {
		t.Fatal(err)
	}
	redisproc.StopAfter(t, append(append([]*redisproc.Server{}, cl.Primaries...), cl.Replicas...)...)
	store, err := Open(Config{Addrs: cl.Addrs(), Cluster: true, Replicas: 1, WaitTimeout: 1500 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	b.store = store
	nodes := map[string]int{}
	for i := range 9 {
		b.sale = "hall" + itoa(i)
		b.k = saleKeys(b.sale)
		b.installHall(30)
		b.hold(b.wish("h1", "c1", numbered("H", 10)...), admission.Admitted)
		b.hold(b.wish("h2", "c2", "H10", "H11"), admission.Taken)
		b.hold(b.wish("h3", "c1", "H9", "H11"), admission.Admitted)
		k := b.wish("h3", "c1", "K1")
		k.Level, k.Change = "K", true
		b.hold(k, admission.Admitted)
		if a, err := store.Extend(b.ctx(), admission.Extension{Sale: b.sale, HoldID: "h3", Level: "H", Gen: gen, For: time.Minute, Max: time.Hour}); err != nil || a.Outcome != admission.Admitted {
			t.Fatalf("extend: %+v, %v", a, err)
		}
		b.promote(b.book("b1", "c1"), "h3", admission.Admitted)
		if _, _, err := store.Lapse(b.ctx(), b.sale, "H", 10); err != nil {
			t.Fatal(err)
		}
		m, err := store.Seats(b.ctx(), b.sale, []string{"H", "K"})
		if err != nil || len(m.Holders) != 1 || !slices.Equal(m.Holders[0].Seats, []string{"K1"}) {
			t.Fatalf("seats: %+v, %v", m, err)
		}
		c, err := store.pin(b.ctx(), b.k.cfg())
		if err != nil {
			t.Fatal(err)
		}
		id, err := c.Do(b.ctx(), "cluster", "myid").Text()
		if err != nil {
			t.Fatal(err)
		}
		c.Close()
		nodes[strings.TrimSpace(id)]++
	}
	if len(nodes) < 2 {
		t.Errorf("nine sales live on %d nodes", len(nodes))
	}
}
