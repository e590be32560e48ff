package dynamo

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/holdfast/holdfast/ledger"
)

// Booking implements ledger.Store.
func (s *Store) Booking(ctx context.Context, bookingID string) (ledger.Booking, error) {
	it, err := s.get(ctx, bookingKey(bookingID))
	if err != nil {
		return ledger.Booking{}, err
	}
	return readBooking(it)
}

// Payment implements ledger.Store.
func (s *Store) Payment(ctx context.Context, k ledger.PaymentKey) (ledger.PaymentRecord, error) {
	it, err := s.get(ctx, paymentKey(k))
	if err != nil {
		return ledger.PaymentRecord{}, err
	}
	return readPayment(it)
}

// CandidateBooking implements ledger.Store.
func (s *Store) CandidateBooking(ctx context.Context, saleID, candidate string) (string, error) {
	return s.owner(ctx, claimKey(saleID, candidate))
}

// SeatBooking implements ledger.Store.
func (s *Store) SeatBooking(ctx context.Context, saleID, token string) (string, error) {
	return s.owner(ctx, seatKey(saleID, token))
}

func (s *Store) owner(ctx context.Context, k key) (string, error) {
	it, err := s.get(ctx, k)
	if err != nil {
		return "", err
	}
	r := &reader{item: it}
	return r.str("bid"), r.err
}

// get is a consistent read of one row; ledger.ErrNotFound if there is none.
func (s *Store) get(ctx context.Context, k key) (item, error) {
	var it item
	err := s.patiently(ctx, "read "+k.pk, func() error {
		out, err := s.client.GetItem(ctx, &dynamodb.GetItemInput{TableName: s.table, Key: k.item(), ConsistentRead: aws.Bool(true)})
		if err == nil {
			it = out.Item
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if len(it) == 0 {
		return nil, fmt.Errorf("%s: %w", k.pk, ledger.ErrNotFound)
	}
	return it, nil
}
