package wire_test

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/holdfast/holdfast/localstack/fault"
	"github.com/holdfast/holdfast/localstack/table"
	"github.com/holdfast/holdfast/localstack/wire"
)

const dynamoTarget = "DynamoDB_20120810."

// newMain returns an engine with a table "main" (pk) and its handler.
func newMain(t testing.TB, plan fault.Plan) (*table.DB, http.Handler) {
	t.Helper()
	db := table.New(table.Options{Faults: plan})
	_, err := db.CreateTable(table.CreateTableInput{
		TableName: "main", BillingMode: "PAY_PER_REQUEST",
		AttributeDefinitions: []table.AttributeDefinition{{AttributeName: "pk", AttributeType: "S"}},
		KeySchema:            []table.KeyElement{{AttributeName: "pk", KeyType: "HASH"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return db, wire.New(nil, wire.NewDynamoDB(db))
}

// newClient returns an SDK client on the transport; it tries each call so often, without waiting in between.
func newClient(endpoint string, transport http.RoundTripper, attempts int) *dynamodb.Client {
	return dynamodb.New(dynamodb.Options{
		Region: wire.Region, BaseEndpoint: aws.String(endpoint), HTTPClient: &http.Client{Transport: transport},
		Credentials: credentials.NewStaticCredentialsProvider("local", "local", ""),
		Retryer: retry.NewStandard(func(o *retry.StandardOptions) {
			o.MaxAttempts, o.Backoff = attempts, retry.BackoffDelayerFunc(func(int, error) (time.Duration, error) { return 0, nil })
		}),
	})
}

func mine(bid string) *dynamodb.PutItemInput {
	return &dynamodb.PutItemInput{
		TableName:           aws.String("main"),
		Item:                map[string]types.AttributeValue{"pk": &types.AttributeValueMemberS{Value: "a"}, "bid": &types.AttributeValueMemberS{Value: bid}},
		ConditionExpression: aws.String("attribute_not_exists(pk)"), ReturnValuesOnConditionCheckFailure: "ALL_OLD",
	}
}

func TestDynamoDBRefusesWhatItDoesNotImplement(t *testing.T) {
	_, h := newMain(t, nil)
	for _, c := range []struct{ op, body, want string }{
		{"ExecuteStatement", `{}`, "UnknownOperationException"},
		{"CreateBackup", `{}`, "UnknownOperationException"},
		{"PutItem", `{"TableName":"main","Item":{"pk":{"S":"a"}},"Expected":{}}`, `does not implement PutItem with field \"Expected\"`},
		{"UpdateItem", `{"TableName":"main","Key":{"pk":{"S":"a"}},"AttributeUpdates":{}}`, `field \"AttributeUpdates\"`},
		{"Query", `{"TableName":"main","KeyConditions":{}}`, `field \"KeyConditions\"`},
		{"GetItem", `{"TableName":"main","Key":{"pk":{"S":"a"}},"AttributesToGet":["x"]}`, `field \"AttributesToGet\"`},
		{"CreateTable", `{"TableName":"other","LocalSecondaryIndexes":[]}`, `field \"LocalSecondaryIndexes\"`},
		{"CreateTable", `{"TableName":"other","StreamSpecification":{"StreamEnabled":true}}`, `field \"StreamSpecification\"`},
		{"PutItem", `{"TableName":"main","Item":{"pk":{"S":"a","N":"1"}}}`, "more than one datatypes"},
		{"PutItem", `{"TableName":"main","Item":{"pk":{}}}`, "ValidationException"},
		{"PutItem", `{"TableName":"main","Item":{"pk":{"N":1}}}`, "SerializationException"},
		{"PutItem", `{"TableName":"main","Item":{"pk":{"Q":"1"}}}`, "SerializationException"},
		{"PutItem", `{"TableName":1}`, "SerializationException"},
		{"PutItem", `{`, "SerializationException"},
		{"PutItem", ``, "SerializationException"},
		{"PutItem", `{"TableName":"gone","Item":{"pk":{"S":"a"}}}`, "ResourceNotFoundException"},
	} {
		w := call(h, dynamoTarget+c.op, c.body)
		if w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), c.want) {
			t.Errorf("%s %s: %d %s, want %s", c.op, c.body, w.Code, w.Body, c.want)
		}
		if want := strconv.FormatUint(uint64(crc32.ChecksumIEEE(w.Body.Bytes())), 10); w.Header().Get("X-Amz-Crc32") != want {
			t.Errorf("%s: checksum %s, want %s", c.op, w.Header().Get("X-Amz-Crc32"), want)
		}
	}
}

func TestDynamoDBBoundsTheBody(t *testing.T) {
	_, h := newMain(t, nil)
	body := `{"TableName":"main","Item":{"pk":{"S":"` + strings.Repeat("x", wire.MaxBodyBytes) + `"}}}`
	if w := call(h, dynamoTarget+"PutItem", body); w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), "send less") {
		t.Errorf("answered %d %.200s", w.Code, w.Body)
	}
}

// A lost answer is a broken connection; the SDK's own second attempt then meets its own item, on the network and in process.
func TestDynamoDBLosesAnswers(t *testing.T) {
	for _, network := range []bool{true, false} {
		var script fault.Script
		db, h := newMain(t, &script)
		endpoint, transport := "http://local.invalid", wire.InProcess(h)
		if network {
			server := httptest.NewServer(h)
			defer server.Close()
			endpoint, transport = server.URL, server.Client().Transport
		}
		lose := func() { script.Once(fault.Point{Op: "PutItem"}, fault.Verdict{Kind: fault.LoseAnswer}) }
		lose()
		if _, err := newClient(endpoint, transport, 1).PutItem(t.Context(), mine("1")); err == nil {
			t.Error("the lost answer was a success")
		}
		if out, err := db.GetItem(table.GetItemInput{TableName: "main", Key: table.Item{"pk": table.S("a")}}); err != nil || out.Item == nil {
			t.Errorf("the call whose answer was lost had no effect: %v", err)
		}
		if _, err := db.DeleteItem(table.DeleteItemInput{TableName: "main", Key: table.Item{"pk": table.S("a")}}); err != nil {
			t.Fatal(err)
		}
		lose()
		_, err := newClient(endpoint, transport, 2).PutItem(t.Context(), mine("2"))
		var failed *types.ConditionalCheckFailedException
		if !errors.As(err, &failed) || failed.Item["bid"].(*types.AttributeValueMemberS).Value != "2" {
			t.Errorf("the second attempt got %v", err)
		}
		if script.Fired(fault.LoseAnswer) != 2 {
			t.Errorf("%d answers were lost", script.Fired(fault.LoseAnswer))
		}
	}
}

// The SDK retries what DynamoDB means to be retried.
func TestDynamoDBFaultsAreRetriedBySDK(t *testing.T) {
	for _, kind := range []fault.Kind{fault.Throttle, fault.FailBefore} {
		var script fault.Script
		_, h := newMain(t, &script)
		script.Once(fault.Point{Op: "PutItem"}, fault.Verdict{Kind: kind})
		if _, err := newClient("http://local.invalid", wire.InProcess(h), 2).PutItem(t.Context(), mine("1")); err != nil || script.Fired(kind) != 1 {
			t.Errorf("%s: %v after %d faults", kind, err, script.Fired(kind))
		}
	}
	var script fault.Script
	_, h := newMain(t, &script)
	script.Once(fault.Point{Op: "TransactWriteItems"}, fault.Verdict{Kind: fault.Conflict})
	put := mine("1")
	_, err := newClient("http://local.invalid", wire.InProcess(h), 1).TransactWriteItems(t.Context(), &dynamodb.TransactWriteItemsInput{
		TransactItems: []types.TransactWriteItem{{Put: &types.Put{TableName: put.TableName, Item: put.Item}}},
	})
	var canceled *types.TransactionCanceledException
	if !errors.As(err, &canceled) || aws.ToString(canceled.CancellationReasons[0].Code) != "TransactionConflict" || !strings.Contains(canceled.ErrorMessage(), "[TransactionConflict]") {
		t.Errorf("a conflict arrived as %v", err)
	}
}

func TestInProcessHonoursTheContext(t *testing.T) {
	_, h := newMain(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := newClient("http://local.invalid", wire.InProcess(h), 1).PutItem(ctx, mine("1")); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// Nothing that a client sends makes the handler panic or answer 5xx.
func FuzzDynamoDB(f *testing.F) {
	ops := []string{
		"BatchGetItem", "BatchWriteItem", "CreateTable", "DeleteItem", "DeleteTable", "DescribeTable", "DescribeTimeToLive", "GetItem", "ListTables",
		"PutItem", "Query", "Scan", "TransactGetItems", "TransactWriteItems", "UpdateItem", "UpdateTable", "UpdateTimeToLive", "Nonsense",
	}
	for _, seed := range []struct{ op, body string }{
		{"PutItem", `{"TableName":"main","Item":{"pk":{"S":"a"}},"ConditionExpression":"attribute_not_exists(#p)","ExpressionAttributeNames":{"#p":"pk"}}`},
		{"UpdateItem", `{"TableName":"main","Key":{"pk":{"S":"a"}},"UpdateExpression":"SET x = if_not_exists(x, :v) + :v","ExpressionAttributeValues":{":v":{"N":"1"}},"ReturnValues":"ALL_NEW"}`},
		{"Query", `{"TableName":"main","KeyConditionExpression":"pk = :p","ExpressionAttributeValues":{":p":{"S":"a"}},"Limit":1,"ExclusiveStartKey":{"pk":{"S":"a"}}}`},
		{"Scan", `{"TableName":"main","Segment":0,"TotalSegments":2,"Select":"COUNT"}`},
		{"TransactWriteItems", `{"TransactItems":[{"Put":{"TableName":"main","Item":{"pk":{"S":"a"}}}},{"ConditionCheck":{"TableName":"main","Key":{"pk":{"S":"b"}},"ConditionExpression":"attribute_exists(pk)"}}],"ClientRequestToken":"t"}`},
		{"TransactGetItems", `{"TransactItems":[{"Get":{"TableName":"main","Key":{"pk":{"S":"a"}}}},null]}`},
		{"BatchGetItem", `{"RequestItems":{"main":{"Keys":[{"pk":{"S":"a"}}]}}}`},
		{"BatchWriteItem", `{"RequestItems":{"main":[{"PutRequest":{"Item":{"pk":{"S":"a"}}}},{"DeleteRequest":{"Key":{"pk":{"S":"b"}}}}]}}`},
		{"CreateTable", `{"TableName":"new","BillingMode":"PAY_PER_REQUEST","AttributeDefinitions":[{"AttributeName":"k","AttributeType":"N"}],"KeySchema":[{"AttributeName":"k","KeyType":"HASH"}]}`},
		{"UpdateTable", `{"TableName":"main","GlobalSecondaryIndexUpdates":[{"Create":null},{"Delete":{"IndexName":"x"}}]}`},
		{"UpdateTimeToLive", `{"TableName":"main","TimeToLiveSpecification":{"AttributeName":"x","Enabled":true}}`},
		{"ListTables", `{"Limit":1}`},
	} {
		f.Add(slices.Index(ops, seed.op), seed.body)
	}
	f.Fuzz(func(t *testing.T, op int, body string) {
		_, h := newMain(t, nil)
		if w := call(h, dynamoTarget+ops[max(op, 0)%len(ops)], body); w.Code >= http.StatusInternalServerError {
			t.Errorf("answered %d %s", w.Code, w.Body)
		}
	})
}

// What the server spends on a transaction of six items, reading and writing JSON included.
func BenchmarkDynamoDBTransactSix(b *testing.B) {
	_, h := newMain(b, nil)
	action := `{"Put":{"TableName":"main","Item":{"pk":{"S":"B#%d-%d"},"bid":{"S":"0123456789abcdef"},"st":{"S":"HELD"},"ch":{"S":"0123456789abcdef0123456789abcdef"},"hold_until":{"N":"1767225600000"}},"ConditionExpression":"attribute_not_exists(pk) OR bid = :bid","ExpressionAttributeValues":{":bid":{"S":"0123456789abcdef"}},"ReturnValuesOnConditionCheckFailure":"ALL_OLD"}}`
	for i := range b.N {
		actions := make([]string, 6)
		for j := range actions {
			actions[j] = fmt.Sprintf(action, i, j)
		}
		body := fmt.Sprintf(`{"TransactItems":[%s],"ClientRequestToken":"token-%d"}`, strings.Join(actions, ","), i)
		if w := call(h, dynamoTarget+"TransactWriteItems", body); w.Code != http.StatusOK {
			b.Fatalf("answered %d %s", w.Code, w.Body)
		}
	}
}
