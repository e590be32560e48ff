package awscontract_test

import (
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdfast/holdfast/localstack/awscontract"
	"github.com/holdfast/holdfast/localstack/table"
	"github.com/holdfast/holdfast/localstack/wire"
)

// localDynamoDB starts an engine over real HTTP. Its clock is real time plus a skew, which is what waiting costs here.
func localDynamoDB(t *testing.T, lag func(table, index string) time.Duration) (endpoint string, caps awscontract.Capabilities) {
	var skew atomic.Int64
	db := table.New(table.Options{Now: func() time.Time { return time.Now().Add(time.Duration(skew.Load())) }, Lag: lag})
	server := httptest.NewServer(wire.New(nil, wire.NewDynamoDB(db)))
	t.Cleanup(server.Close)
	return server.URL, awscontract.Capabilities{TimeTravel: true, Wait: func(d time.Duration) { skew.Add(int64(d)) }}
}

func TestLocalCloudKeepsTheDynamoDBContract(t *testing.T) {
	endpoint, caps := localDynamoDB(t, nil)
	awscontract.DynamoDB(t, endpoint, caps)
}

// With indexes and stale reads that lag, as on AWS, the contract holds all the same.
func TestLocalCloudKeepsTheDynamoDBContractWithLag(t *testing.T) {
	endpoint, caps := localDynamoDB(t, func(_, index string) time.Duration {
		if index == "" {
			return 50 * time.Millisecond
		}
		return time.Second
	})
	awscontract.DynamoDB(t, endpoint, caps)
}
