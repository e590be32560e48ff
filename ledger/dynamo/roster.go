package dynamo

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"golang.org/x/sync/errgroup"

	"github.com/holdfast/holdfast/ledger"
)

// batch is the most that one BatchWriteItem takes; writers is how many of them
// are under way.
const (
	batch   = 25
	writers = 8
)

// PutRoster implements ledger.RosterStore.
func (s *Store) PutRoster(ctx context.Context, saleID string, rows []ledger.RosterRow) error {
	last := make(map[string]ledger.RosterRow, len(rows)) // a batch may name a row only once
	for _, r := range rows {
		last[r.Candidate] = r
	}
	writes := make([]types.WriteRequest, 0, len(last))
	for _, r := range last {
		it := row(rosterKey(saleID, r.Candidate).item())
		it["sale"] = str(saleID)
		it.setStr("email_hash", r.EmailHash)
		if len(r.Levels) > 0 {
			it["levels"] = list(r.Levels, str)
		}
		writes = append(writes, types.WriteRequest{PutRequest: &types.PutRequest{Item: item(it)}})
	}
	return s.writeAll(ctx, "put the roster of sale "+saleID, writes)
}

// DropRoster implements ledger.RosterStore.
func (s *Store) DropRoster(ctx context.Context, saleID string, candidates []string) error {
	once := make(map[string]bool, len(candidates))
	for _, c := range candidates {
		once[c] = true
	}
	var writes []types.WriteRequest
	for c := range maps.Keys(once) {
		writes = append(writes, types.WriteRequest{DeleteRequest: &types.DeleteRequest{Key: rosterKey(saleID, c).item()}})
	}
	return s.writeAll(ctx, "cut the roster of sale "+saleID, writes)
}

func readRosterRow(it item) (ledger.RosterRow, error) {
	r := &reader{item: it}
	row := ledger.RosterRow{Candidate: lastPart(r.str(PartitionKey)), EmailHash: r.str("email_hash")}
	r.each("levels", func(l *reader) { row.Levels = append(row.Levels, l.str("")) })
	return row, r.err
}

// writeAll writes in batches, several at once.
func (s *Store) writeAll(ctx context.Context, what string, writes []types.WriteRequest) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(writers)
	for some := range slices.Chunk(writes, batch) {
		g.Go(func() error { return s.writeBatch(ctx, what, some) })
	}
	return g.Wait()
}

// writeBatch repeats what the table left unprocessed. That is throttling by
// another name, so patience begins anew with each row that was written.
func (s *Store) writeBatch(ctx context.Context, what string, left []types.WriteRequest) error {
	for idle := 0; len(left) > 0; {
		var out *dynamodb.BatchWriteItemOutput
		err := s.patiently(ctx, what, func() (err error) {
			out, err = s.client.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{*s.table: left}})
			return err
		})
		if err != nil {
			return err
		}
		rest := out.UnprocessedItems[*s.table]
		if len(rest) == 0 {
			return nil
		}
		idle++
		if len(rest) < len(left) {
			idle = 1
		}
		if idle == patience {
			return fmt.Errorf("%s: %d rows are not written: %w", what, len(rest), ledger.ErrBusy)
		}
		left = rest
		if err := s.pause(ctx, backoff(idle)); err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
	}
	return nil
}
