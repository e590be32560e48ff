package browsertest

import (
	"context"
	"fmt"
	"net"
	"slices"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/reaper"
)

// TestOperatorSeesFailover lets primary and replica change places, and back: the
// console shows it while it happens, and it stands in the trail. It runs alone,
// before all others: for a moment nobody can be admitted.
func TestOperatorSeesFailover(t *testing.T) {
	p := newTab(t)
	p.console("desk")
	const role = "[...document.querySelectorAll('#tiles div')].find(d => d.firstChild.textContent === 'Redis').lastChild.textContent"
	const failovers = "[...document.querySelectorAll('#trail tbody tr')].filter(r => r.cells[2].textContent === 'failover' && r.cells[1].textContent === 'reaper').length"
	p.await(role + " === 'master, 1 replica'")
	p.await(failovers + " === 0")

	for id := range sales { // the reaper must know what it was before
		await(t, "a sweep of "+id, func() bool {
			v, err := town.desk.View(t.Context(), id)
			return err == nil && v.Sweep != nil
		})
	}
	swap(t, town.redis.Primary.Addr(), town.redis.Replica.Addr())
	t.Cleanup(func() { swapBack(t) })
	p.await(role + ".startsWith('slave')")
	swapBack(t)
	p.await(role + " === 'master, 1 replica'")
	p.await(failovers + " >= 1")
	for id := range sales { // each sale has its own trail and its own look at Redis
		await(t, "a failover in the trail of "+id, func() bool {
			return slices.ContainsFunc(trail(t, id), func(e ledger.AuditEntry) bool { return e.Action == reaper.IncidentFailover })
		})
	}
	c := newTab(t)
	c.visitSale("desk")
	c.ask(person(18), "Late")
	c.says(held)
}

// swapBack makes the first primary the primary again; once it is, it does nothing.
func swapBack(t *testing.T) {
	t.Helper()
	c := goredis.NewClient(&goredis.Options{Addr: town.redis.Primary.Addr()})
	defer c.Close()
	role, err := c.Do(context.WithoutCancel(t.Context()), "ROLE").Slice()
	if err != nil {
		t.Error(err)
	} else if role[0] != "master" {
		swap(t, town.redis.Replica.Addr(), town.redis.Primary.Addr())
	}
}

// swap makes a replica the primary of what was its primary, as FAILOVER does:
// nothing that was acknowledged is lost.
func swap(t *testing.T, from, to string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), patience)
	defer cancel()
	c := goredis.NewClient(&goredis.Options{Addr: from})
	defer c.Close()
	host, port, err := net.SplitHostPort(to)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Do(ctx, "FAILOVER", "TO", host, port).Err(); err != nil {
		t.Fatal(err)
	}
	promoted := goredis.NewClient(&goredis.Options{Addr: to})
	defer promoted.Close()
	for {
		role, err := promoted.Do(ctx, "ROLE").Slice()
		if err == nil && role[0] == "master" && len(role[2].([]any)) == 1 {
			return
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			t.Fatal(fmt.Errorf("%s never became the primary: %v, %w", to, role, ctx.Err()))
		}
	}
}

// await waits for what the town does by itself.
func await(t *testing.T, what string, done func() bool) {
	t.Helper()
	deadline := time.After(patience)
	for !done() {
		select {
		case <-time.After(50 * time.Millisecond):
		case <-deadline:
			t.Fatalf("never came: %s", what)
		}
	}
}
