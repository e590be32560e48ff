package awscontract

import (
	"context"
	"net/http"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// ddbRow is one fact about DynamoDB.
type ddbRow struct {
	id, title string
	run       func(*ddbKit)
	minutes   bool // waits for longer than anybody does in real time
}

// ddbRows are in the order of their ids, which documents and records of measurements cite. Streams (D17) are not used, and so are no row.
var ddbRows = []ddbRow{
	{id: "D02", title: "conditions on put, update and delete", run: ddbConditions},
	{id: "D03", title: "an absent attribute differs from everything", run: ddbAbsentAttribute},
	{id: "D04", title: "a failed condition returns the item", run: ddbFailedConditionItem},
	{id: "D05", title: "update expressions", run: ddbUpdateExpressions},
	{id: "D06", title: "a transaction is all or nothing, with reasons", run: ddbTransaction},
	{id: "D07", title: "a client request token is applied once", run: ddbToken},
	{id: "D07b", title: "the token's window ends after ten minutes", run: ddbTokenWindow, minutes: true},
	{id: "D08", title: "limits of a transaction", run: ddbTransactionLimits},
	{id: "D09", title: "transactions that race on one item", run: ddbTransactionRace},
	{id: "D11", title: "query a table", run: ddbQueryTable},
	{id: "D12", title: "query an index", run: ddbQueryIndex},
	{id: "D14", title: "scan: counts, segments, filters, pages", run: ddbScan},
	{id: "D15", title: "batches", run: ddbBatches},
	{id: "D16", title: "time to live", run: ddbTimeToLive},
	{id: "D18", title: "requests that are refused", run: ddbRefusals},
	{id: "D19", title: "one of two hundred wins", run: ddbOneWins},
	{id: "D23", title: "numbers", run: ddbNumbers},
	{id: "D24", title: "capacity, projection, late index, delete of a table", run: ddbSundries},
	{id: "D30", title: "the ledger's transitions T1 to T8", run: ddbLedger},
}

// DynamoDB runs every row against the endpoint as a subtest. The rows make tables of their own, one run does not disturb another.
func DynamoDB(t *testing.T, endpoint string, caps Capabilities) {
	client := newDynamoClient(t, endpoint)
	known := map[string]bool{}
	for _, row := range ddbRows {
		known[row.id] = true
		t.Run(row.id+" "+row.title, func(t *testing.T) {
			if caps.lacks(t, row.id, row.minutes) {
				return
			}
			row.run(&ddbKit{T: t, client: client, caps: caps, ctx: t.Context()})
		})
	}
	for id := range caps.Lacks {
		if id[:1] == "D" && !known[id] {
			t.Errorf("the capabilities name %s, and there is no such row", id)
		}
	}
}

// newDynamoClient returns a client that shows every failure: it never retries.
func newDynamoClient(t *testing.T, endpoint string) *dynamodb.Client {
	transport := &http.Transport{MaxIdleConnsPerHost: 256}
	t.Cleanup(transport.CloseIdleConnections)
	return dynamodb.New(dynamodb.Options{
		Region: "us-east-1", BaseEndpoint: aws.String(endpoint), HTTPClient: &http.Client{Transport: wholeBody{transport}},
		Credentials: credentials.NewStaticCredentialsProvider("test", "test", ""), Retryer: aws.NopRetryer{},
	})
}

// ddbKit is what a row works with. Its methods end the row when the endpoint fails a call that must succeed.
type ddbKit struct {
	*testing.T
	client *dynamodb.Client
	caps   Capabilities
	ctx    context.Context // of this subtest
}
