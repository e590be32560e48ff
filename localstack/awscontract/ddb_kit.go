package awscontract

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
)

// item is an item, a key or a set of expression values.
type item = map[string]types.AttributeValue

// The error codes of DynamoDB that rows look for.
const (
	conditionFailed = "ConditionalCheckFailedException"
	validation      = "ValidationException"
)

func textValue(text string) types.AttributeValue { return &types.AttributeValueMemberS{Value: text} }

func numberValue(n any) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: fmt.Sprint(n)}
}

func setValue(members ...string) types.AttributeValue {
	return &types.AttributeValueMemberSS{Value: members}
}

func listValue(elements ...types.AttributeValue) types.AttributeValue {
	return &types.AttributeValueMemberL{Value: elements}
}

func pk(value string) item { return item{"pk": textValue(value)} }

func pksk(p, s string) item { return item{"pk": textValue(p), "sk": textValue(s)} }

// plain writes a value for comparing: sets {a,b}, lists [1,2], maps (a:1), absent "none".
func plain(v types.AttributeValue) string {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return v.Value
	case *types.AttributeValueMemberN:
		return v.Value
	case *types.AttributeValueMemberSS:
		return "{" + strings.Join(slices.Sorted(slices.Values(v.Value)), ",") + "}"
	case *types.AttributeValueMemberL:
		var parts []string
		for _, element := range v.Value {
			parts = append(parts, plain(element))
		}
		return "[" + strings.Join(parts, ",") + "]"
	case *types.AttributeValueMemberM:
		var parts []string
		for name, element := range v.Value {
			parts = append(parts, name+":"+plain(element))
		}
		return "(" + strings.Join(slices.Sorted(slices.Values(parts)), ",") + ")"
	case nil:
		return "none"
	}
	return fmt.Sprintf("%T", v)
}

func (k *ddbKit) must(err error, what string) {
	k.Helper()
	if err != nil {
		k.Fatalf("%s: %v", what, err)
	}
}

// refused checks that err is the service's, with this code.
func (k *ddbKit) refused(err error, what, code string) {
	k.Helper()
	var api smithy.APIError
	if !errors.As(err, &api) || api.ErrorCode() != code {
		k.Errorf("%s: %v, want %s", what, err, code)
	}
}

// table creates a table with the key pk, or pk and sk. With indexes, "gsi1" (gpk, gsk) shows all attributes and "gsi2" (gpk) only keys.
func (k *ddbKit) table(sort, indexes bool) string {
	k.Helper()
	name := unique("contract")
	in := &dynamodb.CreateTableInput{TableName: &name, BillingMode: types.BillingModePayPerRequest}
	element := func(name string, kind types.KeyType) types.KeySchemaElement {
		return types.KeySchemaElement{AttributeName: &name, KeyType: kind}
	}
	define := func(names ...string) {
		for _, name := range names {
			in.AttributeDefinitions = append(in.AttributeDefinitions, types.AttributeDefinition{AttributeName: &name, AttributeType: "S"})
		}
	}
	define("pk")
	in.KeySchema = append(in.KeySchema, element("pk", "HASH"))
	if sort {
		define("sk")
		in.KeySchema = append(in.KeySchema, element("sk", "RANGE"))
	}
	if indexes {
		define("gpk", "gsk")
		in.GlobalSecondaryIndexes = []types.GlobalSecondaryIndex{
			{IndexName: aws.String("gsi1"), KeySchema: []types.KeySchemaElement{element("gpk", "HASH"), element("gsk", "RANGE")}, Projection: &types.Projection{ProjectionType: "ALL"}},
			{IndexName: aws.String("gsi2"), KeySchema: []types.KeySchemaElement{element("gpk", "HASH")}, Projection: &types.Projection{ProjectionType: "KEYS_ONLY"}},
		}
	}
	_, err := k.client.CreateTable(k.ctx, in)
	k.must(err, "CreateTable")
	k.must(dynamodb.NewTableExistsWaiter(k.client, func(o *dynamodb.TableExistsWaiterOptions) {
		o.MinDelay = 100 * time.Millisecond
	}).Wait(k.ctx, &dynamodb.DescribeTableInput{TableName: &name}, time.Minute), "wait for the table")
	return name
}

func (k *ddbKit) put(table string, it item) error {
	_, err := k.client.PutItem(k.ctx, &dynamodb.PutItemInput{TableName: &table, Item: it})
	return err
}

func (k *ddbKit) get(table string, key item) item {
	k.Helper()
	out, err := k.client.GetItem(k.ctx, &dynamodb.GetItemInput{TableName: &table, Key: key, ConsistentRead: aws.Bool(true)})
	k.must(err, "GetItem")
	return out.Item
}

// change is an update; what is empty is left out.
type change struct {
	update, condition string
	names             map[string]string
	values            item
	returned          types.ReturnValue
}

func (k *ddbKit) update(table string, key item, c change) (item, error) {
	in := &dynamodb.UpdateItemInput{TableName: &table, Key: key, UpdateExpression: &c.update, ExpressionAttributeNames: c.names, ExpressionAttributeValues: c.values, ReturnValues: c.returned}
	if c.condition != "" {
		in.ConditionExpression = &c.condition
	}
	out, err := k.client.UpdateItem(k.ctx, in)
	if err != nil {
		return nil, err
	}
	return out.Attributes, nil
}

func (k *ddbKit) transact(token string, actions ...types.TransactWriteItem) error {
	in := &dynamodb.TransactWriteItemsInput{TransactItems: actions}
	if token != "" {
		in.ClientRequestToken = &token
	}
	_, err := k.client.TransactWriteItems(k.ctx, in)
	return err
}

// reasons are the codes of a cancelled transaction, "None,ConditionalCheckFailed", and the items of its reasons.
func (k *ddbKit) reasons(err error) (string, []item) {
	k.Helper()
	var canceled *types.TransactionCanceledException
	if !errors.As(err, &canceled) {
		k.Fatalf("got %v, want a cancelled transaction", err)
	}
	var codes []string
	var items []item
	for _, reason := range canceled.CancellationReasons {
		codes = append(codes, aws.ToString(reason.Code))
		items = append(items, reason.Item)
	}
	return strings.Join(codes, ","), items
}

// eventually waits until ok, which an index of AWS may take a moment to be.
func (k *ddbKit) eventually(what string, ok func() bool) {
	k.Helper()
	for range 50 {
		if ok() {
			return
		}
		k.caps.wait(100 * time.Millisecond)
	}
	k.Errorf("%s never came", what)
}

// query reads all pages.
func (k *ddbKit) query(in dynamodb.QueryInput) (items []item, pages int) {
	k.Helper()
	for {
		out, err := k.client.Query(k.ctx, &in)
		k.must(err, "Query")
		items = append(items, out.Items...)
		if pages++; out.LastEvaluatedKey == nil {
			return items, pages
		}
		in.ExclusiveStartKey = out.LastEvaluatedKey
	}
}
