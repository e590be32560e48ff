package table

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestKeyConditions(t *testing.T) {
	db := newTable(t, Options{})
	for _, sk := range []string{"a", "ab", "ab\x00", "abc", "b", "c"} {
		put(t, db, key("p", sk))
		put(t, db, key("p2", sk))
	}
	values := Item{":p": S("p"), ":ab": S("ab"), ":b": S("b"), ":n": Int(1), ":none": S("")}
	for condition, want := range map[string]string{
		"pk = :p":                            "a ab ab\x00 abc b c",
		"pk = :p AND sk = :ab":               "ab",
		"sk = :ab AND pk = :p":               "ab",
		"(pk = :p) AND (sk < :ab)":           "a",
		"pk = :p AND sk <= :ab":              "a ab",
		"pk = :p AND sk > :ab":               "ab\x00 abc b c",
		"pk = :p AND sk >= :b":               "b c",
		"pk = :p AND sk BETWEEN :ab AND :b":  "ab ab\x00 abc b",
		"pk = :p AND begins_with(sk, :ab)":   "ab ab\x00 abc",
		"pk = :p AND begins_with(sk, :none)": "a ab ab\x00 abc b c",
		"sk = :ab":                           "!missed key schema element: pk",
		"pk > :p":                            "!key condition not supported",
		"pk = :p AND another = :ab":          "!missed key schema element: sk",
		"pk = :p AND sk > :ab AND sk < :b":   "!length 1 or 2",
		"pk = :p AND pk = :ab":               "!one condition per key",
		"pk = :p OR sk = :ab":                "!Invalid operator used in KeyConditionExpression: OR",
		"pk = :p AND NOT sk = :ab":           "!Invalid operator used in KeyConditionExpression: NOT",
		"pk = :p AND sk <> :ab":              "!Invalid operator used in KeyConditionExpression: <>",
		"pk = :p AND sk IN (:ab)":            "!Invalid operator used in KeyConditionExpression: IN",
		"pk = :p AND contains(sk, :ab)":      "!Invalid operator used in KeyConditionExpression: contains",
		"pk = :p AND attribute_exists(sk)":   "!Invalid operator used in KeyConditionExpression: attribute_exists",
		"pk = :p AND size(sk) = :n":          "!Invalid operator used in KeyConditionExpression: size",
		"pk = :n":                            "!does not match schema type",
		"pk = :p AND sk = :n":                "!does not match schema type",
		"pk = :none":                         "!empty string value. Key: pk",
		"pk = sk":                            "!must have a value",
		"pk = :p AND sk BETWEEN :b AND :ab":  "!upper bound to be greater",
	} {
		used := Item{}
		for name, v := range values {
			if slices.ContainsFunc(lex(condition), func(t token) bool { return t.text == name }) {
				used[name] = v
			}
		}
		if len(used) == 0 {
			used = nil
		}
		for _, backward := range []bool{false, true} {
			out, err := db.Query(QueryInput{TableName: "main", KeyConditionExpression: condition, ExpressionAttributeValues: used, ScanIndexForward: ptr(!backward)})
			if message, bad := strings.CutPrefix(want, "!"); bad {
				if refusal := refused(t, err, CodeValidation); !strings.Contains(refusal.Message, message) {
					t.Errorf("%s: %q, want %q", condition, refusal.Message, message)
				}
				continue
			}
			var got []string
			for _, item := range out.Items {
				got = append(got, item["sk"].Text())
			}
			if backward {
				slices.Reverse(got)
			}
			if err != nil || strings.Join(got, " ") != want {
				t.Errorf("%s (backward %v): %q, %v; want %q", condition, backward, got, err, want)
			}
		}
	}
}

// Pages of any size, forwards and backwards, on the table and on indexes with
// equal sort keys, put together give what one page gives.
func TestPagination(t *testing.T) {
	db := newTable(t, Options{})
	fill(t, db, 3, 40)
	for _, in := range []QueryInput{
		{KeyConditionExpression: "pk = :v", ExpressionAttributeValues: Item{":v": S("p1")}},
		{IndexName: "all", KeyConditionExpression: "g = :v AND h BETWEEN :2 AND :4", ExpressionAttributeValues: Item{":v": S("G"), ":2": Int(2), ":4": Int(4)}},
		{IndexName: "keys", KeyConditionExpression: "g = :v", ExpressionAttributeValues: Item{":v": S("G")}},
	} {
		in.TableName = "main"
		for _, forward := range []bool{true, false} {
			in.ScanIndexForward, in.Limit = ptr(forward), nil
			whole, err := db.Query(in)
			want := pageOf(t, whole, err)
			if whole.LastEvaluatedKey != nil || len(want) < 40 {
				t.Fatalf("%s: %d items, last %v", in.IndexName, len(want), whole.LastEvaluatedKey)
			}
			for _, limit := range []int{1, 7, len(want), len(want) + 1} {
				in.Limit, in.ExclusiveStartKey = ptr(limit), nil
				var got []string
				for more := true; more; more = in.ExclusiveStartKey != nil {
					out, err := db.Query(in)
					got = append(got, pageOf(t, out, err)...)
					if out.ScannedCount > limit {
						t.Fatalf("a page of %d looked at %d", limit, out.ScannedCount)
					}
					in.ExclusiveStartKey = out.LastEvaluatedKey
				}
				in.ExclusiveStartKey = nil
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%s forward %v limit %d: %s", in.IndexName, forward, limit, diff)
				}
			}
		}
	}
}

func TestLimitCountsBeforeTheFilter(t *testing.T) {
	db := newTable(t, Options{})
	fill(t, db, 1, 20)
	in := QueryInput{TableName: "main", KeyConditionExpression: "pk = :p", FilterExpression: "n > :n", Limit: ptr(5), ExpressionAttributeValues: Item{":p": S("p0"), ":n": Int(17)}}
	out, err := db.Query(in)
	if err != nil || out.Count != 0 || out.ScannedCount != 5 || out.LastEvaluatedKey == nil {
		t.Errorf("got %+v, %v", out, err)
	}
	in.Limit, in.Select = nil, "COUNT"
	if out, err = db.Query(in); err != nil || out.Count != 2 || out.Items != nil || out.ScannedCount != 20 {
		t.Errorf("count: %+v, %v", out, err)
	}
}

func TestPagesEndAtOneMegabyte(t *testing.T) {
	db := newTable(t, Options{})
	for i := range 30 {
		put(t, db, key("p", fmt.Sprintf("%02d", i)).with("x", S(strings.Repeat("x", 100<<10))).with("g", S("G")))
	}
	out, err := db.Query(QueryInput{TableName: "main", KeyConditionExpression: "pk = :p", ExpressionAttributeValues: Item{":p": S("p")}})
	if err != nil || out.Count != 11 || out.LastEvaluatedKey == nil {
		t.Errorf("%d items, last %v, %v", out.Count, out.LastEvaluatedKey, err)
	}
	out, err = db.Query(QueryInput{TableName: "main", IndexName: "keys", KeyConditionExpression: "g = :g", ExpressionAttributeValues: Item{":g": S("G")}})
	if err != nil || out.Count != 30 || len(out.Items[0]) != 3 {
		t.Errorf("an index of keys reads little: %d items, %v", out.Count, err)
	}
}

func TestIndexesFollowTheTable(t *testing.T) {
	db := newTable(t, Options{})
	count := func(index string) int {
		out, err := db.Scan(ScanInput{TableName: "main", IndexName: index, Select: "COUNT"})
		if err != nil {
			t.Fatal(err)
		}
		return out.Count
	}
	both := key("a", "1").with("g", S("G")).with("h", Int(1))
	for _, step := range []struct {
		item      Item
		all, keys int
	}{
		{both, 1, 1}, {both.with("h", Int(2)), 1, 1}, {both.with("h", Value{}), 0, 1}, {key("a", "1"), 0, 0}, {both, 1, 1},
	} {
		put(t, db, step.item)
		if count("all") != step.all || count("keys") != step.keys {
			t.Errorf("after %v: %d, %d entries; want %d, %d", step.item, count("all"), count("keys"), step.all, step.keys)
		}
	}
	if _, err := db.DeleteItem(DeleteItemInput{TableName: "main", Key: key("a", "1")}); err != nil || count("all")+count("keys") != 0 {
		t.Errorf("after the delete: %d, %d entries, %v", count("all"), count("keys"), err)
	}
}

func TestScanSegmentsCoverTheTable(t *testing.T) {
	db := newTable(t, Options{})
	fill(t, db, 50, 3)
	seen := map[string]int{}
	for segment := range 4 {
		in := ScanInput{TableName: "main", Segment: ptr(segment), TotalSegments: ptr(4), Limit: ptr(7)}
		for more := true; more; more = in.ExclusiveStartKey != nil {
			out, err := db.Scan(in)
			for _, name := range pageOf(t, out, err) {
				seen[name]++
			}
			in.ExclusiveStartKey = out.LastEvaluatedKey
		}
	}
	for name, n := range seen {
		if n != 1 {
			t.Errorf("%s was read %d times", name, n)
		}
	}
	if len(seen) != 150 {
		t.Errorf("%d items, want 150", len(seen))
	}
}

func TestReadRefusals(t *testing.T) {
	db := newTable(t, Options{})
	values := Item{":p": S("p")}
	for want, in := range map[string]QueryInput{
		"Consistent reads are not supported": {IndexName: "all", ConsistentRead: true, KeyConditionExpression: "g = :p", ExpressionAttributeValues: values},
		"does not have the specified index":  {IndexName: "nope", KeyConditionExpression: "g = :p", ExpressionAttributeValues: values},
		"greater than or equal to 1":         {Limit: ptr(0), KeyConditionExpression: "pk = :p", ExpressionAttributeValues: values},
		"Primary key attribute: sk":          {KeyConditionExpression: "pk = :p", FilterExpression: "sk > :p", ExpressionAttributeValues: values},
		"must be specified":                  {ExpressionAttributeValues: values},
		"starting key is invalid":            {KeyConditionExpression: "pk = :p", ExpressionAttributeValues: values, ExclusiveStartKey: Item{"pk": S("p")}},
		"outside query boundaries":           {KeyConditionExpression: "pk = :p", ExpressionAttributeValues: values, ExclusiveStartKey: key("q", "1")},
		"ALL_ATTRIBUTES is not supported":    {IndexName: "keys", Select: "ALL_ATTRIBUTES", KeyConditionExpression: "g = :p", ExpressionAttributeValues: values},
		"Cannot specify the Projection":      {Select: "COUNT", ProjectionExpression: "sk", KeyConditionExpression: "pk = :p", ExpressionAttributeValues: values},
		"enum value set":                     {Select: "SOME", KeyConditionExpression: "pk = :p", ExpressionAttributeValues: values},
	} {
		in.TableName = "main"
		_, err := db.Query(in)
		if refusal := refused(t, err, CodeValidation); !strings.Contains(refusal.Message, want) {
			t.Errorf("got %q, want %q", refusal.Message, want)
		}
	}
	for _, in := range []ScanInput{
		{Segment: ptr(0)}, {TotalSegments: ptr(2)}, {Segment: ptr(2), TotalSegments: ptr(2)}, {Segment: ptr(-1), TotalSegments: ptr(2)},
	} {
		in.TableName = "main"
		_, err := db.Scan(in)
		refused(t, err, CodeValidation)
	}
}
