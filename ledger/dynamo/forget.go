package dynamo

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/sale"
)

var _ ledger.Forgetter = (*Store)(nil)

// ForgetRehearsal implements ledger.Forgetter. Like a scan it reads the whole
// table; of what it meets it deletes only items that carry this sale's name.
func (s *Store) ForgetRehearsal(ctx context.Context, saleID string) (removed int, err error) {
	if !sale.IsRehearsal(saleID) {
		return 0, fmt.Errorf("sale %q is no rehearsal: its ledger is never deleted", saleID)
	}
	what := "forget rehearsal " + saleID
	segment := func(ctx context.Context, segment int, emit func([]item) error) error {
		e := newExpression()
		e.require(e.equal("sale", saleID))
		keys := e.name(PartitionKey) + ", " + e.name(SortKey)
		in := &dynamodb.ScanInput{TableName: s.table, ConsistentRead: aws.Bool(true), FilterExpression: e.condition(), ProjectionExpression: &keys,
			Segment: aws.Int32(int32(segment)), TotalSegments: aws.Int32(segments)}
		in.ExpressionAttributeNames, in.ExpressionAttributeValues = e.placeholders()
		return s.scan(ctx, what, in, emit)
	}
	var last, writes []types.WriteRequest
	collect := func(it item) error {
		r := &reader{item: it}
		k := key{r.str(PartitionKey), r.str(SortKey)}
		if r.err != nil {
			return r.err
		}
		w := types.WriteRequest{DeleteRequest: &types.DeleteRequest{Key: k.item()}}
		if k == saleKey(saleID, controlRow) {
			last = append(last, w)
		} else {
			writes = append(writes, w)
		}
		return nil
	}
	if err := fanOut(ctx, segments, segment, collect); err != nil {
		return 0, err
	}
	// These have the sale in their key alone.
	for _, pk := range []string{inboxKind + saleID, controlKind + saleID} {
		if err := s.rows(ctx, pk, "", collect); err != nil {
			return 0, err
		}
	}
	if err := s.writeAll(ctx, what, unique(writes)); err != nil {
		return 0, err
	}
	removed = len(unique(writes)) + len(unique(last))
	last = append(unique(last), types.WriteRequest{DeleteRequest: &types.DeleteRequest{Key: key{directory, saleID}.item()}})
	return removed, s.writeBatch(ctx, what, last)
}

// unique keeps the first of each key: a batch may name a row only once.
func unique(writes []types.WriteRequest) []types.WriteRequest {
	seen := make(map[string]bool, len(writes))
	var list []types.WriteRequest
	for _, w := range writes {
		r := &reader{item: w.DeleteRequest.Key}
		if k := r.str(PartitionKey) + "\x00" + r.str(SortKey); !seen[k] {
			seen[k] = true
			list = append(list, w)
		}
	}
	return list
}
