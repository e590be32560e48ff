package dynamo

import (
	"context"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/holdfast/holdfast/ledger"
)

// segments is into how many parts a scan is cut.
const segments = 8

// Scan implements ledger.Store. It reads the whole table, of all sales, in
// segments and keeps what belongs to this sale and has a visitor.
func (s *Store) Scan(ctx context.Context, saleID string, v ledger.Visitor) error {
	visit := visitors(v)
	if len(visit) == 0 {
		return nil
	}
	segment := func(ctx context.Context, segment int, emit func([]item) error) error {
		e := newExpression()
		e.require(e.equal("sale", saleID))
		var kinds []string
		for kind := range visit {
			kinds = append(kinds, "begins_with("+e.name(PartitionKey)+", "+e.value(str(kind))+")")
		}
		e.require("(" + strings.Join(kinds, " OR ") + ")")
		in := &dynamodb.ScanInput{TableName: s.table, ConsistentRead: aws.Bool(true), FilterExpression: e.condition(),
			Segment: aws.Int32(int32(segment)), TotalSegments: aws.Int32(segments)}
		in.ExpressionAttributeNames, in.ExpressionAttributeValues = e.placeholders()
		return s.scan(ctx, "scan sale "+saleID, in, emit)
	}
	return fanOut(ctx, segments, segment, func(it item) error {
		r := &reader{item: it}
		pk := r.str(PartitionKey)
		kind, _, _ := strings.Cut(pk, "#")
		each := visit[kind+"#"]
		if each == nil || r.err != nil {
			return fmt.Errorf("the scan met %q, which it did not ask for", pk)
		}
		return each(it)
	})
}

func (s *Store) scan(ctx context.Context, what string, in *dynamodb.ScanInput, emit func([]item) error) error {
	for {
		var out *dynamodb.ScanOutput
		err := s.patiently(ctx, what, func() (err error) {
			out, err = s.client.Scan(ctx, in)
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

// visitors are the wanted kinds of items and what happens to each.
func visitors(v ledger.Visitor) map[string]func(item) error {
	visit := map[string]func(item) error{}
	add(visit, bookingKind, v.Booking, readBooking)
	add(visit, paymentKind, v.Payment, readPayment)
	add(visit, rosterKind, v.Roster, readRosterRow)
	addOwners(visit, claimKind, v.Candidate)
	addOwners(visit, seatKind, v.Seat)
	return visit
}

func add[T any](visit map[string]func(item) error, kind string, each func(T) error, read func(item) (T, error)) {
	if each == nil {
		return
	}
	visit[kind] = func(it item) error {
		v, err := read(it)
		if err != nil {
			return err
		}
		return each(v)
	}
}

func addOwners(visit map[string]func(item) error, kind string, each func(name, bookingID string) error) {
	if each == nil {
		return
	}
	visit[kind] = func(it item) error {
		r := &reader{item: it}
		name, owner := lastPart(r.str(PartitionKey)), r.str("bid")
		if r.err != nil {
			return r.err
		}
		return each(name, owner)
	}
}
