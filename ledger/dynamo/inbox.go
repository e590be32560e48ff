package dynamo

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/holdfast/holdfast/ledger"
)

// Park implements ledger.Inbox.
func (s *Store) Park(ctx context.Context, it ledger.InboxItem) error {
	r := row(key{inboxKind + it.Sale, it.ID}.item())
	r.setStr("gateway", it.Payment.Gateway)
	r.setStr("pid", it.Payment.ID)
	r.setStr("reason", it.Reason)
	r.setStr("detail", it.Detail)
	r.setTime("at", it.At)
	return s.putIf(ctx, "park "+it.ID, item(r), newExpression())
}

// Parked implements ledger.Inbox.
func (s *Store) Parked(ctx context.Context, saleID string, each func(ledger.InboxItem) error) error {
	return s.rows(ctx, inboxKind+saleID, "", func(row item) error {
		r := &reader{item: row}
		it := ledger.InboxItem{
			Sale: saleID, ID: r.str(SortKey), Payment: ledger.PaymentKey{Gateway: r.str("gateway"), ID: r.str("pid")},
			Reason: r.str("reason"), Detail: r.str("detail"), At: r.time("at"),
			Done: r.boolean("done"), DoneBy: ledger.Actor(r.str("done_by")), DoneAt: r.time("done_at"),
		}
		if r.err != nil {
			return r.err
		}
		return each(it)
	})
}

// ResolveParked implements ledger.Inbox.
func (s *Store) ResolveParked(ctx context.Context, saleID, id string, actor ledger.Actor) error {
	e := newExpression()
	e.require("attribute_exists(" + e.name(PartitionKey) + ")")
	e.set("done", boolean(true))
	e.setOnce("done_by", str(string(actor)))
	e.setOnce("done_at", millis(s.now()))
	in := &dynamodb.UpdateItemInput{TableName: s.table, Key: key{inboxKind + saleID, id}.item(), UpdateExpression: e.update(), ConditionExpression: e.condition()}
	in.ExpressionAttributeNames, in.ExpressionAttributeValues = e.placeholders()
	err := s.patiently(ctx, "resolve "+id, func() error {
		_, err := s.client.UpdateItem(ctx, in)
		return err
	})
	if conditionalFailure(err) {
		return fmt.Errorf("parked item %s of sale %s: %w", id, saleID, ledger.ErrNotFound)
	}
	return err
}
