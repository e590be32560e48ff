package awscontract_test

import (
	"context"
	"net/http/httptest"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdfast/holdfast/localstack/awscontract"
	"github.com/holdfast/holdfast/localstack/fifo"
	"github.com/holdfast/holdfast/localstack/wire"
)

// TestLocalCloudKeepsTheSQSContract runs the suite over real HTTP. The engine's clock is real time plus a skew, which is what waiting costs here.
func TestLocalCloudKeepsTheSQSContract(t *testing.T) {
	var skew atomic.Int64
	cloud := fifo.New(fifo.Options{Now: func() time.Time { return time.Now().Add(time.Duration(skew.Load())) }})
	ctx, stop := context.WithCancel(context.Background())
	var run sync.WaitGroup
	run.Go(func() { cloud.Run(ctx) })
	server := httptest.NewServer(wire.New(wire.NewSQS(cloud), nil))
	t.Cleanup(func() {
		server.Close()
		stop()
		run.Wait()
	})
	awscontract.SQS(t, server.URL, awscontract.Capabilities{
		TimeTravel: true,
		Wait: func(d time.Duration) {
			skew.Add(int64(d))
			cloud.Advance()
		},
		Parked: func(queue string) {
			for cloud.Waiting(queue) == 0 {
				runtime.Gosched()
			}
		},
	})
}
