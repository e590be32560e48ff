package ingress

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/ingress/admin"
)

// checks are what an ingress can say of itself. That the queue can be reached,
// and the role of the primary, are checks of whoever wires the adapters.
func (in *Ingress) checks() []admin.Check {
	return []admin.Check{
		{Name: "ledger", Run: in.checkLedger},
		{Name: "redis", Run: in.checkRedis},
		{Name: "acknowledgement", Run: func(context.Context) error {
			if !in.metrics.acknowledging() {
				return errors.New("the replicas do not acknowledge admissions: see that every replica is connected")
			}
			return nil
		}},
	}
}

// checkLedger wants every plan to be young.
func (in *Ingress) checkLedger(ctx context.Context) error {
	if _, err := in.Ledger.Sales(ctx); err != nil {
		return fmt.Errorf("the ledger can't be read: %w", err)
	}
	if !in.plans.Complete() {
		return errors.New("the sales have not all been read")
	}
	for _, id := range in.plans.Sales() {
		if p, ok := in.plans.Plan(id); ok && !in.plans.Fresh(p) {
			return fmt.Errorf("the plan of sale %s could not be refreshed since %s", id, p.ReadAt.UTC().Format(instantLayout))
		}
	}
	return nil
}

// checkRedis asks the primary of every sale. A sale that Redis does not know is
// no fault of this process, nor is one that another build loaded, unless it sells:
// then a deployment waits here, and those who can sell it go on.
func (in *Ingress) checkRedis(ctx context.Context) error {
	for _, id := range in.plans.Sales() {
		_, err := in.Redis.Status(ctx, id, nil)
		switch {
		case errors.Is(err, admission.ErrLayout) && in.sells(id):
			return fmt.Errorf("this build can't sell %s: %w", id, err)
		case err != nil && !errors.Is(err, admission.ErrNotFound) && !errors.Is(err, admission.ErrLayout):
			return fmt.Errorf("the primary of sale %s does not answer: %w", id, err)
		}
		if err := in.checkPrimary(ctx, id); err != nil {
			return err
		}
	}
	return nil
}

// sells says whether candidates are let in now, as far as the ledger goes.
func (in *Ingress) sells(saleID string) bool {
	p, ok := in.plans.Plan(saleID)
	if !ok || !p.Open || p.Frozen {
		return false
	}
	now := in.Now().Add(p.ClockAhead)
	return !now.Before(p.Sale.OpensAt) && now.Before(p.Sale.ClosesAt)
}

// checkPrimary wants the server to be a primary with all its replicas. It is
// asked only where the adapter can tell.
func (in *Ingress) checkPrimary(ctx context.Context, saleID string) error {
	reader, ok := in.Redis.(admission.HealthReader)
	if !ok {
		return nil
	}
	h, err := reader.Health(ctx, saleID)
	switch {
	case err != nil:
		return fmt.Errorf("the primary of sale %s does not answer: %w", saleID, err)
	case h.Role != "master":
		return fmt.Errorf("the Redis of sale %s is a %s: admissions need the primary", saleID, h.Role)
	case h.ConnectedReplicas < in.Replicas:
		return fmt.Errorf("%d of %d replicas of sale %s are connected: admissions can't be acknowledged", h.ConnectedReplicas, in.Replicas, saleID)
	}
	return nil
}

// readOperatorJSON reads one JSON object strictly.
func readOperatorJSON(w http.ResponseWriter, r *http.Request, into any) error {
	d := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil && !errors.Is(err, io.EOF) {
		return invalid(Field{"body", "must be one JSON object with known fields: " + err.Error()})
	}
	if d.More() {
		return invalid(Field{"body", "must be one JSON object and nothing after it"})
	}
	return nil
}
