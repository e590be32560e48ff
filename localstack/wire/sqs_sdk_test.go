package wire_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/aws/smithy-go"
	"github.com/holdfast/holdfast/localstack/fault"
	"github.com/holdfast/holdfast/localstack/fifo"
	"github.com/holdfast/holdfast/localstack/wire"
)

func TestSQSFaultsAsTheSDKSeesThem(t *testing.T) {
	h, plan := sqsWire(t)
	server := httptest.NewServer(h)
	defer server.Close()
	client := sqs.New(sqs.Options{
		Region: wire.Region, BaseEndpoint: &server.URL, HTTPClient: server.Client(), Retryer: aws.NopRetryer{},
		Credentials: credentials.NewStaticCredentialsProvider("test", "test", ""),
	})
	url := server.URL + "/" + wire.Account + "/q.fifo"
	send := func() error {
		_, err := client.SendMessage(t.Context(), &sqs.SendMessageInput{QueueUrl: &url, MessageBody: aws.String("b"), MessageGroupId: aws.String("g"), MessageDeduplicationId: aws.String("d")})
		return err
	}
	plan.Once(fault.Point{Op: "SendMessage"}, fault.Verdict{Kind: fault.Throttle})
	var throttled *types.RequestThrottled
	if err := send(); !errors.As(err, &throttled) {
		t.Errorf("throttled: %v", err)
	}
	plan.Once(fault.Point{Op: "SendMessage"}, fault.Verdict{Kind: fault.FailBefore})
	var api smithy.APIError
	if err := send(); !errors.As(err, &api) || api.ErrorCode() != "InternalFailure" || api.ErrorFault() != smithy.FaultServer {
		t.Errorf("failed: %v", err)
	}
	plan.Once(fault.Point{Op: "SendMessage"}, fault.Verdict{Kind: fault.LoseAnswer})
	if err := send(); err == nil || errors.As(err, &api) {
		t.Errorf("a lost answer is no answer of the service: %v", err)
	}
	plan.Once(fault.Point{Op: "SendMessageBatch"}, fault.FailEntries(1))
	var entries []types.SendMessageBatchRequestEntry
	for _, id := range []string{"a", "b"} {
		entries = append(entries, types.SendMessageBatchRequestEntry{Id: aws.String(id), MessageBody: aws.String("b"), MessageGroupId: aws.String("g"), MessageDeduplicationId: aws.String(id)})
	}
	out, err := client.SendMessageBatch(t.Context(), &sqs.SendMessageBatchInput{QueueUrl: &url, Entries: entries})
	if err != nil || len(out.Successful) != 1 || len(out.Failed) != 1 || *out.Failed[0].Id != "b" || out.Failed[0].SenderFault {
		t.Errorf("half a batch: %+v %v", out, err)
	}
	if st, err := client.GetQueueAttributes(t.Context(), &sqs.GetQueueAttributesInput{QueueUrl: &url, AttributeNames: []types.QueueAttributeName{"All"}}); err != nil || st.Attributes["ApproximateNumberOfMessages"] != "2" {
		t.Errorf("stored: %v %v, want the one whose answer was lost and half a batch", st, err)
	}
}

// A receiver who leaves while it waits takes no message along.
func TestSQSPollOfAClientThatLeft(t *testing.T) {
	cloud := fifo.New(fifo.Options{})
	if err := cloud.CreateQueue("q.fifo", func(c *fifo.Config) { c.ReceiveWait = 20 * time.Second }); err != nil {
		t.Fatal(err)
	}
	h := wire.New(wire.NewSQS(cloud), nil)
	ctx, leave := context.WithCancel(t.Context())
	r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(`{"QueueUrl":"`+sqsHost+`q.fifo"}`)).WithContext(ctx)
	r.Header.Set("X-Amz-Target", "AmazonSQS.ReceiveMessage")
	var end any
	var gone sync.WaitGroup
	gone.Go(func() {
		defer func() { end = recover() }()
		h.ServeHTTP(httptest.NewRecorder(), r)
	})
	for cloud.Waiting("q.fifo") == 0 {
		runtime.Gosched()
	}
	leave()
	gone.Wait()
	if end != http.ErrAbortHandler {
		t.Fatalf("the poll ended with %v", end)
	}
	if n := cloud.Waiting("q.fifo"); n != 0 {
		t.Fatalf("%d polls wait for nobody", n)
	}
}
