package awscontract

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

func ddbConditions(k *ddbKit) {
	table := k.table(false, false)
	put := func(condition string, values item) error {
		_, err := k.client.PutItem(k.ctx, &dynamodb.PutItemInput{
			TableName: &table, Item: item{"pk": textValue("a"), "v": numberValue(1), "st": textValue("new")},
			ConditionExpression: &condition, ExpressionAttributeValues: values,
		})
		return err
	}
	k.must(put("attribute_not_exists(pk)", nil), "first put")
	k.refused(put("attribute_not_exists(pk)", nil), "second put", conditionFailed)
	k.must(put("attribute_exists(pk) AND v = :one", item{":one": numberValue(1)}), "AND")
	k.must(put("(v = :nine OR begins_with(st, :p)) AND NOT st IN (:x, :y)", item{":nine": numberValue(9), ":p": textValue("ne"), ":x": textValue("x"), ":y": textValue("y")}), "OR, NOT, IN")
	k.must(put("v BETWEEN :a AND :b AND size(st) = :three AND attribute_type(v, :t) AND contains(st, :e)",
		item{":a": numberValue(0), ":b": numberValue(5), ":three": numberValue(3), ":t": textValue("N"), ":e": textValue("e")}), "functions")
	k.refused(put("v > :one", item{":one": numberValue(1)}), "greater", conditionFailed)
	k.refused(put("absent < :one", item{":one": numberValue(1)}), "absent attribute", conditionFailed)

	move := change{update: "SET st = :d", values: item{":d": textValue("done"), ":n": textValue("new")}, condition: "st = :n"}
	_, err := k.update(table, pk("a"), move)
	k.must(err, "update")
	_, err = k.update(table, pk("a"), move)
	k.refused(err, "update again", conditionFailed)
	_, err = k.update(table, pk("z"), change{update: "SET st = :d", values: item{":d": textValue("done")}, condition: "attribute_exists(pk)"})
	k.refused(err, "update of an absent item", conditionFailed)
	if k.get(table, pk("z")) != nil {
		k.Error("a refused update created its item")
	}
	remove := &dynamodb.DeleteItemInput{TableName: &table, Key: pk("a"), ConditionExpression: aws.String("v = :v"), ExpressionAttributeValues: item{":v": numberValue(7)}}
	_, err = k.client.DeleteItem(k.ctx, remove)
	k.refused(err, "delete", conditionFailed)
	out, err := k.client.DeleteItem(k.ctx, &dynamodb.DeleteItemInput{TableName: &table, Key: pk("a"), ReturnValues: "ALL_OLD"})
	k.must(err, "delete")
	if plain(out.Attributes["st"]) != "done" {
		k.Errorf("the delete returned %v", out.Attributes)
	}
}

func ddbAbsentAttribute(k *ddbKit) {
	table := k.table(false, false)
	for _, condition := range []string{"gone <> :v", "NOT gone = :v", "gone <> lost AND pk <> :v"} {
		_, err := k.update(table, pk("a"), change{update: "SET x = :v", values: item{":v": numberValue(1)}, condition: condition})
		k.must(err, condition)
	}
	for _, condition := range []string{"gone = :v", "gone >= :v", "gone BETWEEN :v AND :v", "NOT gone <> :v", "gone IN (:v)"} {
		_, err := k.update(table, pk("a"), change{update: "SET x = :v", values: item{":v": numberValue(1)}, condition: condition})
		k.refused(err, condition, conditionFailed)
	}
}

func ddbFailedConditionItem(k *ddbKit) {
	table := k.table(false, false)
	k.must(k.put(table, item{"pk": textValue("a"), "bid": textValue("b1")}), "put")
	condition := aws.String("attribute_not_exists(pk)")
	_, put := k.client.PutItem(k.ctx, &dynamodb.PutItemInput{TableName: &table, Item: pk("a"), ConditionExpression: condition, ReturnValuesOnConditionCheckFailure: "ALL_OLD"})
	_, update := k.client.UpdateItem(k.ctx, &dynamodb.UpdateItemInput{TableName: &table, Key: pk("a"), UpdateExpression: aws.String("REMOVE bid"), ConditionExpression: condition, ReturnValuesOnConditionCheckFailure: "ALL_OLD"})
	_, remove := k.client.DeleteItem(k.ctx, &dynamodb.DeleteItemInput{TableName: &table, Key: pk("a"), ConditionExpression: condition, ReturnValuesOnConditionCheckFailure: "ALL_OLD"})
	for what, err := range map[string]error{"put": put, "update": update, "delete": remove} {
		var failed *types.ConditionalCheckFailedException
		if !errors.As(err, &failed) || plain(failed.Item["bid"]) != "b1" {
			k.Errorf("%s: %v without the present item", what, err)
		}
	}
}

func ddbUpdateExpressions(k *ddbKit) {
	table := k.table(false, false)
	one := item{":n": numberValue(1)}
	for _, step := range []struct {
		update    string
		names     map[string]string
		values    item
		attr, get string
	}{
		{"ADD c :n", nil, item{":n": numberValue(5)}, "c", "5"},
		{"ADD c :n", nil, item{":n": numberValue(-7)}, "c", "-2"},
		{"ADD c :n", nil, item{":n": numberValue("0.1")}, "c", "-1.9"},
		{"ADD ss :n", nil, item{":n": setValue("a", "b")}, "ss", "{a,b}"},
		{"DELETE ss :n", nil, item{":n": setValue("a")}, "ss", "{b}"},
		{"DELETE ss :n", nil, item{":n": setValue("b")}, "ss", "none"},
		{"SET k = if_not_exists(k, :z) + :n", nil, item{":z": numberValue(10), ":n": numberValue(1)}, "k", "11"},
		{"SET k = if_not_exists(k, :z) + :n", nil, item{":z": numberValue(10), ":n": numberValue(1)}, "k", "12"},
		{"SET k = k - :n", nil, item{":n": numberValue(2)}, "k", "10"},
		{"SET l = list_append(if_not_exists(l, :e), :v)", nil, item{":e": listValue(), ":v": listValue(numberValue(1), numberValue(2), numberValue(3))}, "l", "[1,2,3]"},
		{"REMOVE l[1]", nil, nil, "l", "[1,3]"},
		{"SET m = :m", nil, item{":m": &types.AttributeValueMemberM{Value: item{"a": numberValue(1)}}}, "m", "(a:1)"},
		{"SET m.#b = :n", map[string]string{"#b": "b.c"}, one, "m", "(a:1,b.c:1)"},
		{"SET x = :n REMOVE k ADD c :n", nil, one, "c", "-0.9"},
		{"SET y = x, x = :n", nil, item{":n": numberValue(9)}, "y", "1"}, // the old x
	} {
		got, err := k.update(table, pk("a"), change{update: step.update, names: step.names, values: step.values, returned: "ALL_NEW"})
		if err != nil || plain(got[step.attr]) != step.get {
			k.Errorf("%s: %s = %s, %v; want %s", step.update, step.attr, plain(got[step.attr]), err, step.get)
		}
	}
	for returned, want := range map[types.ReturnValue]string{"UPDATED_NEW": "78", "UPDATED_OLD": "77"} {
		k.must(k.put(table, item{"pk": textValue("b"), "x": numberValue(77), "other_one": numberValue(1)}), "put")
		got, err := k.update(table, pk("b"), change{update: "SET x = :n", values: item{":n": numberValue(78)}, returned: returned})
		if err != nil || len(got) != 1 || plain(got["x"]) != want {
			k.Errorf("%s: %v, %v", returned, got, err)
		}
	}
	_, err := k.update(table, pk("a"), change{update: "SET q.r = :n", values: one})
	k.refused(err, "SET below an absent map", validation)
	_, err = k.update(table, pk("a"), change{update: "SET c = :n, c = :n", values: one})
	k.refused(err, "two paths that overlap", validation)
}

func ddbNumbers(k *ddbKit) {
	table := k.table(false, false)
	for given, want := range map[string]string{
		"1.0": "1", "1e3": "1000", "-0": "0", "00012": "12", "0.1": "0.1", "1.50": "1.5",
		"12345678901234567890123456789012345678": "12345678901234567890123456789012345678",
	} {
		k.must(k.put(table, item{"pk": textValue("a"), "v": numberValue(given)}), given)
		if got := plain(k.get(table, pk("a"))["v"]); got != want {
			k.Errorf("%s was read as %s, want %s", given, got, want)
		}
	}
	k.must(k.put(table, item{"pk": textValue("b"), "v": numberValue("9007199254740993")}), "2^53+1")
	got, err := k.update(table, pk("b"), change{update: "ADD v :n", values: item{":n": numberValue(1)}, returned: "ALL_NEW"})
	if err != nil || plain(got["v"]) != "9007199254740994" {
		k.Errorf("2^53+1 and 1 make %s, %v", plain(got["v"]), err)
	}
	_, err = k.update(table, pk("b"), change{update: "SET w = :n", values: item{":n": numberValue("9007199254740994.0")}, condition: "v = :n"})
	k.must(err, "numbers are equal by value")
	_, err = k.update(table, pk("b"), change{update: "SET w = :n + :m", values: item{":n": numberValue("1e50"), ":m": numberValue(1)}})
	k.refused(err, "a sum of more than 38 digits", validation)
}

func ddbOneWins(k *ddbKit) {
	table := k.table(false, false)
	for round := range 3 {
		var wins atomic.Int64
		var wait sync.WaitGroup
		for g := range 200 {
			wait.Go(func() {
				_, err := k.client.PutItem(k.ctx, &dynamodb.PutItemInput{
					TableName: &table, Item: item{"pk": textValue(fmt.Sprint("r", round)), "g": numberValue(g)}, ConditionExpression: aws.String("attribute_not_exists(pk)"),
				})
				if err == nil {
					wins.Add(1)
				} else {
					k.refused(err, "a loser", conditionFailed)
				}
			})
		}
		wait.Wait()
		if wins.Load() != 1 {
			k.Errorf("round %d: %d won", round, wins.Load())
		}
	}
	var wait sync.WaitGroup
	for range 50 {
		wait.Go(func() {
			for range 10 {
				if _, err := k.update(table, pk("count"), change{update: "ADD c :n", values: item{":n": numberValue(1)}}); err != nil {
					k.Errorf("ADD: %v", err)
				}
			}
		})
	}
	wait.Wait()
	if got := plain(k.get(table, pk("count"))["c"]); got != "500" {
		k.Errorf("500 additions of 1 make %s", got)
	}
}
