package dynamo

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Names of the table's keys and of its one index, for whoever makes the table.
const (
	PartitionKey = "pk"
	SortKey      = "sk"

	DueIndex        = "due"
	DuePartitionKey = "due_pk"
	DueSortKey      = "due_sk"
)

// TableClient is what EnsureTable calls; *dynamodb.Client is one.
type TableClient interface {
	CreateTable(context.Context, *dynamodb.CreateTableInput, ...func(*dynamodb.Options)) (*dynamodb.CreateTableOutput, error)
	DescribeTable(context.Context, *dynamodb.DescribeTableInput, ...func(*dynamodb.Options)) (*dynamodb.DescribeTableOutput, error)
}

// EnsureTable makes the table, on demand, unless it is there, and waits until
// it and its index are active. For local clouds and tests; on AWS the stack
// makes it, with backups. Safe to call at once and again.
func EnsureTable(ctx context.Context, client TableClient, table string) error {
	_, err := client.CreateTable(ctx, tableInput(table))
	var exists *types.ResourceInUseException
	if err != nil && !errors.As(err, &exists) {
		return fmt.Errorf("create table %s: %w", table, err)
	}
	const between = 200 * time.Millisecond
	for {
		out, err := client.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: aws.String(table)})
		if err != nil {
			return fmt.Errorf("look at table %s: %w", table, err)
		}
		if ready, err := ready(out.Table); ready || err != nil {
			return err
		}
		if err := pause(ctx, between); err != nil {
			return fmt.Errorf("wait for table %s: %w", table, err)
		}
	}
}

func tableInput(table string) *dynamodb.CreateTableInput {
	in := &dynamodb.CreateTableInput{
		TableName: aws.String(table), BillingMode: types.BillingModePayPerRequest,
		KeySchema: keySchema(PartitionKey, SortKey),
		GlobalSecondaryIndexes: []types.GlobalSecondaryIndex{{
			IndexName: aws.String(DueIndex), KeySchema: keySchema(DuePartitionKey, DueSortKey),
			Projection: &types.Projection{ProjectionType: types.ProjectionTypeKeysOnly},
		}},
	}
	for _, name := range []string{PartitionKey, SortKey, DuePartitionKey, DueSortKey} {
		in.AttributeDefinitions = append(in.AttributeDefinitions,
			types.AttributeDefinition{AttributeName: aws.String(name), AttributeType: types.ScalarAttributeTypeS})
	}
	return in
}

func keySchema(hash, sort string) []types.KeySchemaElement {
	return []types.KeySchemaElement{
		{AttributeName: aws.String(hash), KeyType: types.KeyTypeHash},
		{AttributeName: aws.String(sort), KeyType: types.KeyTypeRange},
	}
}

// ready reports whether the table can be used; a table of another shape is an
// error, because every write to it would be.
func ready(t *types.TableDescription) (bool, error) {
	if !sameKeys(t.KeySchema, keySchema(PartitionKey, SortKey)) {
		return false, fmt.Errorf("table %s has other keys than %s and %s: choose another name for the ledger's table", aws.ToString(t.TableName), PartitionKey, SortKey)
	}
	for _, index := range t.GlobalSecondaryIndexes {
		if aws.ToString(index.IndexName) == DueIndex && sameKeys(index.KeySchema, keySchema(DuePartitionKey, DueSortKey)) {
			return t.TableStatus == types.TableStatusActive && index.IndexStatus == types.IndexStatusActive, nil
		}
	}
	return false, fmt.Errorf("table %s lacks the index %s: add it or choose another table", aws.ToString(t.TableName), DueIndex)
}

func sameKeys(a, b []types.KeySchemaElement) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if aws.ToString(a[i].AttributeName) != aws.ToString(b[i].AttributeName) || a[i].KeyType != b[i].KeyType {
			return false
		}
	}
	return true
}
