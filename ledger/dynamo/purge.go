package dynamo

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/holdfast/holdfast/ledger"
)

var _ ledger.Purger = (*Store)(nil)

// purgeTries bounds how often a booking that changes meanwhile is read again.
const purgeTries = 5

// PurgeBooking implements ledger.Purger. Booking and claim change in one
// transaction, so at no moment a live booking is without its claim.
func (s *Store) PurgeBooking(ctx context.Context, bookingID string) (bool, error) {
	for range purgeTries {
		b, err := s.Booking(ctx, bookingID)
		if err != nil {
			return false, err
		}
		if !b.Personal() {
			return false, nil
		}
		err = s.patiently(ctx, "purge booking "+bookingID, func() error {
			_, err := s.client.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: s.purge(b)})
			return err
		})
		if err == nil {
			return true, nil
		}
		if !conditionFailed(reasons(err)) {
			return false, err
		}
	}
	return false, fmt.Errorf("purge booking %s: it changed each time: %w", bookingID, ledger.ErrBusy)
}

// purge is what changes of b if it is still as it was read.
func (s *Store) purge(b ledger.Booking) []types.TransactWriteItem {
	e, after := newExpression(), b.Purged()
	e.require(e.equal("st", string(b.State)))
	if b.Candidate == "" {
		e.require(e.absent("ch"))
	} else {
		e.require(e.equal("ch", b.Candidate))
		e.set("ch", str(after.Candidate))
	}
	e.remove("email_hash", "key", "input_hash")
	writes := []types.TransactWriteItem{s.update(bookingKey(b.ID), e)}
	if b.State.Live() && b.Candidate != after.Candidate {
		own := ledger.Ownership{Sale: b.Sale, BookingID: b.ID}
		writes = append(writes, s.free(claimKey(b.Sale, b.Candidate), own), s.claim(claimKey(b.Sale, after.Candidate), own))
	}
	return writes
}

// PurgeParked implements ledger.Purger.
func (s *Store) PurgeParked(ctx context.Context, saleID, id string) (bool, error) {
	e := newExpression()
	e.require(e.compare("done", "=", boolean(true)))
	e.require("attribute_exists(" + e.name("detail") + ")")
	e.remove("detail")
	in := &dynamodb.UpdateItemInput{TableName: s.table, Key: key{inboxKind + saleID, id}.item(), UpdateExpression: e.update(), ConditionExpression: e.condition()}
	in.ExpressionAttributeNames, in.ExpressionAttributeValues = e.placeholders()
	err := s.patiently(ctx, "purge parked "+id, func() error {
		_, err := s.client.UpdateItem(ctx, in)
		return err
	})
	if conditionalFailure(err) {
		return false, nil
	}
	return err == nil, err
}
