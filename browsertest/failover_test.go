package browsertest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"testing"

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
		insist(t, func() error {
			all, err := trail(t.Context(), id)
			if err == nil && !slices.ContainsFunc(all, func(e ledger.AuditEntry) bool { return e.Action == reaper.IncidentFailover }) {
				err = fmt.Errorf("no failover in the trail of %s: %v", id, all)
			}
			return err
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
	swap(t, town.redis.Replica.Addr(), town.redis.Primary.Addr())
}

// swap makes a replica the primary of what was its primary, as FAILOVER does:
// nothing that was acknowledged is lost. It waits until the old primary follows.
func swap(t *testing.T, from, to string) {
	t.Helper()
	ctx := context.WithoutCancel(t.Context())
	old, promoted := goredis.NewClient(&goredis.Options{Addr: from}), goredis.NewClient(&goredis.Options{Addr: to})
	defer old.Close()
	defer promoted.Close()
	host, port, err := net.SplitHostPort(to)
	if err != nil {
		t.Fatal(err)
	}
	err = again(ctx, func() error {
		role, err := promoted.Do(ctx, "ROLE").Slice()
		if err != nil {
			return err
		}
		if role[0] == "master" && len(role[2].([]any)) == 1 {
			return nil
		}
		// Refused while it is under way already, or done.
		return fmt.Errorf("%s is not the primary yet: %v; FAILOVER: %w", to, role, cmp.Or(old.Do(ctx, "FAILOVER", "TO", host, port).Err(), errNotYet))
	})
	if err != nil {
		t.Fatal(err)
	}
}

var errNotYet = errors.New("begun")

// await waits for what the town does by itself.
func await(t testing.TB, what string, done func() bool) {
	t.Helper()
	insist(t, func() error {
		if done() {
			return nil
		}
		return errors.New("never came: " + what)
	})
}

// insist does something, which is safe to repeat, until it succeeds.
func insist(t testing.TB, act func() error) {
	t.Helper()
	if err := again(t.Context(), act); err != nil {
		t.Fatal(err)
	}
}

// again repeats an act until it succeeds: a busy machine's stores may be slow, and
// their refusals say to try again. The error is that of the last try.
func again(ctx context.Context, act func() error) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		err := act()
		if err == nil || rest(ctx) != nil {
			return err
		}
	}
}
