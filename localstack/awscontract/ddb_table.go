package awscontract

import (
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// ddbTimeToLive checks what production code may rely on: the setting is kept, and what has not expired stays.
func ddbTimeToLive(k *ddbKit) {
	table := k.table(false, false)
	_, err := k.client.UpdateTimeToLive(k.ctx, &dynamodb.UpdateTimeToLiveInput{TableName: &table, TimeToLiveSpecification: &types.TimeToLiveSpecification{AttributeName: aws.String("expires_s"), Enabled: aws.Bool(true)}})
	k.must(err, "UpdateTimeToLive")
	out, err := k.client.DescribeTimeToLive(k.ctx, &dynamodb.DescribeTimeToLiveInput{TableName: &table})
	k.must(err, "DescribeTimeToLive")
	if d := out.TimeToLiveDescription; d == nil || aws.ToString(d.AttributeName) != "expires_s" || !strings.HasPrefix(string(d.TimeToLiveStatus), "ENABL") {
		k.Errorf("described as %+v", d)
	}
	k.must(k.put(table, item{"pk": textValue("later"), "expires_s": numberValue(time.Now().Add(time.Hour).Unix())}), "put")
	if k.get(table, pk("later")) == nil {
		k.Error("an item that has not expired is gone")
	}
}

func ddbRefusals(k *ddbKit) {
	table := k.table(true, false)
	with := func(v types.AttributeValue) item {
		return item{"pk": textValue("a"), "sk": textValue("b"), "e": v}
	}
	for what, it := range map[string]item{
		"an empty key":             pksk("", "x"),
		"a key of another type":    {"pk": numberValue(1), "sk": textValue("x")},
		"no sort key":              pk("a"),
		"an empty set":             with(setValue()),
		"a repeat in a set":        with(setValue("x", "x")),
		"a number of letters":      with(numberValue("abc")),
		"a number of 40 digits":    with(numberValue(strings.Repeat("1", 39) + ".5")),
		"an item over 400 KB":      with(textValue(strings.Repeat("x", 410<<10))),
		"a hash key over 2 KB":     pksk(strings.Repeat("k", 2049), "b"),
		"a sort key of over 1 KB":  pksk("a", strings.Repeat("k", 1025)),
		"a number out of range":    with(numberValue("1e126")),
		"a number that's too fine": with(numberValue("1e-131")),
	} {
		k.refused(k.put(table, it), what, validation)
	}
	k.must(k.put(table, item{"pk": textValue("a"), "sk": textValue("b"), "e": textValue(""), "nul": &types.AttributeValueMemberNULL{Value: true}, "bin": &types.AttributeValueMemberB{Value: []byte{}}}), "empty values outside of keys")
	x := item{":v": textValue("x")}
	for what, c := range map[string]change{
		"a reserved word":             {update: "SET status = :v", values: x},
		"a key attribute":             {update: "SET sk = :v", values: x},
		"an unused value":             {update: "SET x = :v", values: item{":v": textValue("x"), ":w": textValue("y")}},
		"an unused name":              {update: "SET x = :v", values: x, names: map[string]string{"#u": "u"}},
		"an undefined value":          {update: "SET x = :w", values: x},
		"half an expression":          {update: "SET x = "},
		"ADD to a string":             {update: "ADD e :v", values: item{":v": numberValue(1)}},
		"a sum with an absent number": {update: "SET zz = nope + :v", values: item{":v": numberValue(1)}},
		"doubled parentheses":         {update: "SET x = :v", values: x, condition: "((e = :v))"},
		"an operand twice":            {update: "SET x = :v", values: x, condition: "e = e"},
	} {
		_, err := k.update(table, pksk("a", "b"), c)
		k.refused(err, what, validation)
	}
	_, err := k.update(table, pksk("a", "b"), change{update: "SET #s = :v", values: x, names: map[string]string{"#s": "status"}})
	k.must(err, "a reserved word by an alias")
	ddbReadRefusals(k, table)
	ddbTableRefusals(k, table)
}

func ddbReadRefusals(k *ddbKit, table string) {
	for what, key := range map[string]item{"half a key": pk("a"), "more than a key": {"pk": textValue("a"), "sk": textValue("b"), "z": textValue("c")}} {
		_, err := k.client.GetItem(k.ctx, &dynamodb.GetItemInput{TableName: &table, Key: key})
		k.refused(err, what, validation)
	}
	p := item{":p": textValue("a")}
	for what, in := range map[string]dynamodb.QueryInput{
		"a query without the hash key": {KeyConditionExpression: aws.String("sk = :p"), ExpressionAttributeValues: p},
		"a filter on a key":            {KeyConditionExpression: aws.String("pk = :p"), FilterExpression: aws.String("sk > :p"), ExpressionAttributeValues: p},
		"a limit of zero":              {KeyConditionExpression: aws.String("pk = :p"), Limit: aws.Int32(0), ExpressionAttributeValues: p},
		"OR in a key condition":        {KeyConditionExpression: aws.String("pk = :p OR sk = :p"), ExpressionAttributeValues: p},
	} {
		in.TableName = &table
		_, err := k.client.Query(k.ctx, &in)
		k.refused(err, what, validation)
	}
	_, err := k.client.GetItem(k.ctx, &dynamodb.GetItemInput{TableName: aws.String("no-such-table"), Key: pk("a")})
	k.refused(err, "an unknown table", "ResourceNotFoundException")
}

func ddbTableRefusals(k *ddbKit, table string) {
	create := func(name string, attributes ...string) error {
		in := &dynamodb.CreateTableInput{TableName: &name, BillingMode: "PAY_PER_REQUEST", KeySchema: []types.KeySchemaElement{{AttributeName: aws.String("pk"), KeyType: "HASH"}}}
		for _, attribute := range attributes {
			in.AttributeDefinitions = append(in.AttributeDefinitions, types.AttributeDefinition{AttributeName: &attribute, AttributeType: "S"})
		}
		_, err := k.client.CreateTable(k.ctx, in)
		return err
	}
	k.refused(create(table, "pk"), "a table that is there", "ResourceInUseException")
	k.refused(create(unique("contract"), "pk", "extra"), "a definition without a use", validation)
}

func ddbSundries(k *ddbKit) {
	table := k.table(false, false)
	put := &dynamodb.PutItemInput{TableName: &table, Item: item{"pk": textValue("a"), "v": numberValue(1), "q": textValue("z")}, ReturnConsumedCapacity: "TOTAL", ReturnValues: "ALL_OLD"}
	out, err := k.client.PutItem(k.ctx, put)
	k.must(err, "PutItem")
	if out.ConsumedCapacity == nil || out.Attributes != nil {
		k.Errorf("capacity %v, old item %v", out.ConsumedCapacity, out.Attributes)
	}
	out, err = k.client.PutItem(k.ctx, put)
	k.must(err, "PutItem")
	if plain(out.Attributes["v"]) != "1" {
		k.Errorf("old item %v", out.Attributes)
	}
	got, err := k.client.GetItem(k.ctx, &dynamodb.GetItemInput{TableName: &table, Key: pk("a"), ProjectionExpression: aws.String("v"), ConsistentRead: aws.Bool(true)})
	k.must(err, "GetItem")
	if len(got.Item) != 1 {
		k.Errorf("the projection gives %v", got.Item)
	}
	_, err = k.client.UpdateTable(k.ctx, &dynamodb.UpdateTableInput{
		TableName: &table, AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("pk"), AttributeType: "S"}, {AttributeName: aws.String("q"), AttributeType: "S"}},
		GlobalSecondaryIndexUpdates: []types.GlobalSecondaryIndexUpdate{{Create: &types.CreateGlobalSecondaryIndexAction{
			IndexName: aws.String("late"), KeySchema: []types.KeySchemaElement{{AttributeName: aws.String("q"), KeyType: "HASH"}}, Projection: &types.Projection{ProjectionType: "ALL"},
		}}},
	})
	k.must(err, "UpdateTable")
	k.eventually("the late index", func() bool {
		out, err := k.client.Query(k.ctx, &dynamodb.QueryInput{TableName: &table, IndexName: aws.String("late"), KeyConditionExpression: aws.String("q = :q"), ExpressionAttributeValues: item{":q": textValue("z")}})
		return err == nil && out.Count == 1
	})
	_, err = k.client.DeleteTable(k.ctx, &dynamodb.DeleteTableInput{TableName: &table})
	k.must(err, "DeleteTable")
	k.eventually("the end of the table", func() bool {
		_, err := k.client.DescribeTable(k.ctx, &dynamodb.DescribeTableInput{TableName: &table})
		return err != nil
	})
}
