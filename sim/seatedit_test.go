package sim

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/holdfast/holdfast/operator"
	"github.com/holdfast/holdfast/sale"
)

// TestSeatEditThatAStaleReplicaLost: an operator takes a seat out of the plan, or
// puts it in, and is told that it is done. A replica is promoted that has not heard
// of it. The diff brings the edit back, whoever would have to notice otherwise.
func TestSeatEditThatAStaleReplicaLost(t *testing.T) {
	for _, drop := range []bool{true, false} {
		t.Run(fmt.Sprintf("drop %t", drop), func(t *testing.T) {
			plan := sale.Sale{Levels: []sale.Level{{Name: "A", Cap: 2}}}
			drawHall(rand.New(rand.NewPCG(1, 1)), &plan)
			if drop {
				plan = withSeat(plan, extraSeat, false)
			}
			onStageWith(t, 3, plan.Levels, func(t *testing.T, s *stage) {
				inRedis := func() bool { return slices.Contains(seatsOf(s.redis.Dump(theSale)), extraSeat) }
				s.until("a sweep has set its mark", time.Minute, func() bool { return len(s.did("ledger.NoteSweep diff")) > 0 }) // what is older than the mark freezes the sale
				edited := make(chan error, 1)
				s.operator.p.run(func(ctx context.Context) {
					edited <- s.operator.seatEdit(ctx, extraSeat, operator.By{Actor: "operator:ann", Reason: "simulated"})
				})
				s.until("the edit is done", time.Minute, func() bool { return len(edited) > 0 })
				if err := <-edited; err != nil || inRedis() == drop {
					t.Fatalf("edit: %v, the seat is in Redis: %t", err, inRedis())
				}
				s.audit.lossy = true
				for inRedis() != drop {
					s.redis.Rewind(1)
				}
				s.promote(s.health.ReplicationID)
				s.until("the plan is what Redis has", sweepEvery+slack, func() bool { return inRedis() != drop })
				if c, err := s.ledger.Control(t.Context(), theSale); err != nil || c.Gen != 1 || c.SeatSerial != 2 {
					t.Errorf("generation %d, serial %d, %v: want a repair, and no rebuild", c.Gen, c.SeatSerial, err)
				}
			})
		})
	}
}
