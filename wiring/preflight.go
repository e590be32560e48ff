package wiring

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/holdfast/holdfast/ledger/dynamo"
	"github.com/holdfast/holdfast/operator"
)

// Preflight is the look at this house before a sale opens.
func (h *House) Preflight() *operator.Preflight {
	return &operator.Preflight{
		Desk: h.Desk(), Prover: h.Redis, Table: tableOf{h}, Door: door{h.Config.PublicURL},
		Clocks: []operator.Clock{
			{Name: "the queue", Precision: time.Second, Now: h.Queue.ServerTime},
			{Name: "the table", Precision: time.Second, Now: h.tableTime},
		},
	}
}

func (h *House) tableTime(ctx context.Context) (time.Time, error) {
	i, err := dynamo.Inspect(ctx, h.dynamo, h.Config.AWS.Table)
	if err == nil && i.Now.IsZero() {
		err = errors.New("the table's answer has no date")
	}
	return i.Now, err
}

// tableOf says what operators have to know of the ledger's table.
type tableOf struct{ house *House }

// Inspect implements operator.Table.
func (t tableOf) Inspect(ctx context.Context) (operator.TableState, error) {
	i, err := dynamo.Inspect(ctx, t.house.dynamo, t.house.Config.AWS.Table)
	if err != nil {
		return operator.TableState{}, err
	}
	state := operator.TableState{Active: i.Active, Recoverable: i.Recoverable}
	if i.Hidden != nil {
		state.Hidden = i.Hidden.Error()
	}
	return state, nil
}

// door is the public address of the ingress.
type door struct{ base string }

// knockFor bounds a candidate's patience with a status page.
const knockFor = 10 * time.Second

// Knock implements operator.Door.
func (d door) Knock(ctx context.Context, saleID string) error {
	ctx, cancel := context.WithTimeout(ctx, knockFor)
	defer cancel()
	url := d.base + "/sales/" + saleID + "/status.json"
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	_, _ = io.Copy(io.Discard, resp.Body) // so that the connection can be used again
	_ = resp.Body.Close()                 // only read
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answers %s", url, resp.Status)
	}
	return nil
}
