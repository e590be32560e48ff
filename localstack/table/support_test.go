package table

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"
)

// clock is a clock that tests move by hand.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func newClock() *clock { return &clock{at: time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)} }

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

// reporter is what *testing.T and *rapid.T share.
type reporter interface {
	Helper()
	Fatalf(string, ...any)
	Errorf(string, ...any)
}

// newTable makes the table "main": pk and sk are strings; the index "all"
// (g, h) shows everything, "keys" (g) only keys.
func newTable(t reporter, options Options) *DB {
	t.Helper()
	db := New(options)
	_, err := db.CreateTable(CreateTableInput{
		TableName:            "main",
		BillingMode:          "PAY_PER_REQUEST",
		AttributeDefinitions: []AttributeDefinition{{"pk", "S"}, {"sk", "S"}, {"g", "S"}, {"h", "N"}},
		KeySchema:            []KeyElement{{"pk", "HASH"}, {"sk", "RANGE"}},
		GlobalSecondaryIndexes: []IndexDefinition{
			{"all", []KeyElement{{"g", "HASH"}, {"h", "RANGE"}}, Projection{ProjectionType: "ALL"}},
			{"keys", []KeyElement{{"g", "HASH"}}, Projection{ProjectionType: "KEYS_ONLY"}},
		},
	})
	if err != nil {
		t.Fatalf("create the table: %v", err)
	}
	return db
}

func key(pk, sk string) Item { return Item{"pk": S(pk), "sk": S(sk)} }

func put(t reporter, db *DB, item Item) {
	t.Helper()
	if _, err := db.PutItem(PutItemInput{TableName: "main", Item: item}); err != nil {
		t.Fatalf("put: %v", err)
	}
}

func read(t reporter, db *DB, pk, sk string) Item {
	t.Helper()
	out, err := db.GetItem(GetItemInput{TableName: "main", Key: key(pk, sk), ConsistentRead: true})
	if err != nil {
		t.Fatalf("get: %v", err)
	}
	return out.Item
}

// refused asserts the code of an error and returns it.
func refused(t reporter, err error, code string) *Error {
	t.Helper()
	var refusal *Error
	if !errors.As(err, &refusal) || refusal.Code != code {
		t.Errorf("got %v, want %s", err, code)
		return &Error{}
	}
	return refusal
}

func pageOf(t testing.TB, out PageOutput, err error) (names []string) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	for _, item := range out.Items {
		names = append(names, item["pk"].Text()+"/"+item["sk"].Text())
	}
	return names
}

func fill(t reporter, db *DB, partitions, each int) {
	for p := range partitions {
		for i := range each {
			put(t, db, Item{"pk": S(fmt.Sprint("p", p)), "sk": S(fmt.Sprintf("%04d", i)), "g": S("G"), "h": Int(int64(i % 7)), "n": Int(int64(i))})
		}
	}
}

func ptr[T any](v T) *T { return &v }
