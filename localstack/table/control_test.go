package table

import (
	"slices"
	"strings"
	"testing"
	"time"
)

func TestTables(t *testing.T) {
	db := newTable(t, Options{})
	for _, name := range []string{"bbb", "aaa", "ccc"} {
		create := CreateTableInput{TableName: name, BillingMode: "PAY_PER_REQUEST", AttributeDefinitions: []AttributeDefinition{{"pk", "N"}}, KeySchema: []KeyElement{{"pk", "HASH"}}}
		if _, err := db.CreateTable(create); err != nil {
			t.Fatal(err)
		}
		_, err := db.CreateTable(create)
		refused(t, err, CodeTableInUse)
	}
	var names []string
	in := ListTablesInput{Limit: ptr(2)}
	for more := true; more; more = in.ExclusiveStartTableName != "" {
		out, err := db.ListTables(in)
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, out.TableNames...)
		in.ExclusiveStartTableName = out.LastEvaluatedTableName
	}
	if !slices.Equal(names, []string{"aaa", "bbb", "ccc", "main"}) {
		t.Errorf("tables %q", names)
	}
	if _, err := db.DeleteTable(DeleteTableInput{"aaa"}); err != nil {
		t.Fatal(err)
	}
	_, err := db.DescribeTable(DescribeTableInput{"aaa"})
	refused(t, err, CodeTableNotFound)
	put(t, db, key("a", "1"))
	described, err := db.DescribeTable(DescribeTableInput{arnPrefix + "main"})
	if d := described.Table; err != nil || d.TableStatus != "ACTIVE" || d.ItemCount != 1 || d.TableSizeBytes != key("a", "1").Size() || len(d.GlobalSecondaryIndexes) != 2 {
		t.Errorf("described as %+v, %v", d, err)
	}
}

func TestTableRefusals(t *testing.T) {
	fine := CreateTableInput{TableName: "fine", BillingMode: "PAY_PER_REQUEST", AttributeDefinitions: []AttributeDefinition{{"pk", "S"}}, KeySchema: []KeyElement{{"pk", "HASH"}}}
	for want, change := range map[string]func(*CreateTableInput){
		"Invalid table/index name": func(in *CreateTableInput) { in.TableName = "a b" },
		"PAY_PER_REQUEST":          func(in *CreateTableInput) { in.BillingMode = "PROVISIONED" },
		"are not used": func(in *CreateTableInput) {
			in.AttributeDefinitions = append(in.AttributeDefinitions, AttributeDefinition{"x", "S"})
		},
		"not defined":       func(in *CreateTableInput) { in.KeySchema = []KeyElement{{"other", "HASH"}} },
		"Invalid KeySchema": func(in *CreateTableInput) { in.KeySchema = []KeyElement{{"pk", "RANGE"}} },
		"at 'keySchema'":    func(in *CreateTableInput) { in.KeySchema = nil },
		"[B, N, S]":         func(in *CreateTableInput) { in.AttributeDefinitions = []AttributeDefinition{{"pk", "BOOL"}} },
		"two attributes":    func(in *CreateTableInput) { in.AttributeDefinitions = []AttributeDefinition{{"pk", "S"}, {"pk", "S"}} },
		"ProjectionType must be": func(in *CreateTableInput) {
			in.GlobalSecondaryIndexes = []IndexDefinition{{"idx", in.KeySchema, Projection{}}}
		},
		"Duplicate index name: idx": func(in *CreateTableInput) {
			i := IndexDefinition{"idx", in.KeySchema, Projection{ProjectionType: "ALL"}}
			in.GlobalSecondaryIndexes = []IndexDefinition{i, i}
		},
	} {
		in := fine
		change(&in)
		_, err := New(Options{}).CreateTable(in)
		if refusal := refused(t, err, CodeValidation); !strings.Contains(refusal.Message, want) {
			t.Errorf("got %q, want %q", refusal.Message, want)
		}
	}
}

func TestIndexesComeAndGo(t *testing.T) {
	db := newTable(t, Options{})
	fill(t, db, 2, 10)
	_, err := db.UpdateTable(UpdateTableInput{TableName: "main", AttributeDefinitions: []AttributeDefinition{{"n", "N"}}, GlobalSecondaryIndexUpdates: []IndexUpdate{
		{Create: &IndexDefinition{"late", []KeyElement{{"n", "HASH"}}, Projection{"INCLUDE", []string{"h"}}}}, {Delete: &IndexDeletion{"all"}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	out, err := db.Query(QueryInput{TableName: "main", IndexName: "late", KeyConditionExpression: "n = :n", ExpressionAttributeValues: Item{":n": Int(3)}})
	if err != nil || out.Count != 2 || len(out.Items[0]) != 4 {
		t.Errorf("the late index gives %v, %v", out.Items, err)
	}
	_, err = db.Scan(ScanInput{TableName: "main", IndexName: "all"})
	refused(t, err, CodeValidation)
}

func TestExpiredItemsStayUntilRemoved(t *testing.T) {
	now := newClock()
	db := newTable(t, Options{Now: now.Now})
	if _, err := db.UpdateTimeToLive(UpdateTimeToLiveInput{"main", TimeToLiveSpecification{"until_s", true}}); err != nil {
		t.Fatal(err)
	}
	put(t, db, key("old", "1").with("until_s", Int(now.Now().Unix()+60)))
	put(t, db, key("new", "1").with("until_s", Int(now.Now().Unix()+3600)))
	put(t, db, key("text", "1").with("until_s", S("1")))
	now.Advance(2 * time.Minute)
	if read(t, db, "old", "1") == nil {
		t.Error("an expired item went by itself")
	}
	if n, err := db.RemoveExpired("main"); n != 1 || err != nil || read(t, db, "old", "1") != nil {
		t.Errorf("removed %d, %v", n, err)
	}
	out, err := db.DescribeTimeToLive(DescribeTimeToLiveInput{"main"})
	if err != nil || out.TimeToLiveDescription != (TimeToLiveDescription{"ENABLED", "until_s"}) {
		t.Errorf("described as %+v, %v", out, err)
	}
}
