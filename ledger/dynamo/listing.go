package dynamo

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/holdfast/holdfast/ledger"
)

// DueHolds implements ledger.Store. Oldest first within a shard; shards mix.
func (s *Store) DueHolds(ctx context.Context, saleID string, cut time.Time, each func(bookingID string) error) error {
	return s.due(ctx, holdsDue, saleID, dueTime(cut.Add(time.Millisecond)), func(pk string) error { return each(lastPart(pk)) })
}

// OwedUndos implements ledger.Store.
func (s *Store) OwedUndos(ctx context.Context, saleID string, each func(bookingID string) error) error {
	return s.due(ctx, undosOwed, saleID, "", func(pk string) error { return each(lastPart(pk)) })
}

// DueRefunds implements ledger.Store.
func (s *Store) DueRefunds(ctx context.Context, saleID string, each func(ledger.PaymentKey) error) error {
	return s.due(ctx, refundsDue, saleID, "", func(pk string) error { return each(paymentOf(pk)) })
}

// due walks all shards of a listing, up to but not including a time unless it
// is empty, and hands on the pk of each row. Index reads are eventual.
func (s *Store) due(ctx context.Context, listing, saleID, until string, each func(pk string) error) error {
	shard := func(ctx context.Context, shard int, emit func([]item) error) error {
		e := newExpression()
		e.require(e.equal(DuePartitionKey, duePartition(listing, saleID, uint32(shard))))
		if until != "" {
			e.require(e.compare(DueSortKey, "<", str(until)))
		}
		in := &dynamodb.QueryInput{TableName: s.table, IndexName: aws.String(DueIndex), KeyConditionExpression: e.condition()}
		in.ExpressionAttributeNames, in.ExpressionAttributeValues = e.placeholders()
		return s.query(ctx, "list "+listing+" of sale "+saleID, in, emit)
	}
	return fanOut(ctx, shards, shard, func(it item) error {
		r := &reader{item: it}
		pk := r.str(PartitionKey)
		if r.err != nil {
			return r.err
		}
		return each(pk)
	})
}

// query emits every page.
func (s *Store) query(ctx context.Context, what string, in *dynamodb.QueryInput, emit func([]item) error) error {
	for {
		var out *dynamodb.QueryOutput
		err := s.patiently(ctx, what, func() (err error) {
			out, err = s.client.Query(ctx, in)
			return err
		})
		if err != nil {
			return err
		}
		if err := emit(out.Items); err != nil {
			return err
		}
		if len(out.LastEvaluatedKey) == 0 {
			return nil
		}
		in.ExclusiveStartKey = out.LastEvaluatedKey
	}
}

// rows walks the rows of one partition whose sk starts with prefix, with
// consistent reads and in their order.
func (s *Store) rows(ctx context.Context, pk, prefix string, each func(item) error) error {
	e := newExpression()
	e.require(e.equal(PartitionKey, pk))
	if prefix != "" {
		e.require("begins_with(" + e.name(SortKey) + ", " + e.value(str(prefix)) + ")")
	}
	in := &dynamodb.QueryInput{TableName: s.table, KeyConditionExpression: e.condition(), ConsistentRead: aws.Bool(true)}
	in.ExpressionAttributeNames, in.ExpressionAttributeValues = e.placeholders()
	return s.query(ctx, "list "+pk, in, func(page []item) error {
		for _, it := range page {
			if err := each(it); err != nil {
				return err
			}
		}
		return nil
	})
}
