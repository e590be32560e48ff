package awscontract

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// fill writes 300 items into the partitions p0 to p2; four of five are in the index partition "G", ten for each of its days.
func (k *ddbKit) fill(table string) {
	k.Helper()
	for from := 0; from < 300; from += 25 {
		var writes []types.WriteRequest
		for j := from; j < from+25; j++ {
			it := item{
				"pk": textValue(fmt.Sprint("p", j%3)), "sk": textValue(fmt.Sprintf("k%04d", j)), "gpk": textValue("G"),
				"gsk": textValue(fmt.Sprintf("2026-01-%02d", j%30)), "num": numberValue(j), "pad": textValue(strings.Repeat("x", 100)),
			}
			if j%5 == 0 {
				delete(it, "gpk")
			}
			writes = append(writes, types.WriteRequest{PutRequest: &types.PutRequest{Item: it}})
		}
		out, err := k.client.BatchWriteItem(k.ctx, &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{table: writes}})
		k.must(err, "BatchWriteItem")
		if len(out.UnprocessedItems) > 0 {
			k.Fatal("the endpoint left a part of a batch undone")
		}
	}
}

func ddbQueryTable(k *ddbKit) {
	table := k.table(true, true)
	k.fill(table)
	ask := func(condition string, values item) dynamodb.QueryInput {
		return dynamodb.QueryInput{TableName: &table, KeyConditionExpression: &condition, ExpressionAttributeValues: values, ConsistentRead: aws.Bool(true)}
	}
	for _, c := range []struct {
		condition   string
		values      item
		count       int
		first, last string
	}{
		{"pk = :p", item{":p": textValue("p0")}, 100, "k0000", "k0297"},
		{"pk = :p AND begins_with(sk, :b)", item{":p": textValue("p0"), ":b": textValue("k00")}, 34, "k0000", "k0099"},
		{"pk = :p AND sk BETWEEN :a AND :b", item{":p": textValue("p1"), ":a": textValue("k0001"), ":b": textValue("k0010")}, 4, "k0001", "k0010"},
		{"pk = :p AND sk > :a", item{":p": textValue("p0"), ":a": textValue("k0291")}, 2, "k0294", "k0297"},
		{"pk = :p AND sk <= :a", item{":p": textValue("p0"), ":a": textValue("k0003")}, 2, "k0000", "k0003"},
	} {
		items, _ := k.query(ask(c.condition, c.values))
		if len(items) != c.count || plain(items[0]["sk"]) != c.first || plain(items[len(items)-1]["sk"]) != c.last {
			k.Errorf("%s gives %d items, want %d from %s to %s", c.condition, len(items), c.count, c.first, c.last)
		}
	}
	backward := ask("pk = :p", item{":p": textValue("p2")})
	backward.Limit, backward.ScanIndexForward = aws.Int32(7), aws.Bool(false)
	items, pages := k.query(backward)
	if len(items) != 100 || pages != 15 || plain(items[0]["sk"]) != "k0299" {
		k.Errorf("backward: %d items in %d pages from %s", len(items), pages, plain(items[0]["sk"]))
	}
	filtered := ask("pk = :p", item{":p": textValue("p0"), ":n": numberValue(290)})
	filtered.Limit, filtered.FilterExpression = aws.Int32(10), aws.String("num >= :n")
	if items, pages = k.query(filtered); len(items) != 3 || pages < 10 {
		k.Errorf("the limit counts before the filter: %d items in %d pages", len(items), pages)
	}
	counted := ask("pk = :p", item{":p": textValue("p0")})
	counted.Select, counted.ReturnConsumedCapacity = "COUNT", "TOTAL"
	out, err := k.client.Query(k.ctx, &counted)
	k.must(err, "count")
	if out.Count != 100 || len(out.Items) != 0 || out.ConsumedCapacity == nil {
		k.Errorf("COUNT gives %d, %d items, capacity %v", out.Count, len(out.Items), out.ConsumedCapacity)
	}
}

func ddbQueryIndex(k *ddbKit) {
	table := k.table(true, true)
	k.fill(table)
	ask := func(index, condition string, values item) dynamodb.QueryInput {
		values[":g"] = textValue("G")
		return dynamodb.QueryInput{TableName: &table, IndexName: &index, KeyConditionExpression: &condition, ExpressionAttributeValues: values}
	}
	entries := func(want int) func() bool {
		return func() bool {
			items, _ := k.query(ask("gsi2", "gpk = :g", item{}))
			return len(items) == want && len(items[0]) == 3 // a sparse index of keys
		}
	}
	k.eventually("240 entries", entries(240))

	days := ask("gsi1", "gpk = :g AND gsk BETWEEN :a AND :b", item{":a": textValue("2026-01-01"), ":b": textValue("2026-01-09")})
	days.Limit = aws.Int32(7)
	items, _ := k.query(days)
	seen := map[string]bool{}
	for i, it := range items {
		seen[plain(it["pk"])+plain(it["sk"])] = true
		if i > 0 && plain(it["gsk"]) < plain(items[i-1]["gsk"]) {
			k.Error("the index is not in the order of its sort key")
		}
	}
	if len(items) != 80 || len(seen) != 80 {
		k.Errorf("pages over equal sort keys give %d items, %d different, want 80", len(items), len(seen))
	}
	backward := ask("gsi1", "gpk = :g AND begins_with(gsk, :a)", item{":a": textValue("2026-01-1")})
	backward.Limit, backward.ScanIndexForward = aws.Int32(3), aws.Bool(false)
	if items, _ = k.query(backward); len(items) != 80 || plain(items[0]["gsk"]) != "2026-01-19" {
		k.Errorf("backward: %d items from %s", len(items), plain(items[0]["gsk"]))
	}
	days.ConsistentRead = aws.Bool(true)
	_, err := k.client.Query(k.ctx, &days)
	k.refused(err, "a consistent read of an index", validation)
	unknown := ask("nope", "gpk = :g", item{})
	_, err = k.client.Query(k.ctx, &unknown)
	k.refused(err, "an unknown index", validation)
	_, err = k.update(table, pksk("p1", "k0001"), change{update: "REMOVE gpk"})
	k.must(err, "REMOVE of an index key")
	k.eventually("239 entries", entries(239))
	k.refused(k.put(table, item{"pk": textValue("a"), "sk": textValue("b"), "gpk": numberValue(1)}), "an index key of another type", validation)
	k.refused(k.put(table, item{"pk": textValue("a"), "sk": textValue("b"), "gpk": textValue("")}), "an empty index key", validation)
}

func ddbScan(k *ddbKit) {
	table := k.table(true, true)
	k.fill(table)
	var count, scanned atomic.Int32
	var wait sync.WaitGroup
	for segment := range int32(4) {
		wait.Go(func() {
			in := dynamodb.ScanInput{
				TableName: &table, Select: "COUNT", Segment: &segment, TotalSegments: aws.Int32(4), Limit: aws.Int32(20), ConsistentRead: aws.Bool(true),
				FilterExpression: aws.String("num < :n"), ExpressionAttributeValues: item{":n": numberValue(100)},
			}
			for more := true; more; more = in.ExclusiveStartKey != nil {
				out, err := k.client.Scan(k.ctx, &in)
				if err != nil {
					k.Errorf("Scan: %v", err)
					return
				}
				count.Add(out.Count)
				scanned.Add(out.ScannedCount)
				in.ExclusiveStartKey = out.LastEvaluatedKey
			}
		})
	}
	wait.Wait()
	if count.Load() != 100 || scanned.Load() != 300 {
		k.Errorf("four segments count %d of %d", count.Load(), scanned.Load())
	}
	out, err := k.client.Scan(k.ctx, &dynamodb.ScanInput{TableName: &table, Select: "COUNT", ConsistentRead: aws.Bool(true)})
	k.must(err, "Scan")
	if out.Count != 300 || len(out.Items) != 0 {
		k.Errorf("COUNT gives %d, %d items", out.Count, len(out.Items))
	}
	k.eventually("240 entries of an index", func() bool {
		out, err := k.client.Scan(k.ctx, &dynamodb.ScanInput{TableName: &table, IndexName: aws.String("gsi2")})
		k.must(err, "Scan of an index")
		return out.Count == 240
	})
	for i := range 15 {
		k.must(k.put(table, item{"pk": textValue("big"), "sk": textValue(fmt.Sprintf("%03d", i)), "b": textValue(strings.Repeat("y", 100<<10))}), "put 100 KB")
	}
	page, err := k.client.Query(k.ctx, &dynamodb.QueryInput{TableName: &table, KeyConditionExpression: aws.String("pk = :p"), ExpressionAttributeValues: item{":p": textValue("big")}})
	k.must(err, "query 1.5 MB")
	if page.LastEvaluatedKey == nil || page.Count < 9 || page.Count > 11 {
		k.Errorf("a page of 1 MB holds %d times 100 KB", page.Count)
	}
}

func ddbBatches(k *ddbKit) {
	table := k.table(false, false)
	write := func(n int, name func(int) string) error {
		var writes []types.WriteRequest
		for i := range n {
			writes = append(writes, types.WriteRequest{PutRequest: &types.PutRequest{Item: pk(name(i))}})
		}
		_, err := k.client.BatchWriteItem(k.ctx, &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{table: writes}})
		return err
	}
	number := func(i int) string { return fmt.Sprint(i) }
	k.must(write(25, number), "25 writes")
	k.refused(write(26, number), "26 writes", validation)
	k.refused(write(2, func(int) string { return "same" }), "one key twice", validation)
	var keys []item
	var deletes []types.WriteRequest
	for i := range 25 {
		keys = append(keys, pk(number(i)))
		if i < 20 {
			deletes = append(deletes, types.WriteRequest{DeleteRequest: &types.DeleteRequest{Key: pk(number(i))}})
		}
	}
	keys = append(keys, pk("absent"))
	read := func() int {
		out, err := k.client.BatchGetItem(k.ctx, &dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{table: {Keys: keys, ConsistentRead: aws.Bool(true)}}})
		k.must(err, "BatchGetItem")
		return len(out.Responses[table])
	}
	if n := read(); n != 25 {
		k.Errorf("read %d of 25", n)
	}
	_, err := k.client.BatchWriteItem(k.ctx, &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{table: deletes}})
	k.must(err, "20 deletes")
	if n := read(); n != 5 {
		k.Errorf("read %d of 5 after the deletes", n)
	}
}
