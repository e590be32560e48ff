package table

import (
	"fmt"
	"testing"
)

// loaded is a table with many bookings, as a sale leaves them.
func loaded(b *testing.B, items int) *DB {
	b.Helper()
	db := newTable(b, Options{})
	for i := range items {
		put(b, db, key(fmt.Sprint("B#", i), "-").with("g", S(fmt.Sprint("shard", i%64))).with("h", Int(int64(i))).with("st", S("held")))
	}
	b.ResetTimer()
	return db
}

func BenchmarkPutItem(b *testing.B) {
	db := loaded(b, 100_000)
	for i := range b.N {
		_, _ = db.PutItem(PutItemInput{TableName: "main", Item: key(fmt.Sprint("N#", i), "-"), ConditionExpression: "attribute_not_exists(pk)"})
	}
}

func BenchmarkGetItem(b *testing.B) {
	db := loaded(b, 100_000)
	for i := range b.N {
		_, _ = db.GetItem(GetItemInput{TableName: "main", Key: key(fmt.Sprint("B#", i%100_000), "-"), ConsistentRead: true})
	}
}

func BenchmarkUpdateItem(b *testing.B) {
	db := loaded(b, 100_000)
	for i := range b.N {
		_, _ = db.UpdateItem(UpdateItemInput{TableName: "main", Key: key(fmt.Sprint("B#", i%100_000), "-"), UpdateExpression: "SET st = :p REMOVE h",
			ConditionExpression: "attribute_exists(pk)", ExpressionAttributeValues: Item{":p": S("paid")}})
	}
}

func BenchmarkQueryIndex(b *testing.B) {
	db := loaded(b, 100_000)
	for i := range b.N {
		_, _ = db.Query(QueryInput{TableName: "main", IndexName: "all", KeyConditionExpression: "g = :g AND h >= :h", Limit: ptr(20),
			ExpressionAttributeValues: Item{":g": S(fmt.Sprint("shard", i%64)), ":h": Int(int64(i % 90_000))}})
	}
}

func BenchmarkTransactSix(b *testing.B) {
	db := loaded(b, 100_000)
	for i := range b.N {
		var actions []TransactWriteItem
		for j := range 6 {
			actions = append(actions, TransactWriteItem{Put: &Put{TableName: "main", Item: key(fmt.Sprint("T#", i, j), "-").with("bid", S("bid")),
				ConditionExpression: "attribute_not_exists(pk) OR bid = :b", ExpressionAttributeValues: Item{":b": S("bid")}, ReturnValuesOnConditionCheckFailure: "ALL_OLD"}})
		}
		if err := transact(db, fmt.Sprint("token", i), actions...); err != nil {
			b.Fatal(err)
		}
	}
}
