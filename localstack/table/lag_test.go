package table

import (
	"testing"
	"time"
)

func TestLagHidesWritesFromIndexesAndStaleReads(t *testing.T) {
	now := newClock()
	db := newTable(t, Options{Now: now.Now, Lag: func(_, index string) time.Duration {
		if index == "" {
			return time.Second
		}
		return 5 * time.Second
	}})
	entries := func() int {
		out, err := db.Query(QueryInput{TableName: "main", IndexName: "all", KeyConditionExpression: "g = :g", ExpressionAttributeValues: Item{":g": S("G")}})
		if err != nil {
			t.Fatal(err)
		}
		return out.Count
	}
	stale := func() bool {
		out, err := db.GetItem(GetItemInput{TableName: "main", Key: key("a", "1")})
		if err != nil {
			t.Fatal(err)
		}
		return out.Item == nil
	}
	put(t, db, key("a", "1").with("g", S("G")).with("h", Int(1)))
	if read(t, db, "a", "1") == nil {
		t.Error("a consistent read does not see the write")
	}
	if !stale() || entries() != 0 {
		t.Error("the write is visible too early")
	}
	now.Advance(time.Second)
	if stale() || entries() != 0 {
		t.Error("after a second only the stale read must see the write")
	}
	now.Advance(4 * time.Second)
	if entries() != 1 {
		t.Error("after five seconds the index must see the write")
	}
	put(t, db, key("a", "1")) // leaves the index
	if entries() != 1 {
		t.Error("the index forgot the entry too early")
	}
	db.Settle()
	if entries() != 0 {
		t.Error("settled, the index still has the entry")
	}
}

// A lag that shrinks must not let a later write overtake an earlier one.
func TestLagKeepsTheOrderOfWrites(t *testing.T) {
	now := newClock()
	lags := []time.Duration{time.Minute, time.Minute, 0, 0, time.Second, time.Second}
	db := newTable(t, Options{Now: now.Now, Lag: func(_, index string) time.Duration {
		if index != "all" || len(lags) == 0 {
			return 0
		}
		lag := lags[0]
		lags = lags[1:]
		return lag
	}})
	item := key("a", "1").with("g", S("G"))
	for n := range int64(6) {
		put(t, db, item.with("h", Int(n)))
	}
	for range 3 {
		out, err := db.Scan(ScanInput{TableName: "main", IndexName: "all"})
		if err != nil || out.Count > 1 {
			t.Fatalf("%d entries for one item, %v", out.Count, err)
		}
		now.Advance(30 * time.Second)
	}
	out, err := db.Scan(ScanInput{TableName: "main", IndexName: "all"})
	if err != nil || out.Count != 1 || out.Items[0]["h"].Text() != "5" {
		t.Errorf("the index ends with %v, %v", out.Items, err)
	}
}
