package dynamo_test

import (
	"bytes"
	"encoding/json"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdfast/holdfast/ledger/ledgertest"
	"github.com/holdfast/holdfast/localstack/fault"
	"github.com/holdfast/holdfast/localstack/table"
)

func TestStore(t *testing.T) {
	t.Parallel()
	ledgertest.Suite(t, stores(dial(t, serve(t, table.Options{}), plain, false)))
}

// TestStoreWhereFailuresBringNoItem proves the consistent read: a failed
// condition comes bare, as from some emulators (protocol.md 3.3).
func TestStoreWhereFailuresBringNoItem(t *testing.T) {
	t.Parallel()
	stripped := &stripper{}
	client := dial(t, serve(t, table.Options{}), func(next http.RoundTripper) http.RoundTripper {
		stripped.next = next
		return stripped
	}, false)
	ledgertest.Suite(t, stores(client))
	if stripped.items.Load() == 0 {
		t.Error("no failure had an item to lose: this test proves nothing")
	}
}

// TestStoreInBadWeather: one call in twenty is throttled, one transaction in
// ten meets a rival, indexes lag. The suite must not notice, though the SDK
// repeats nothing.
func TestStoreInBadWeather(t *testing.T) {
	t.Parallel()
	weather := &weather{
		calls:        fault.NewRandom(rand.NewPCG(1, 2), fault.Chance{P: 0.05, V: fault.Verdict{Kind: fault.Throttle}}),
		transactions: fault.NewRandom(rand.NewPCG(3, 4), fault.Chance{P: 0.1, V: fault.Verdict{Kind: fault.Conflict}}),
	}
	options := table.Options{Faults: weather, Lag: func(_, index string) time.Duration {
		if index == "" {
			return time.Hour // an eventually consistent read of the table is stale for the whole test
		}
		return 20 * time.Millisecond
	}}
	ledgertest.Suite(t, stores(dial(t, serve(t, options), plain, true)))
	if weather.throttled.Load() == 0 || weather.conflicts.Load() == 0 {
		t.Errorf("%d calls throttled, %d transactions refused: this test proves nothing", weather.throttled.Load(), weather.conflicts.Load())
	}
}

// weather spares the calls that make tables.
type weather struct {
	calls, transactions  fault.Plan
	throttled, conflicts atomic.Int64
}

func (w *weather) Decide(p fault.Point) fault.Verdict {
	if strings.HasSuffix(p.Op, "Table") {
		return fault.Verdict{}
	}
	if strings.HasPrefix(p.Op, "Transact") {
		if v := w.transactions.Decide(p); v.Kind != fault.None {
			w.conflicts.Add(1)
			return v
		}
	}
	v := w.calls.Decide(p)
	if v.Kind != fault.None {
		w.throttled.Add(1)
	}
	return v
}

// stripper removes the items from failed conditions.
type stripper struct {
	next  http.RoundTripper
	items atomic.Int64
}

func (s *stripper) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := s.next.RoundTrip(r)
	if err != nil || answer.StatusCode == http.StatusOK {
		return answer, err
	}
	body, err := io.ReadAll(answer.Body)
	_ = answer.Body.Close()
	if err != nil {
		return nil, err
	}
	var failure map[string]any
	if err := json.Unmarshal(body, &failure); err != nil {
		return nil, err
	}
	delete(failure, "Item")
	reasons, _ := failure["CancellationReasons"].([]any)
	for _, r := range reasons {
		if reason, _ := r.(map[string]any); reason["Item"] != nil {
			delete(reason, "Item")
			s.items.Add(1)
		}
	}
	if body, err = json.Marshal(failure); err != nil {
		return nil, err
	}
	answer.Header.Del("X-Amz-Crc32")
	answer.Header.Set("Content-Length", strconv.Itoa(len(body)))
	answer.ContentLength = int64(len(body))
	answer.Body = io.NopCloser(bytes.NewReader(body))
	return answer, nil
}
