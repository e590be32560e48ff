package sim

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"net/http"
	"regexp"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/ledger/dynamo"
	"github.com/holdfast/holdfast/localstack/table"
	"github.com/holdfast/holdfast/localstack/wire"
)

// tables is the ledger as it is in production: the adapter, the SDK, and the
// local cloud's table engine behind its wire format, with no socket in between.
type tables struct {
	door http.RoundTripper
	raw  ledger.Store // with no network in between
}

const tableName = "holdfast"

func newTables(ctx context.Context) (*tables, error) {
	t := &tables{door: wire.InProcess(wire.New(nil, wire.NewDynamoDB(table.New(table.Options{Now: time.Now}))))}
	client := newClient(t.door)
	if err := dynamo.EnsureTable(ctx, client, tableName); err != nil {
		return nil, fmt.Errorf("sim: make the table: %w", err)
	}
	t.raw = dynamo.New(client, tableName, time.Now)
	return t, nil
}

// open is the ledger as a process sees it.
func (t *tables) open(p *process) ledger.Store {
	return dynamo.New(newClient(transport{p: p, service: "ledger", inner: t.door, detail: tableCall}), tableName, p.Now)
}

// newClient is an SDK client that repeats a call twice, after pauses that do not
// depend on chance.
func newClient(t http.RoundTripper) *dynamodb.Client {
	return dynamodb.New(dynamodb.Options{
		Region: wire.Region, BaseEndpoint: aws.String("http://dynamodb.example"), HTTPClient: &http.Client{Transport: t},
		Credentials: credentials.NewStaticCredentialsProvider("local", "local", ""),
		Retryer: retry.NewStandard(func(o *retry.StandardOptions) {
			o.MaxAttempts = 3
			o.Backoff = retry.BackoffDelayerFunc(func(attempt int, _ error) (time.Duration, error) {
				return time.Duration(attempt) * 50 * time.Millisecond, nil
			})
		}),
	})
}

// byChance are the parts of a request that differ from run to run: what the SDK
// and the adapter draw at random.
var byChance = regexp.MustCompile(`"ClientRequestToken":"[^"]*"|"writer":\{"S":"[^"]*"\}|"[A-Z2-7]{26}"`)

// tableCall names a call of the table. Its body is written anew, since the SDK
// writes maps in any order.
func tableCall(r *http.Request, body []byte) (op, id string) {
	var doc any
	if err := json.Unmarshal(body, &doc); err != nil {
		panic(err) // the SDK wrote it
	}
	ordered, err := json.Marshal(doc)
	if err != nil {
		panic(err)
	}
	return wire.Op(r), fmt.Sprintf("%08x", crc32.ChecksumIEEE(byChance.ReplaceAll(ordered, nil)))
}
