package wire_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/holdfast/holdfast/localstack/fifo"
	"github.com/holdfast/holdfast/localstack/wire"
)

// Whatever is sent, the answer is well-formed and never a failure of the server.
func FuzzSQS(f *testing.F) {
	url := `"QueueUrl":"` + sqsHost + `q.fifo"`
	for _, seed := range []struct{ op, body string }{
		{"CreateQueue", `{"QueueName":"a.fifo","Attributes":{"FifoQueue":"true","RedrivePolicy":"{\"maxReceiveCount\":1}"}}`},
		{"SendMessage", `{` + url + `,"MessageBody":"b","MessageGroupId":"g","MessageDeduplicationId":"d","MessageAttributes":{"a":{"DataType":"Binary","BinaryValue":"AA=="}}}`},
		{"SendMessageBatch", `{` + url + `,"Entries":[{"Id":"1","MessageBody":"b","MessageGroupId":"g","MessageDeduplicationId":"e"}]}`},
		{"ReceiveMessage", `{` + url + `,"MaxNumberOfMessages":10,"VisibilityTimeout":0,"WaitTimeSeconds":1,"MessageSystemAttributeNames":["All"],"MessageAttributeNames":["a.*"]}`},
		{"DeleteMessageBatch", `{` + url + `,"Entries":[{"Id":"1","ReceiptHandle":"AAAA"}]}`},
		{"ChangeMessageVisibilityBatch", `{` + url + `,"Entries":[{"Id":"1","ReceiptHandle":"AAAA","VisibilityTimeout":-1}]}`},
		{"GetQueueAttributes", `{` + url + `,"AttributeNames":["All"]}`},
		{"SetQueueAttributes", `{` + url + `,"Attributes":{"VisibilityTimeout":"9999999999"}}`},
		{"StartMessageMoveTask", `{"SourceArn":"arn:aws:sqs:us-east-1:000000000000:q.fifo"}`},
		{"ListQueues", `null`},
	} {
		f.Add(seed.op, seed.body)
	}
	f.Fuzz(func(t *testing.T, op, body string) {
		cloud := fifo.New(fifo.Options{})
		if err := cloud.CreateQueue("q.fifo", nil); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel() // nobody waits for a long poll
		r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body)).WithContext(ctx)
		r.Header["X-Amz-Target"] = []string{"AmazonSQS." + op}
		w := httptest.NewRecorder()
		if aborted(func() { wire.New(wire.NewSQS(cloud), nil).ServeHTTP(w, r) }) {
			return
		}
		var a map[string]any
		if err := json.Unmarshal(w.Body.Bytes(), &a); err != nil || w.Code >= 500 {
			t.Fatalf("%d %s: %v", w.Code, w.Body, err)
		}
		if _, failed := a["__type"]; failed != (w.Code != http.StatusOK) {
			t.Fatalf("status %d with %s", w.Code, w.Body)
		}
	})
}

// aborted runs f and reports whether it dropped the connection.
func aborted(f func()) (yes bool) {
	defer func() {
		if v := recover(); v != nil {
			if v != http.ErrAbortHandler {
				panic(fmt.Sprint(v))
			}
			yes = true
		}
	}()
	f()
	return false
}
