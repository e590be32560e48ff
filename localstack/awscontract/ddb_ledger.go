package awscontract

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// ddbLedger walks a booking through the transitions of protocol.md 3.3, with their conditions in the protocol's words, and checks what a loser is told.
func ddbLedger(k *ddbKit) {
	l := &ledgerRow{ddbKit: k, table: k.table(false, false)}
	k.must(k.transact("", l.hold("1", "c", "s", "p")...), "T1")
	codes, items := k.reasons(k.transact("", l.hold("1", "c", "s", "p")...))
	if codes != "ConditionalCheckFailed,None,None,None" || plain(items[0]["st"]) != "HELD" {
		k.Errorf("T1 again: %s, %v", codes, items)
	}
	codes, items = k.reasons(k.transact("", l.hold("2", "c", "s2", "p2")...))
	if codes != "None,ConditionalCheckFailed,None,None" || plain(items[1]["bid"]) != "1" {
		k.Errorf("T1 of the candidate's second booking: %s, %v", codes, items)
	}
	_, err := k.update(l.table, pk("B#1"), change{update: "SET hold_until = :t, hold_due = :t", condition: "st = :held AND hold_until < :t", values: item{":held": textValue("HELD"), ":t": numberValue(700)}})
	k.must(err, "T7")
	codes, _ = k.reasons(k.transact("", l.release("1", "HELD", 650)...))
	if codes != "ConditionalCheckFailed,None,None" {
		k.Errorf("T3 before its time: %s", codes)
	}
	k.must(k.transact("", l.pay("1", "p")...), "T2")
	codes, items = k.reasons(k.transact("", l.release("1", "HELD", 900)...))
	if codes != "ConditionalCheckFailed,None,None" || plain(items[0]["st"]) != "PAID" {
		k.Errorf("T3 of a paid booking: %s, %v", codes, items)
	}
	k.must(k.transact("", append(l.release("1", "PAID", 900), l.refund("1", "p"))...), "T8")
	if k.get(l.table, pk("C#c")) != nil || k.get(l.table, pk("S#s")) != nil || plain(k.get(l.table, pk("P#p"))["refund"]) != "DUE" {
		k.Error("T8 left the candidate, the seat or the payment as they were")
	}
	for _, step := range [][2]string{{"DUE", "SENT"}, {"SENT", "DONE"}} {
		_, err = k.update(l.table, pk("P#p"), change{update: "SET refund = :to", condition: "refund = :from", values: item{":from": textValue(step[0]), ":to": textValue(step[1])}})
		k.must(err, "T6 "+step[1])
	}
	_, err = k.update(l.table, pk("B#1"), change{update: "REMOVE undo_due", condition: "st = :rel", values: item{":rel": textValue("RELEASED")}})
	k.must(err, "T5")
	k.must(k.transact("", l.hold("3", "c", "s", "p3")...), "T1 of the next booking of the same candidate and seat")
	k.must(k.transact("", l.release("3", "HELD", 900)...), "T3 when due")
	codes, items = k.reasons(k.transact("", l.pay("3", "p3")...))
	if codes != "ConditionalCheckFailed,None" || plain(items[0]["st"]) != "RELEASED" {
		k.Errorf("T2 after the release: %s, %v", codes, items)
	}
}

type ledgerRow struct {
	*ddbKit
	table string
}

func (l *ledgerRow) action(name, update, condition string, values item) types.TransactWriteItem {
	return types.TransactWriteItem{Update: &types.Update{
		TableName: &l.table, Key: pk(name), UpdateExpression: &update, ConditionExpression: &condition,
		ExpressionAttributeValues: values, ReturnValuesOnConditionCheckFailure: "ALL_OLD",
	}}
}

func (l *ledgerRow) remove(name, bid string) types.TransactWriteItem {
	return types.TransactWriteItem{Delete: &types.Delete{
		TableName: &l.table, Key: pk(name), ConditionExpression: aws.String("bid = :bid"),
		ExpressionAttributeValues: item{":bid": textValue(bid)}, ReturnValuesOnConditionCheckFailure: "ALL_OLD",
	}}
}

// hold is T1.
func (l *ledgerRow) hold(bid, candidate, seat, payment string) []types.TransactWriteItem {
	put := func(it item, condition string, values item) types.TransactWriteItem {
		return types.TransactWriteItem{Put: &types.Put{TableName: &l.table, Item: it, ConditionExpression: &condition, ExpressionAttributeValues: values, ReturnValuesOnConditionCheckFailure: "ALL_OLD"}}
	}
	ours := item{":bid": textValue(bid)}
	return []types.TransactWriteItem{
		put(item{"pk": textValue("B#" + bid), "st": textValue("HELD"), "hold_until": numberValue(600), "hold_due": numberValue(600)}, "attribute_not_exists(pk)", nil),
		put(item{"pk": textValue("C#" + candidate), "bid": textValue(bid)}, "attribute_not_exists(pk) OR bid = :bid", ours),
		put(item{"pk": textValue("S#" + seat), "bid": textValue(bid)}, "attribute_not_exists(pk) OR bid = :bid", ours),
		put(item{"pk": textValue("P#" + payment), "bid": textValue(bid), "res": textValue("OPEN")}, "attribute_not_exists(pk) OR (bid = :bid AND res = :open)", item{":bid": textValue(bid), ":open": textValue("OPEN")}),
	}
}

// pay is T2.
func (l *ledgerRow) pay(bid, payment string) []types.TransactWriteItem {
	return []types.TransactWriteItem{
		l.action("B#"+bid, "SET st = :paid, pid = :pid REMOVE hold_due", "st = :held", item{":paid": textValue("PAID"), ":pid": textValue(payment), ":held": textValue("HELD")}),
		l.action("P#"+payment, "SET bid = :bid, res = :applied", "attribute_not_exists(pk) OR (bid = :bid AND res = :open)", item{":bid": textValue(bid), ":applied": textValue("APPLIED"), ":open": textValue("OPEN")}),
	}
}

// release is T3, and with from PAID the first part of T8. The bookings of this row are always of the candidate c and the seat s.
func (l *ledgerRow) release(bid, from string, cut int) []types.TransactWriteItem {
	return []types.TransactWriteItem{
		l.action("B#"+bid, "SET st = :rel, undo_due = :one, reason = :r REMOVE hold_due", "st = :from AND hold_until <= :cut",
			item{":rel": textValue("RELEASED"), ":one": numberValue(1), ":r": textValue("expired"), ":from": textValue(from), ":cut": numberValue(cut)}),
		l.remove("C#c", bid),
		l.remove("S#s", bid),
	}
}

// refund is the payment's part of T8.
func (l *ledgerRow) refund(bid, payment string) types.TransactWriteItem {
	return l.action("P#"+payment, "SET res = :refund, refund = :due, refund_due = :one", "bid = :bid AND res = :applied",
		item{":refund": textValue("REFUND"), ":due": textValue("DUE"), ":one": numberValue(1), ":bid": textValue(bid), ":applied": textValue("APPLIED")})
}
