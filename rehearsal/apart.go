package rehearsal

import (
	"context"
	"fmt"
	"time"

	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/sale"
)

// Neighbour is a real sale that sells now or soon.
type Neighbour struct {
	Sale    string
	OpensAt time.Time
}

// NotApartError refuses a rehearsal beside real sales.
type NotApartError struct {
	Within     time.Duration
	Neighbours []Neighbour
}

// Error says which they are and what to do.
func (e *NotApartError) Error() string {
	n := e.Neighbours[0]
	return fmt.Sprintf("%d real sales are open now or open within %v, the first is %s (opens %s): a rehearsal shares their Redis, queue and gateway. Wait, or say --beside if that is meant",
		len(e.Neighbours), e.Within, n.Sale, n.OpensAt.UTC().Format(time.RFC3339))
}

// Controls reads the sales of a deployment.
type Controls interface {
	Sales(ctx context.Context) ([]string, error)
	Control(ctx context.Context, saleID string) (ledger.Control, error)
}

// Apart is a *NotApartError if a real sale that operators have opened sells now,
// or begins to within so long.
func Apart(ctx context.Context, from Controls, now time.Time, within time.Duration) error {
	ids, err := from.Sales(ctx)
	if err != nil {
		return fmt.Errorf("list the sales: %w", err)
	}
	refused := &NotApartError{Within: within}
	for _, id := range ids {
		if sale.IsRehearsal(id) {
			continue
		}
		c, err := from.Control(ctx, id)
		if err != nil {
			return fmt.Errorf("read sale %s: %w", id, err)
		}
		if c.Open && now.Before(c.Plan.ClosesAt) && now.Add(within).After(c.Plan.OpensAt) {
			refused.Neighbours = append(refused.Neighbours, Neighbour{id, c.Plan.OpensAt})
		}
	}
	if len(refused.Neighbours) > 0 {
		return refused
	}
	return nil
}
