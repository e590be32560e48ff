package awscontract_test

import (
	"net/http/httptest"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdfast/holdfast/localstack/awscontract"
	"github.com/holdfast/holdfast/localstack/fifo"
	"github.com/holdfast/holdfast/localstack/wire"
)

// TestLocalCloudKeepsTheSQSContract runs the suite over real HTTP, on an engine whose clock moves only when a row waits.
func TestLocalCloudKeepsTheSQSContract(t *testing.T) {
	start := time.Now()
	var passed atomic.Int64
	cloud := fifo.New(fifo.Options{Now: func() time.Time { return start.Add(time.Duration(passed.Load())) }})
	server := httptest.NewServer(wire.New(wire.NewSQS(cloud), nil))
	t.Cleanup(server.Close)
	awscontract.SQS(t, server.URL, awscontract.Capabilities{
		TimeTravel: true,
		Wait: func(d time.Duration) {
			passed.Add(int64(d))
			cloud.Advance()
		},
		Parked: func(queue string) {
			for cloud.Waiting(queue) == 0 {
				runtime.Gosched()
			}
		},
	})
}
