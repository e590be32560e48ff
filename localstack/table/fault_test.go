package table

import (
	"errors"
	"testing"
	"time"

	"github.com/holdfast/holdfast/localstack/fault"
)

func TestFaults(t *testing.T) {
	var script fault.Script
	var slept time.Duration
	db := newTable(t, Options{Faults: &script, Sleep: func(_ fault.Point, d time.Duration) { slept += d }})
	next := func(op string, kind fault.Kind) {
		script.Once(fault.Point{Service: "dynamodb", Op: op, Resource: "main"}, fault.Verdict{Kind: kind, Delay: time.Minute})
	}
	add := func() error {
		_, err := db.UpdateItem(UpdateItemInput{TableName: "main", Key: key("a", "1"), UpdateExpression: "ADD n :1", ExpressionAttributeValues: Item{":1": Int(1)}})
		return err
	}
	for _, c := range []struct {
		kind  fault.Kind
		code  string
		cause error
		count string
	}{
		{fault.Throttle, CodeThroughput, fault.ErrThrottled, ""},
		{fault.FailBefore, CodeInternal, fault.ErrFailed, ""},
		{fault.Conflict, CodeTransactionConflict, fault.ErrConflict, ""},
		{fault.LoseAnswer, "", fault.ErrAnswerLost, "1"},
		{fault.Slow, "", nil, "2"},
		{fault.Duplicate, "", nil, "4"},
		{fault.None, "", nil, "5"},
	} {
		next("UpdateItem", c.kind)
		err := add()
		if c.code != "" {
			refused(t, err, c.code)
		}
		if !errors.Is(err, c.cause) {
			t.Errorf("%s: %v, want %v", c.kind, err, c.cause)
		}
		if got := read(t, db, "a", "1")["n"].Text(); got != c.count {
			t.Errorf("after %s n is %q, want %q", c.kind, got, c.count)
		}
	}
	if slept != time.Minute {
		t.Errorf("slept %v", slept)
	}
}

func TestTransactionFaults(t *testing.T) {
	var script fault.Script
	db := newTable(t, Options{Faults: &script})
	point := fault.Point{Op: "TransactWriteItems"}
	guarded := []TransactWriteItem{putAction(key("a", "1"), "attribute_not_exists(pk)"), addAction("b", 1)}

	script.Once(point, fault.Verdict{Kind: fault.Conflict})
	refusal := refused(t, transact(db, "", guarded...), CodeTransactionCanceled)
	if len(refusal.Reasons) != 2 || refusal.Reasons[0].Code != ReasonConflict || refusal.Reasons[1].Code != ReasonNone {
		t.Errorf("reasons %+v", refusal.Reasons)
	}
	if read(t, db, "a", "1") != nil {
		t.Error("a conflict wrote")
	}
	// What an SDK's own retry after a lost answer looks like: the second run
	// meets the first one's items.
	script.Once(point, fault.Verdict{Kind: fault.Duplicate})
	refusal = refused(t, transact(db, "", guarded...), CodeTransactionCanceled)
	if len(refusal.Reasons) != 2 || refusal.Reasons[0].Item == nil || read(t, db, "b", "1")["n"].Text() != "1" {
		t.Errorf("reasons %+v", refusal.Reasons)
	}
}

func TestPartialBatches(t *testing.T) {
	var script fault.Script
	db := newTable(t, Options{Faults: &script})
	in := BatchWriteItemInput{RequestItems: map[string][]WriteRequest{"main": {
		{PutRequest: &PutRequest{key("a", "1")}}, {PutRequest: &PutRequest{key("b", "1")}}, {PutRequest: &PutRequest{key("c", "1")}},
	}}}
	script.Once(fault.Point{Op: "BatchWriteItem"}, fault.FailEntries(0, 2))
	out, err := db.BatchWriteItem(in)
	if err != nil || len(out.UnprocessedItems["main"]) != 2 || read(t, db, "a", "1") != nil || read(t, db, "b", "1") == nil {
		t.Errorf("got %+v, %v", out, err)
	}
	script.Once(fault.Point{Op: "BatchGetItem"}, fault.FailEntries(1))
	got, err := db.BatchGetItem(BatchGetItemInput{RequestItems: map[string]KeysAndAttributes{"main": {Keys: []Item{key("b", "1"), key("a", "1")}}}})
	if err != nil || len(got.Responses["main"]) != 1 || len(got.UnprocessedKeys["main"].Keys) != 1 {
		t.Errorf("got %+v, %v", got, err)
	}
}
