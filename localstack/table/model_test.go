package table

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// naive is a table as one would first write it: a map of items, sorted and
// filtered on every read.
type naive map[string]Item

func naiveKey(item Item) string { return item["pk"].Text() + "/" + item["sk"].Text() }

// machine drives the engine and the naive table with the same calls.
type machine struct {
	db    *DB
	model naive
}

var (
	drawPK = rapid.SampledFrom([]string{"a", "b", "c"})
	drawSK = rapid.SampledFrom([]string{"1", "2", "3", "4"})
	drawN  = rapid.Int64Range(0, 3)
)

func drawKey(t *rapid.T) Item { return key(drawPK.Draw(t, "pk"), drawSK.Draw(t, "sk")) }

func drawItem(t *rapid.T) Item {
	item := drawKey(t).with("n", Int(drawN.Draw(t, "n")))
	if rapid.Bool().Draw(t, "indexed") {
		item = item.with("g", S(drawPK.Draw(t, "g"))).with("h", Int(drawN.Draw(t, "h")))
	}
	return item
}

// drawAction draws one write with the condition "n = :n" and what it does to
// the model; ok tells whether the condition holds there.
func (m *machine) drawAction(t *rapid.T) (action TransactWriteItem, ok bool, effect func()) {
	item, n := drawItem(t), drawN.Draw(t, "expected")
	values := Item{":n": Int(n)}
	id := naiveKey(item)
	present := m.model[id]
	ok = present != nil && present["n"].Equal(Int(n))
	switch rapid.IntRange(0, 3).Draw(t, "action") {
	case 0:
		action.Put = &Put{TableName: "main", Item: item, ConditionExpression: "n = :n OR attribute_not_exists(pk)", ExpressionAttributeValues: values}
		return action, ok || present == nil, func() { m.model[id] = item }
	case 1:
		action.Update = &Update{TableName: "main", Key: key(item["pk"].Text(), item["sk"].Text()), UpdateExpression: "ADD n :n REMOVE g", ConditionExpression: "n = :n", ExpressionAttributeValues: values}
		return action, ok, func() { m.model[id] = present.with("n", Int(2*n)).with("g", Value{}) }
	case 2:
		action.Delete = &Delete{TableName: "main", Key: key(item["pk"].Text(), item["sk"].Text()), ConditionExpression: "n = :n", ExpressionAttributeValues: values}
		return action, ok, func() { delete(m.model, id) }
	}
	action.ConditionCheck = &ConditionCheck{TableName: "main", Key: key(item["pk"].Text(), item["sk"].Text()), ConditionExpression: "n = :n", ExpressionAttributeValues: values}
	return action, ok, func() {}
}

func (action TransactWriteItem) target() string {
	r, _ := action.request()
	if r.item != nil {
		return naiveKey(r.item)
	}
	return naiveKey(r.key)
}

// Transact runs a transaction of one to four actions on different items.
func (m *machine) Transact(t *rapid.T) {
	var actions []TransactWriteItem
	var wants []bool
	var effects []func()
	for range rapid.IntRange(1, 4).Draw(t, "actions") {
		action, ok, effect := m.drawAction(t)
		if slices.ContainsFunc(actions, func(a TransactWriteItem) bool { return a.target() == action.target() }) {
			continue
		}
		actions, wants, effects = append(actions, action), append(wants, ok), append(effects, effect)
	}
	err := transact(m.db, "", actions...)
	if !slices.Contains(wants, false) {
		if err != nil {
			t.Fatalf("refused: %v", err)
		}
		for _, effect := range effects {
			effect()
		}
		return
	}
	var refusal *Error
	if !errors.As(err, &refusal) || len(refusal.Reasons) != len(wants) {
		t.Fatalf("%v, want reasons for %v", err, wants)
	}
	for i, reason := range refusal.Reasons {
		if (reason.Code == ReasonNone) != wants[i] {
			t.Fatalf("action %d: %s, want none: %v", i, reason.Code, wants[i])
		}
	}
}

func (m *machine) Put(t *rapid.T) {
	item := drawItem(t)
	put(t, m.db, item)
	m.model[naiveKey(item)] = item
}

func (m *machine) Delete(t *rapid.T) {
	k := drawKey(t)
	if _, err := m.db.DeleteItem(DeleteItemInput{TableName: "main", Key: k}); err != nil {
		t.Fatalf("delete: %v", err)
	}
	delete(m.model, naiveKey(k))
}

// Query pages over a partition or an index partition.
func (m *machine) Query(t *rapid.T) {
	in := QueryInput{TableName: "main", KeyConditionExpression: "pk = :v", ExpressionAttributeValues: Item{":v": S(drawPK.Draw(t, "partition"))}}
	attribute := "pk"
	if rapid.Bool().Draw(t, "index") {
		in.IndexName, in.KeyConditionExpression, attribute = "all", "g = :v", "g"
	}
	in.ScanIndexForward = ptr(rapid.Bool().Draw(t, "forward"))
	in.Limit = ptr(rapid.IntRange(1, 4).Draw(t, "limit"))
	var got []Item
	for more := true; more; more = in.ExclusiveStartKey != nil {
		out, err := m.db.Query(in)
		if err != nil {
			t.Fatalf("query: %v", err)
		}
		got = append(got, out.Items...)
		in.ExclusiveStartKey = out.LastEvaluatedKey
	}
	m.compare(t, got, func(item Item) bool {
		return item[attribute].Equal(in.ExpressionAttributeValues[":v"]) && (attribute == "pk" || !item["h"].absent())
	})
	sorted := slices.IsSortedFunc(got, func(a, b Item) int {
		order, _ := a["sk"].compare(b["sk"])
		if attribute == "g" {
			order, _ = a["h"].compare(b["h"])
		}
		if !*in.ScanIndexForward {
			order = -order
		}
		return order
	})
	if !sorted {
		t.Fatalf("not in order: %v", got)
	}
}

// compare checks that got is exactly the model's items that match.
func (m *machine) compare(t *rapid.T, got []Item, match func(Item) bool) {
	var want []string
	for _, id := range sortedKeys(m.model) {
		if match(m.model[id]) {
			want = append(want, id)
		}
	}
	var ids []string
	for _, item := range got {
		ids = append(ids, naiveKey(item))
		if !item.Equal(m.model[naiveKey(item)]) {
			t.Fatalf("item %v, want %v", item, m.model[naiveKey(item)])
		}
	}
	slices.Sort(ids)
	if !slices.Equal(ids, want) {
		t.Fatalf("got %s, want %s", strings.Join(ids, " "), strings.Join(want, " "))
	}
}

// Check is run by rapid after every step.
func (m *machine) Check(t *rapid.T) {
	out, err := m.db.Scan(ScanInput{TableName: "main", ConsistentRead: true})
	if err != nil {
		t.Fatalf("scan: %v", err)
	}
	m.compare(t, out.Items, func(Item) bool { return true })
}

func TestEngineAgainstANaiveTable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &machine{newTable(t, Options{}), naive{}}
		t.Repeat(rapid.StateMachineActions(m))
	})
}
