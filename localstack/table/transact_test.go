package table

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func putAction(item Item, condition string) TransactWriteItem {
	return TransactWriteItem{Put: &Put{TableName: "main", Item: item, ConditionExpression: condition, ReturnValuesOnConditionCheckFailure: "ALL_OLD"}}
}

func addAction(pk string, n int64) TransactWriteItem {
	return TransactWriteItem{Update: &Update{TableName: "main", Key: key(pk, "1"), UpdateExpression: "ADD n :n", ExpressionAttributeValues: Item{":n": Int(n)}}}
}

func transact(db *DB, token string, actions ...TransactWriteItem) error {
	_, err := db.TransactWriteItems(TransactWriteItemsInput{TransactItems: actions, ClientRequestToken: token})
	return err
}

func TestTransactionReasonsAreInOrder(t *testing.T) {
	db := newTable(t, Options{})
	present := key("a", "1").with("v", Int(1))
	put(t, db, present)
	err := transact(db, "",
		putAction(key("new", "1"), "attribute_not_exists(pk)"),
		putAction(key("a", "1"), "attribute_not_exists(pk)"),
		TransactWriteItem{ConditionCheck: &ConditionCheck{TableName: "main", Key: key("gone", "1"), ConditionExpression: "attribute_exists(pk)", ReturnValuesOnConditionCheckFailure: "ALL_OLD"}},
		TransactWriteItem{Update: &Update{TableName: "main", Key: key("b", "1"), UpdateExpression: "SET x = nothing + :1", ExpressionAttributeValues: Item{":1": Int(1)}}},
		TransactWriteItem{Delete: &Delete{TableName: "main", Key: key("c", "1")}},
	)
	refusal := refused(t, err, CodeTransactionCanceled)
	want := []Reason{
		{Code: ReasonNone},
		{Code: ReasonConditionFailed, Message: "The conditional request failed", Item: present},
		{Code: ReasonConditionFailed, Message: "The conditional request failed"},
		{Code: ReasonValidation, Message: noAttribute.Message},
		{Code: ReasonNone},
	}
	if diff := cmp.Diff(want, refusal.Reasons); diff != "" {
		t.Error(diff)
	}
	if refusal.Message != "Transaction cancelled, please refer cancellation reasons for specific reasons [None, ConditionalCheckFailed, ConditionalCheckFailed, ValidationError, None]" {
		t.Errorf("message %q", refusal.Message)
	}
	if read(t, db, "new", "1") != nil {
		t.Error("a cancelled transaction wrote")
	}
}

func TestTransactionToken(t *testing.T) {
	now := newClock()
	db := newTable(t, Options{Now: now.Now})
	count := func() string { return read(t, db, "a", "1")["n"].Text() }
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(transact(db, "tok", addAction("a", 1)))
	must(transact(db, "tok", addAction("a", 1)))
	if count() != "1" {
		t.Errorf("the same token was applied twice: %s", count())
	}
	refused(t, transact(db, "tok", addAction("a", 2)), CodeTokenMismatch)
	now.Advance(10*time.Minute - time.Second)
	must(transact(db, "tok", addAction("a", 1)))
	now.Advance(time.Second)
	must(transact(db, "tok", addAction("a", 1)))
	if count() != "2" {
		t.Errorf("after ten minutes the token must be forgotten: %s", count())
	}

	guarded := putAction(key("b", "1"), "attribute_not_exists(pk)")
	put(t, db, key("b", "1"))
	refused(t, transact(db, "tok2", guarded), CodeTransactionCanceled)
	if _, err := db.DeleteItem(DeleteItemInput{TableName: "main", Key: key("b", "1")}); err != nil {
		t.Fatal(err)
	}
	must(transact(db, "tok2", guarded)) // the token of a cancelled one is free
	if read(t, db, "b", "1") == nil {
		t.Error("the transaction after a cancelled one had no effect")
	}
	must(transact(db, "tok2", guarded))
	refused(t, transact(db, "a token of more than thirty-six characters", guarded), CodeValidation)
}

func TestTransactionLimits(t *testing.T) {
	db := newTable(t, Options{})
	var many []TransactWriteItem
	for i := range 101 {
		many = append(many, putAction(key(fmt.Sprint(i), "1"), ""))
	}
	refused(t, transact(db, "", many...), CodeValidation)
	if err := transact(db, "", many[:100]...); err != nil {
		t.Errorf("100 actions: %v", err)
	}
	refused(t, transact(db, ""), CodeValidation)
	refused(t, transact(db, "", putAction(key("x", "1"), ""), addAction("x", 1)), CodeValidation)
	refused(t, transact(db, "", TransactWriteItem{}), CodeValidation)
	refused(t, transact(db, "", TransactWriteItem{Put: many[0].Put, Delete: &Delete{TableName: "main", Key: key("x", "1")}}), CodeValidation)
	refused(t, transact(db, "", TransactWriteItem{ConditionCheck: &ConditionCheck{TableName: "main", Key: key("x", "1")}}), CodeValidation)
	refused(t, transact(db, "", TransactWriteItem{Update: &Update{TableName: "main", Key: key("x", "1")}}), CodeValidation)
	var large []TransactWriteItem
	for i := range 11 {
		large = append(large, putAction(key(fmt.Sprint("l", i), "1").with("x", S(string(make([]byte, 390<<10)))), ""))
	}
	refused(t, transact(db, "", large...), CodeValidation)
	if read(t, db, "l0", "1") != nil {
		t.Error("a transaction over 4 MB wrote")
	}
}

// Money moves between accounts in racing transactions; snapshots always see
// the same total, and nothing is lost.
func TestTransactionsAreAtomicUnderRaces(t *testing.T) {
	db := newTable(t, Options{})
	const accounts, each = 4, 100
	var gets []TransactGetItem
	for i := range accounts {
		put(t, db, key(fmt.Sprint(i), "1").with("n", Int(each)))
		gets = append(gets, TransactGetItem{&Get{TableName: "main", Key: key(fmt.Sprint(i), "1")}})
	}
	var wait sync.WaitGroup
	for g := range 8 {
		wait.Go(func() {
			for i := range 200 {
				from, to := fmt.Sprint((g+i)%accounts), fmt.Sprint((g+i+1+i%3)%accounts)
				if err := transact(db, "", addAction(from, -1), addAction(to, 1)); err != nil {
					t.Errorf("move: %v", err)
				}
				out, err := db.TransactGetItems(TransactGetItemsInput{TransactItems: gets})
				total := decimal{}
				for _, response := range out.Responses {
					total, _ = total.plus(response.Item["n"].decimal())
				}
				if err != nil || total.String() != fmt.Sprint(accounts*each) {
					t.Errorf("a snapshot sums up to %s, %v", total, err)
				}
			}
		})
	}
	wait.Wait()
}

func TestOneOfManyWinsACondition(t *testing.T) {
	db := newTable(t, Options{})
	wins := make(chan int, 64)
	var wait sync.WaitGroup
	for g := range cap(wins) {
		wait.Go(func() {
			err := transact(db, "", putAction(key("seat", "1").with("bid", Int(int64(g))), "attribute_not_exists(pk)"), addAction("sold", 1))
			if err == nil {
				wins <- g
			} else if refusal := refused(t, err, CodeTransactionCanceled); refusal.Reasons[0].Item["bid"].Kind() != KindN {
				t.Errorf("the loser was not shown the winner: %v", refusal.Reasons)
			}
		})
	}
	wait.Wait()
	if len(wins) != 1 || read(t, db, "sold", "1")["n"].Text() != "1" {
		t.Errorf("%d won, sold %v", len(wins), read(t, db, "sold", "1"))
	}
}
