package load

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"
)

// Offer is what a target sells, as the public sees it.
type Offer struct {
	Levels []string
	Seated []string // those of the levels that have named seats
}

// ErrNoSale: the target answers, and does not know the sale.
var ErrNoSale = errors.New("load: the target has no such sale")

// Discover asks a target what a sale has on offer. ErrNoSale if it has no such
// sale (yet).
func Discover(ctx context.Context, base, saleID string) (Offer, error) {
	c := newClient(base, saleID, 1)
	defer c.close()
	s, err := c.public(ctx)
	var refused *statusError
	if errors.As(err, &refused) && refused.status == http.StatusNotFound {
		return Offer{}, fmt.Errorf("%w: %s at %s", ErrNoSale, saleID, base)
	}
	if err != nil {
		return Offer{}, err
	}
	o := Offer{Levels: sorted(s.States)}
	m, err := c.seats(ctx, true)
	if errors.As(err, &refused) && refused.status == http.StatusNotFound {
		return o, nil // no named seats
	}
	for _, l := range m.Plan {
		o.Seated = append(o.Seated, l.Level)
	}
	return o, err
}

// Await asks again until the target has the sale: a new one is known everywhere
// after a few seconds.
func Await(ctx context.Context, base, saleID string, within time.Duration) (Offer, error) {
	for until := time.Now().Add(within); ; {
		o, err := Discover(ctx, base, saleID)
		if err == nil && len(o.Levels) > 0 || time.Now().After(until) || !pause(ctx, 200*time.Millisecond) {
			return o, err
		}
	}
}

// Only keeps the people who may book one of the levels, and of their levels those.
func Only(people []Person, levels []string) []Person {
	var kept []Person
	for _, p := range people {
		p.Levels = slices.DeleteFunc(slices.Clone(p.Levels), func(l string) bool { return !slices.Contains(levels, l) })
		if len(p.Levels) > 0 {
			kept = append(kept, p)
		}
	}
	return kept
}

// statusError is a page that answered otherwise than 200.
type statusError struct {
	path   string
	status int
}

func (e *statusError) Error() string {
	return fmt.Sprintf("GET %s: %d %s", e.path, e.status, http.StatusText(e.status))
}
