package dynamo_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/ledger/dynamo"
	"github.com/holdfast/holdfast/localstack/table"
	"github.com/holdfast/holdfast/localstack/wire"
)

var start = time.Date(2026, 3, 1, 4, 0, 0, 0, time.UTC)

func clock() time.Time { return start }

// serve runs the project's own DynamoDB engine behind HTTP on loopback.
func serve(t *testing.T, options table.Options) string {
	t.Helper()
	server := httptest.NewServer(wire.New(nil, wire.NewDynamoDB(table.New(options))))
	t.Cleanup(server.Close)
	return server.URL
}

// dial is the SDK's client as production has it, but for its transport; without
// retries of its own if once is set, so that the store's are seen.
func dial(t *testing.T, url string, wrap func(http.RoundTripper) http.RoundTripper, once bool) *dynamodb.Client {
	t.Helper()
	transport := &http.Transport{MaxIdleConnsPerHost: 32}
	t.Cleanup(transport.CloseIdleConnections)
	return dynamodb.New(dynamodb.Options{
		Region: "eu-central-1", BaseEndpoint: aws.String(url), Credentials: credentials.NewStaticCredentialsProvider("local", "local", ""),
		HTTPClient: &http.Client{Transport: wrap(transport)},
	}, func(o *dynamodb.Options) {
		if once {
			o.Retryer = aws.NopRetryer{}
		}
	})
}

func plain(t http.RoundTripper) http.RoundTripper { return t }

var tables atomic.Int64

// newStore makes a table for one test.
func newStore(t *testing.T, client *dynamodb.Client) *dynamo.Store {
	t.Helper()
	name := fmt.Sprintf("ledger-%d", tables.Add(1))
	if err := dynamo.EnsureTable(t.Context(), client, name); err != nil {
		t.Fatal(err)
	}
	return dynamo.New(client, name, clock)
}

func stores(client *dynamodb.Client) func(*testing.T) ledger.Store {
	return func(t *testing.T) ledger.Store { return newStore(t, client) }
}
