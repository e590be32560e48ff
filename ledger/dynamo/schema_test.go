package dynamo_test

import (
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/holdfast/holdfast/ledger/dynamo"
	"github.com/holdfast/holdfast/localstack/table"
)

func TestEnsureTable(t *testing.T) {
	client := dial(t, serve(t, table.Options{}), plain, false)
	for range 2 {
		if err := dynamo.EnsureTable(t.Context(), client, "ledger"); err != nil {
			t.Fatal(err)
		}
	}
	_, err := client.CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: aws.String("other"), BillingMode: types.BillingModePayPerRequest,
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("id"), KeyType: types.KeyTypeHash}},
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("id"), AttributeType: types.ScalarAttributeTypeS}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := dynamo.EnsureTable(t.Context(), client, "other"); err == nil || !strings.Contains(err.Error(), "choose another name") {
		t.Errorf("a table of another shape: %v", err)
	}
}
