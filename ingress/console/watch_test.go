package console

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/ledger/ledgertest"
)

// watched is a desk that is only looked at.
type watched struct {
	Desk
	view string
}

func (d watched) Status(context.Context, string) (any, error) { return json.RawMessage(d.view), nil }
func (watched) Drift(context.Context, string) (any, error)    { return map[string]int{"open": 2}, nil }
func (watched) Health(context.Context, string) (admission.Health, error) {
	return admission.Health{Role: "master", ReplicaLagBytes: 7}, nil
}
func (watched) Minutes(ctx context.Context, saleID string, since time.Time, each func(ledger.Minute) error) error {
	return ledgertest.NewStore(time.Now).Minutes(ctx, saleID, since, each)
}

// hear is the first state that a page is told.
func (w *watch) hear(t *testing.T) (s state) {
	t.Helper()
	states, _ := w.join(t.Context())
	defer w.leave(states)
	if err := json.Unmarshal(<-states, &s); err != nil {
		t.Fatal(err)
	}
	return s
}

// TestOneStateHasEverything: what a page is told in one event, and each level in
// the chart beside all of them.
func TestOneStateHasEverything(t *testing.T) {
	at := time.Date(2026, 5, 1, 8, 0, 0, 0, time.UTC)
	const view = `{"levels":[{"level":"N1","cap":10,"held":2,"paid":3,"pending":1,"free":5,"soft":0},{"level":"N2","cap":4,"free":4}],"total":{"level":"total","cap":12,"held":2,"paid":3,"pending":1,"free":7},"oldest_hold_seconds":9}`
	c := &Console{Options: Options{Desk: watched{view: view}, Now: func() time.Time { return at }}, watches: map[string]*watch{}, ended: make(chan struct{})}
	defer c.Close()
	w := c.watch("spring")
	w.tell(w.read(t.Context()))
	want := []point{{At: at.UnixMilli(), Levels: map[string]seats{"": {12, 2, 3, 1, 7}, "N1": {10, 2, 3, 1, 5}, "N2": {4, 0, 0, 0, 4}}}}
	if diff := cmp.Diff(want, w.points); diff != "" {
		t.Errorf("the chart (-want +got):\n%s", diff)
	}
	body, err := json.Marshal(w.read(t.Context()))
	if err != nil {
		t.Fatal(err)
	}
	var doc map[string]any
	if err := json.Unmarshal(body, &doc); err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"view", "figures", "redis", "drift", "point"} {
		if doc[part] == nil {
			t.Errorf("a state without %s: %s", part, body)
		}
	}
	for took, want := range map[time.Duration]time.Duration{0: time.Second, 50 * time.Millisecond: 950 * time.Millisecond, 800 * time.Millisecond: 8 * time.Second} {
		if rest := restAfter(took); rest != want {
			t.Errorf("after a reading of %v the next begins in %v, want %v", took, rest, want)
		}
	}
	c.Desk = watched{view: `"no view"`}
	if s := w.read(t.Context()); s.Point != nil {
		t.Errorf("a point of nothing: %+v", s.Point)
	}
	c.Desk = watched{view: view}
	if told := w.hear(t); told.Next <= 0 || told.Point == nil {
		t.Errorf("a page is told that the next comes in %d ms, point %v", told.Next, told.Point)
	}
}
