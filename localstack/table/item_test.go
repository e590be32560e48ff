package table

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReturnValues(t *testing.T) {
	db := newTable(t, Options{})
	old := Item{"pk": S("a"), "sk": S("1"), "n": Int(1), "m": Map(Item{"x": Int(1), "y": Int(2)})}
	for what, want := range map[string]Item{
		"":            nil,
		"NONE":        nil,
		"ALL_OLD":     old,
		"ALL_NEW":     old.with("n", Int(2)).with("m", Map(Item{"x": Int(7), "y": Int(2)})),
		"UPDATED_OLD": {"n": Int(1), "m": Map(Item{"x": Int(1)})},
		"UPDATED_NEW": {"n": Int(2), "m": Map(Item{"x": Int(7)})},
	} {
		put(t, db, old)
		out, err := db.UpdateItem(UpdateItemInput{
			TableName: "main", Key: key("a", "1"), UpdateExpression: "SET n = n + :1, m.x = :7", ReturnValues: what,
			ExpressionAttributeValues: Item{":1": Int(1), ":7": Int(7)},
		})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, out.Attributes); diff != "" {
			t.Errorf("%s: %s", what, diff)
		}
	}
	out, err := db.DeleteItem(DeleteItemInput{TableName: "main", Key: key("a", "1"), ReturnValues: "ALL_OLD"})
	if err != nil || out.Attributes["n"].Text() != "2" {
		t.Errorf("delete returned %v, %v", out.Attributes, err)
	}
	if read(t, db, "a", "1") != nil {
		t.Error("the deleted item is still there")
	}
}

func TestFailedConditionShowsTheItemAndWritesNothing(t *testing.T) {
	db := newTable(t, Options{})
	present := Item{"pk": S("a"), "sk": S("1"), "owner_id": S("w1")}
	put(t, db, present)
	for _, returned := range []string{"", "NONE", "ALL_OLD"} {
		_, putErr := db.PutItem(PutItemInput{TableName: "main", Item: key("a", "1"), ConditionExpression: "attribute_not_exists(pk)", ReturnValuesOnConditionCheckFailure: returned})
		_, updateErr := db.UpdateItem(UpdateItemInput{TableName: "main", Key: key("a", "1"), UpdateExpression: "REMOVE owner_id", ConditionExpression: "attribute_not_exists(pk)", ReturnValuesOnConditionCheckFailure: returned})
		_, deleteErr := db.DeleteItem(DeleteItemInput{TableName: "main", Key: key("a", "1"), ConditionExpression: "attribute_not_exists(pk)", ReturnValuesOnConditionCheckFailure: returned})
		for i, err := range []error{putErr, updateErr, deleteErr} {
			refusal := refused(t, err, CodeConditionFailed)
			if shown := refusal.Item != nil; shown != (returned == "ALL_OLD") || shown && !refusal.Item.Equal(present) {
				t.Errorf("write %d with %q shows %v", i, returned, refusal.Item)
			}
		}
	}
	if got := read(t, db, "a", "1"); !got.Equal(present) {
		t.Errorf("the item became %v", got)
	}
	_, err := db.UpdateItem(UpdateItemInput{TableName: "main", Key: key("no", "no"), UpdateExpression: "REMOVE x", ConditionExpression: "attribute_exists(pk)", ReturnValuesOnConditionCheckFailure: "ALL_OLD"})
	if refusal := refused(t, err, CodeConditionFailed); refusal.Item != nil || read(t, db, "no", "no") != nil {
		t.Error("a failed update of an absent item showed or made one")
	}
}

func TestItemRefusals(t *testing.T) {
	deep := Int(1)
	for range 40 {
		deep = List(deep)
	}
	db := newTable(t, Options{})
	for want, item := range map[string]Item{
		"empty string value. Key: pk":        {"pk": S(""), "sk": S("x")},
		"empty string value. Key: sk":        {"pk": S("x"), "sk": S("")},
		"Type mismatch for key pk":           {"pk": Int(1), "sk": S("x")},
		"Missing the key sk":                 {"pk": S("x")},
		"Type mismatch for Index Key h":      key("a", "b").with("h", S("1")),
		"empty string value. Key: g":         key("a", "b").with("g", S("")),
		"maximum allowed size":               key("a", "b").with("x", S(strings.Repeat("x", 400<<10))),
		"Size of hashkey":                    key(strings.Repeat("k", 2049), "b"),
		"Aggregated size of all range keys":  key("a", strings.Repeat("k", 1025)),
		"Nesting Levels":                     key("a", "b").with("x", deep),
		"An attribute name may not be empty": key("a", "b").with("", S("x")),
		"AttributeValue is empty":            {"pk": S("a"), "sk": S("b"), "x": {}},
	} {
		_, err := db.PutItem(PutItemInput{TableName: "main", Item: item})
		if refusal := refused(t, err, CodeValidation); !strings.Contains(refusal.Message, want) {
			t.Errorf("got %q, want %q", refusal.Message, want)
		}
	}
	put(t, db, key("a", "b").with("empty", S("")).with("bin", B(nil)).with("nul", Null()).with("x", S(strings.Repeat("x", 399<<10))))
	for _, wrong := range []Item{nil, {"pk": S("a")}, key("a", "b").with("z", S("c")), {"pk": S("a"), "other": S("b")}, {"pk": S("a"), "sk": Int(1)}} {
		_, err := db.GetItem(GetItemInput{TableName: "main", Key: wrong})
		refused(t, err, CodeValidation)
	}
	_, err := db.UpdateItem(UpdateItemInput{TableName: "main", Key: key("a", "b"), UpdateExpression: "SET sk = :x", ExpressionAttributeValues: Item{":x": S("c")}})
	refused(t, err, CodeValidation)
	_, err = db.UpdateItem(UpdateItemInput{TableName: "main", Key: key("a", "b"), UpdateExpression: "SET y = x", ReturnValues: "ALL_NEW"})
	refused(t, err, CodeValidation) // twice 399 KB
	_, err = db.PutItem(PutItemInput{TableName: "main", Item: key("a", "b"), ReturnValues: "ALL_NEW"})
	refused(t, err, CodeValidation)
	_, err = db.GetItem(GetItemInput{TableName: "gone", Key: key("a", "b")})
	refused(t, err, CodeTableNotFound)
}

func TestBatches(t *testing.T) {
	db := newTable(t, Options{})
	var writes []WriteRequest
	var keys []Item
	for i := range 25 {
		item := key("p", string(rune('a'+i)))
		writes = append(writes, WriteRequest{PutRequest: &PutRequest{item}})
		keys = append(keys, item)
	}
	write := func(w ...WriteRequest) error {
		_, err := db.BatchWriteItem(BatchWriteItemInput{RequestItems: map[string][]WriteRequest{"main": w}})
		return err
	}
	if err := write(writes...); err != nil {
		t.Fatal(err)
	}
	refused(t, write(append(writes, WriteRequest{PutRequest: &PutRequest{key("q", "q")}})...), CodeValidation)
	refused(t, write(writes[0], WriteRequest{DeleteRequest: &DeleteRequest{keys[0]}}), CodeValidation)
	refused(t, write(WriteRequest{}), CodeValidation)
	refused(t, write(), CodeValidation)
	if err := write(WriteRequest{DeleteRequest: &DeleteRequest{keys[0]}}); err != nil {
		t.Fatal(err)
	}
	out, err := db.BatchGetItem(BatchGetItemInput{RequestItems: map[string]KeysAndAttributes{"main": {Keys: keys}}})
	if err != nil || len(out.Responses["main"]) != 24 || len(out.UnprocessedKeys) != 0 {
		t.Errorf("read %d, %v", len(out.Responses["main"]), err)
	}
	_, err = db.BatchGetItem(BatchGetItemInput{RequestItems: map[string]KeysAndAttributes{"main": {Keys: []Item{keys[0], keys[0]}}}})
	refused(t, err, CodeValidation)
}
