package table

import (
	"sort"

	"github.com/holdfast/holdfast/localstack/fault"
)

// TableDescription is what DescribeTable tells.
type TableDescription struct {
	TableName              string
	TableArn               string
	TableStatus            string
	CreationDateTime       float64 // seconds since 1970
	AttributeDefinitions   []AttributeDefinition
	KeySchema              []KeyElement
	GlobalSecondaryIndexes []IndexDescription `json:",omitempty"`
	BillingModeSummary     BillingModeSummary
	ItemCount              int
	TableSizeBytes         int
}

// BillingModeSummary is always PAY_PER_REQUEST.
type BillingModeSummary struct{ BillingMode string }

// IndexDescription is an index as DescribeTable tells it.
type IndexDescription struct {
	IndexDefinition
	IndexArn    string
	IndexStatus string
	ItemCount   int
}

// arnPrefix begins the ARN of every table; the account is the usual fake one.
const arnPrefix = "arn:aws:dynamodb:us-east-1:000000000000:table/"

// describe needs the table locked, if others know it already.
func (t *state) describe() TableDescription {
	d := TableDescription{
		TableName: t.name, TableArn: arnPrefix + t.name, TableStatus: "ACTIVE",
		CreationDateTime: float64(t.created.UnixMilli()) / 1000, KeySchema: t.keys,
		BillingModeSummary: BillingModeSummary{"PAY_PER_REQUEST"}, ItemCount: t.main.rows.size, TableSizeBytes: t.bytes,
	}
	for _, name := range sortedKeys(t.types) {
		d.AttributeDefinitions = append(d.AttributeDefinitions, AttributeDefinition{name, t.types[name].String()})
	}
	for _, index := range t.indexes {
		d.GlobalSecondaryIndexes = append(d.GlobalSecondaryIndexes, IndexDescription{
			index.definition, arnPrefix + t.name + "/index/" + index.name, "ACTIVE", index.rows.size,
		})
	}
	return d
}

// DescribeTableInput names a table.
type DescribeTableInput struct{ TableName string }

// DescribeTableOutput describes it.
type DescribeTableOutput struct{ Table TableDescription }

// DescribeTable tells what a table is. Its item counts are exact.
func (db *DB) DescribeTable(in DescribeTableInput) (DescribeTableOutput, error) {
	return call(db, "DescribeTable", in.TableName, 0, func(fault.Verdict) (DescribeTableOutput, error) {
		t, err := db.table(in.TableName)
		if err != nil {
			return DescribeTableOutput{}, err
		}
		unlock := t.readLock(db)
		defer unlock()
		return DescribeTableOutput{t.describe()}, nil
	})
}

// ListTablesInput asks for a page of names.
type ListTablesInput struct {
	ExclusiveStartTableName string
	Limit                   *int // 1 to 100 (default)
}

// ListTablesOutput has names in order.
type ListTablesOutput struct {
	TableNames             []string
	LastEvaluatedTableName string `json:",omitempty"`
}

// ListTables lists table names.
func (db *DB) ListTables(in ListTablesInput) (ListTablesOutput, error) {
	return call(db, "ListTables", "", 0, func(fault.Verdict) (ListTablesOutput, error) {
		limit := 100
		if in.Limit != nil {
			limit = *in.Limit
		}
		if limit < 1 || limit > 100 {
			return ListTablesOutput{}, invalid("1 validation error detected: Value '%d' at 'limit' failed to satisfy constraint: Member must have value between 1 and 100", limit)
		}
		db.mu.RLock()
		names := sortedKeys(db.tables)
		db.mu.RUnlock()
		if after := in.ExclusiveStartTableName; after != "" {
			names = names[sort.SearchStrings(names, after+"\x00"):]
		}
		out := ListTablesOutput{TableNames: names[:min(limit, len(names))]}
		if limit < len(names) {
			out.LastEvaluatedTableName = names[limit-1]
		}
		return out, nil
	})
}

// DeleteTableInput names a table.
type DeleteTableInput struct{ TableName string }

// DeleteTable removes a table with all its items at once.
func (db *DB) DeleteTable(in DeleteTableInput) (TableOutput, error) {
	return call(db, "DeleteTable", in.TableName, 0, func(fault.Verdict) (TableOutput, error) {
		t, err := db.table(in.TableName)
		if err != nil {
			return TableOutput{}, err
		}
		db.mu.Lock()
		delete(db.tables, t.name)
		db.mu.Unlock()
		t.mu.RLock()
		defer t.mu.RUnlock()
		d := t.describe()
		d.TableStatus = "DELETING"
		return TableOutput{d}, nil
	})
}
