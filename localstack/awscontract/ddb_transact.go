package awscontract

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

func ddbTransaction(k *ddbKit) {
	table := k.table(false, false)
	actions := []types.TransactWriteItem{
		{Put: &types.Put{TableName: &table, Item: item{"pk": textValue("new"), "v": numberValue(1)}}},
		{ConditionCheck: &types.ConditionCheck{TableName: &table, Key: pk("a"), ConditionExpression: aws.String("v = :v"), ExpressionAttributeValues: item{":v": numberValue(2)}, ReturnValuesOnConditionCheckFailure: "ALL_OLD"}},
		{Update: &types.Update{TableName: &table, Key: pk("b"), UpdateExpression: aws.String("ADD c :o"), ExpressionAttributeValues: item{":o": numberValue(1)}}},
		{Delete: &types.Delete{TableName: &table, Key: pk("d")}},
	}
	k.must(k.put(table, item{"pk": textValue("a"), "v": numberValue(1)}), "put")
	codes, items := k.reasons(k.transact("", actions...))
	if codes != "None,ConditionalCheckFailed,None,None" || plain(items[1]["v"]) != "1" {
		k.Errorf("reasons %s, item %v", codes, items[1])
	}
	if k.get(table, pk("new")) != nil || k.get(table, pk("b")) != nil {
		k.Error("a cancelled transaction wrote")
	}
	k.must(k.put(table, item{"pk": textValue("a"), "v": numberValue(2)}), "put")
	k.must(k.transact("", actions...), "transaction")
	if k.get(table, pk("new")) == nil || plain(k.get(table, pk("b"))["c"]) != "1" {
		k.Error("the transaction left something undone")
	}
	out, err := k.client.TransactGetItems(k.ctx, &dynamodb.TransactGetItemsInput{TransactItems: []types.TransactGetItem{
		{Get: &types.Get{TableName: &table, Key: pk("a")}}, {Get: &types.Get{TableName: &table, Key: pk("none")}},
	}})
	k.must(err, "TransactGetItems")
	if len(out.Responses) != 2 || plain(out.Responses[0].Item["v"]) != "2" || len(out.Responses[1].Item) != 0 {
		k.Errorf("responses %v", out.Responses)
	}
}

func ddbAdd(table string, n int) types.TransactWriteItem {
	return types.TransactWriteItem{Update: &types.Update{
		TableName: &table, Key: pk("a"), UpdateExpression: aws.String("ADD c :o"), ExpressionAttributeValues: item{":o": numberValue(n)},
	}}
}

func ddbToken(k *ddbKit) {
	table, token := k.table(false, false), unique("tok")
	k.must(k.transact(token, ddbAdd(table, 1)), "first")
	k.must(k.transact(token, ddbAdd(table, 1)), "repeat")
	if got := plain(k.get(table, pk("a"))["c"]); got != "1" {
		k.Errorf("the same token was applied more than once: %s", got)
	}
	k.refused(k.transact(token, ddbAdd(table, 5)), "same token, other request", "IdempotentParameterMismatchException")
}

func ddbTokenWindow(k *ddbKit) {
	table, token := k.table(false, false), unique("tok")
	k.must(k.transact(token, ddbAdd(table, 1)), "first")
	k.caps.wait(10*time.Minute + time.Second)
	k.must(k.transact(token, ddbAdd(table, 1)), "after the window")
	if got := plain(k.get(table, pk("a"))["c"]); got != "2" {
		k.Errorf("after ten minutes the counter is %s", got)
	}
}

func ddbTransactionLimits(k *ddbKit) {
	table := k.table(false, false)
	k.refused(k.transact("", types.TransactWriteItem{Put: &types.Put{TableName: &table, Item: pk("a")}}, types.TransactWriteItem{Delete: &types.Delete{TableName: &table, Key: pk("a")}}),
		"two actions on one item", validation)
	var many []types.TransactWriteItem
	for i := range 101 {
		many = append(many, types.TransactWriteItem{Put: &types.Put{TableName: &table, Item: pk(fmt.Sprint(i))}})
	}
	k.refused(k.transact("", many...), "101 actions", validation)
	k.must(k.transact("", many[:100]...), "100 actions")
}

func ddbTransactionRace(k *ddbKit) {
	table := k.table(false, false)
	var applied atomic.Int64
	var wait sync.WaitGroup
	for g := range 16 {
		wait.Go(func() {
			for i := range 20 {
				err := k.transact("", ddbAdd(table, 1), types.TransactWriteItem{Put: &types.Put{TableName: &table, Item: pk(fmt.Sprintf("i%d-%d", g, i)), ConditionExpression: aws.String("attribute_not_exists(pk)")}})
				var canceled *types.TransactionCanceledException
				switch {
				case err == nil:
					applied.Add(1)
				case errors.As(err, &canceled) && strings.Contains(canceled.ErrorMessage(), "TransactionConflict"): // legal, and nothing was applied
				default:
					k.Errorf("transaction: %v", err)
				}
			}
		})
	}
	wait.Wait()
	if got := plain(k.get(table, pk("a"))["c"]); got != fmt.Sprint(applied.Load()) {
		k.Errorf("%d transactions were applied, the counter is %s", applied.Load(), got)
	}
}
