package dynamo

import (
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/holdfast/holdfast/ledger"
)

// action is one item's part of a transition, and how Found takes in what the
// item was; nil means absent.
type action struct {
	key   key
	write types.TransactWriteItem
	into  func(*ledger.Found, item) error
}

const oldItem = types.ReturnValuesOnConditionCheckFailureAllOld

// actions is the transition as DynamoDB writes it: what package ledger's Allows
// and Apply say in Go, in expressions. At most 3 + 1 + 10 items, far below the
// 100 of a transaction.
func (s *Store) actions(t ledger.Transition) []action {
	var all []action
	if t.Create != nil {
		e := newExpression()
		e.require(e.absent(PartitionKey))
		all = append(all, action{bookingKey(t.Create.ID), s.put(bookingItem(*t.Create), e), intoBooking})
	}
	if t.Update != nil {
		k := bookingKey(t.Update.ID)
		all = append(all, action{k, s.update(k, bookingUpdate(*t.Update, t)), intoBooking})
	}
	if t.Link != nil {
		k := bookingKey(t.Link.BookingID)
		all = append(all, action{k, s.update(k, linkUpdate(*t.Link)), intoLinked})
	}
	all = append(all, s.owners(t.Claim, s.claim)...)
	all = append(all, s.owners(t.Free, s.free)...)
	if t.Payment != nil {
		k := paymentKey(t.Payment.Key)
		all = append(all, action{k, s.update(k, paymentUpdate(*t.Payment, t)), intoPayment})
	}
	return all
}

func (s *Store) owners(o *ledger.Ownership, write func(key, ledger.Ownership) types.TransactWriteItem) []action {
	if o == nil {
		return nil
	}
	k := claimKey(o.Sale, o.Candidate)
	all := []action{{k, write(k, *o), intoCandidate}}
	for _, token := range o.Tokens {
		k := seatKey(o.Sale, token)
		all = append(all, action{k, write(k, *o), intoSeat(token)})
	}
	return all
}

func (s *Store) claim(k key, o ledger.Ownership) types.TransactWriteItem {
	e := newExpression()
	e.require(either(e.absent(PartitionKey), e.equal("bid", o.BookingID)))
	return s.put(ownerItem(k, o.Sale, o.BookingID), e)
}

func (s *Store) free(k key, o ledger.Ownership) types.TransactWriteItem {
	e := newExpression()
	e.require(e.equal("bid", o.BookingID))
	names, values := e.placeholders()
	return types.TransactWriteItem{Delete: &types.Delete{TableName: s.table, Key: k.item(), ConditionExpression: e.condition(),
		ExpressionAttributeNames: names, ExpressionAttributeValues: values, ReturnValuesOnConditionCheckFailure: oldItem}}
}

func (s *Store) put(it item, e *expression) types.TransactWriteItem {
	names, values := e.placeholders()
	return types.TransactWriteItem{Put: &types.Put{TableName: s.table, Item: it, ConditionExpression: e.condition(),
		ExpressionAttributeNames: names, ExpressionAttributeValues: values, ReturnValuesOnConditionCheckFailure: oldItem}}
}

func (s *Store) update(k key, e *expression) types.TransactWriteItem {
	names, values := e.placeholders()
	return types.TransactWriteItem{Update: &types.Update{TableName: s.table, Key: k.item(), UpdateExpression: e.update(), ConditionExpression: e.condition(),
		ExpressionAttributeNames: names, ExpressionAttributeValues: values, ReturnValuesOnConditionCheckFailure: oldItem}}
}

func intoBooking(f *ledger.Found, it item) error {
	if it == nil {
		return nil
	}
	b, err := readBooking(it)
	f.Booking = &b
	return err
}

func intoLinked(f *ledger.Found, it item) error {
	if it == nil {
		return nil
	}
	b, err := readBooking(it)
	f.Linked = &b
	return err
}

func intoCandidate(f *ledger.Found, it item) error {
	r := &reader{item: it}
	f.Candidate = r.str("bid")
	return r.err
}

func intoSeat(token string) func(*ledger.Found, item) error {
	return func(f *ledger.Found, it item) error {
		r := &reader{item: it}
		if owner := r.str("bid"); owner != "" {
			f.Seats[token] = owner
		}
		return r.err
	}
}

func intoPayment(f *ledger.Found, it item) error {
	if it == nil {
		return nil
	}
	p, err := readPayment(it)
	f.Payment = &p
	return err
}
