package wire_test

import (
	"crypto/md5"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/holdfast/holdfast/localstack/fault"
	"github.com/holdfast/holdfast/localstack/fifo"
	"github.com/holdfast/holdfast/localstack/wire"
)

const sqsHost = "http://example.com/" + wire.Account + "/" // httptest's host

// sqsWire is a handler with one queue, q.fifo, and the plan of its faults.
func sqsWire(t *testing.T) (*wire.Handler, *fault.Script) {
	t.Helper()
	plan := &fault.Script{}
	cloud := fifo.New(fifo.Options{Faults: plan})
	if err := cloud.CreateQueue("q.fifo", nil); err != nil {
		t.Fatal(err)
	}
	return wire.New(wire.NewSQS(cloud), nil), plan
}

// answer is what tests read of any answer.
type answer struct {
	Type       string `json:"__type"`
	Message    string `json:"message"`
	QueueURL   string `json:"QueueUrl"`
	QueueURLs  []string
	Attributes map[string]string
	Successful []struct{ Id string }
	Failed     []struct {
		Id, Code    string
		SenderFault bool
	}
	MD5OfMessageAttributes string
	TaskHandle             string
}

func sqsCall(t *testing.T, h http.Handler, op, body string) (*httptest.ResponseRecorder, answer) {
	t.Helper()
	w := call(h, "AmazonSQS."+op, body)
	var a answer
	if err := json.Unmarshal(w.Body.Bytes(), &a); err != nil {
		t.Fatalf("%s answered %q: %v", op, w.Body, err)
	}
	return w, a
}

func TestSQSRefusesWhatItDoesNotImplement(t *testing.T) {
	h, _ := sqsWire(t)
	for name, c := range map[string]struct{ op, body, typ, says string }{
		"operation":         {"AddPermission", `{}`, "InvalidAction", "AddPermission"},
		"parameter":         {"SendMessage", `{"QueueUrl":"` + sqsHost + `q.fifo","MessageBody":"b","Whatever":1}`, "UnsupportedOperation", "Whatever"},
		"plain queue":       {"CreateQueue", `{"QueueName":"plain"}`, "UnsupportedOperation", "FIFO"},
		"tags":              {"CreateQueue", `{"QueueName":"x.fifo","tags":{"a":"b"}}`, "UnsupportedOperation", "tags"},
		"policy":            {"SetQueueAttributes", `{"QueueUrl":"` + sqsHost + `q.fifo","Attributes":{"Policy":"{}"}}`, "UnsupportedOperation", "Policy"},
		"not FIFO any more": {"SetQueueAttributes", `{"QueueUrl":"` + sqsHost + `q.fifo","Attributes":{"FifoQueue":"false"}}`, "UnsupportedOperation", "FIFO"},
		"trace header":      {"SendMessage", `{"QueueUrl":"` + sqsHost + `q.fifo","MessageBody":"b","MessageSystemAttributes":{"AWSTraceHeader":{"DataType":"String","StringValue":"x"}}}`, "UnsupportedOperation", "MessageSystemAttributes"},
		"rate of a move":    {"StartMessageMoveTask", `{"SourceArn":"x","MaxNumberOfMessagesPerSecond":1}`, "UnsupportedOperation", "MaxNumberOfMessagesPerSecond"},
	} {
		t.Run(name, func(t *testing.T) {
			w, a := sqsCall(t, h, c.op, c.body)
			if w.Code != http.StatusBadRequest || !strings.HasSuffix(a.Type, "#"+c.typ) || !strings.Contains(a.Message, c.says) {
				t.Fatalf("%d %s: %s", w.Code, a.Type, a.Message)
			}
		})
	}
}

func TestSQSRefusesBadRequests(t *testing.T) {
	h, _ := sqsWire(t)
	url := `"QueueUrl":"` + sqsHost + `q.fifo"`
	msg := `"MessageBody":"b","MessageGroupId":"g","MessageDeduplicationId":"d"`
	for name, c := range map[string]struct{ op, body, typ string }{
		"no JSON":              {"SendMessage", `{`, "SerializationException"},
		"wrong type":           {"SendMessage", `{"QueueUrl":1}`, "SerializationException"},
		"two values":           {"SendMessage", `{}{}`, "SerializationException"},
		"no URL":               {"SendMessage", `{}`, "MissingParameter"},
		"other account":        {"PurgeQueue", `{"QueueUrl":"http://h/1/q.fifo"}`, "QueueDoesNotExist"},
		"bare name":            {"PurgeQueue", `{"QueueUrl":"q.fifo"}`, "QueueDoesNotExist"},
		"delay of a message":   {"SendMessage", `{` + url + `,` + msg + `,"DelaySeconds":1}`, "InvalidParameterValue"},
		"attribute type":       {"SendMessage", `{` + url + `,` + msg + `,"MessageAttributes":{"a":{"DataType":"Float","StringValue":"1"}}}`, "InvalidParameterValue"},
		"attribute value":      {"SendMessage", `{` + url + `,` + msg + `,"MessageAttributes":{"a":{"DataType":"String"}}}`, "InvalidParameterValue"},
		"attribute name":       {"SendMessage", `{` + url + `,` + msg + `,"MessageAttributes":{"a..b":{"DataType":"String","StringValue":"1"}}}`, "InvalidParameterValue"},
		"no visibility":        {"ChangeMessageVisibility", `{` + url + `,"ReceiptHandle":"x"}`, "MissingParameter"},
		"empty batch":          {"DeleteMessageBatch", `{` + url + `,"Entries":[]}`, "EmptyBatchRequest"},
		"id of an entry":       {"DeleteMessageBatch", `{` + url + `,"Entries":[{"Id":"a b","ReceiptHandle":"x"}]}`, "InvalidBatchEntryId"},
		"repeated id":          {"DeleteMessageBatch", `{` + url + `,"Entries":[{"Id":"a","ReceiptHandle":"x"},{"Id":"a","ReceiptHandle":"x"}]}`, "BatchEntryIdsNotDistinct"},
		"queue attribute":      {"GetQueueAttributes", `{` + url + `,"AttributeNames":["Nope"]}`, "InvalidAttributeName"},
		"set a read-only one":  {"SetQueueAttributes", `{` + url + `,"Attributes":{"QueueArn":"x"}}`, "InvalidAttributeName"},
		"set no number":        {"SetQueueAttributes", `{` + url + `,"Attributes":{"VisibilityTimeout":"soon"}}`, "InvalidParameterValue"},
		"set too much":         {"SetQueueAttributes", `{` + url + `,"Attributes":{"VisibilityTimeout":"43201"}}`, "InvalidParameterValue"},
		"scope":                {"SetQueueAttributes", `{` + url + `,"Attributes":{"DeduplicationScope":"all"}}`, "InvalidParameterValue"},
		"redrive to nothing":   {"SetQueueAttributes", `{` + url + `,"Attributes":{"RedrivePolicy":"{\"deadLetterTargetArn\":\"arn:aws:sqs:us-east-1:000000000000:no.fifo\",\"maxReceiveCount\":3}"}}`, "InvalidParameterValue"},
		"redrive policy":       {"SetQueueAttributes", `{` + url + `,"Attributes":{"RedrivePolicy":"[]"}}`, "InvalidParameterValue"},
		"message attribute":    {"ReceiveMessage", `{` + url + `,"MessageSystemAttributeNames":["Nope"]}`, "InvalidAttributeName"},
		"move from nowhere":    {"StartMessageMoveTask", `{"SourceArn":"arn:aws:sqs:us-east-1:000000000000:no.fifo"}`, "ResourceNotFoundException"},
		"move of no DLQ":       {"StartMessageMoveTask", `{"SourceArn":"arn:aws:sqs:us-east-1:000000000000:q.fifo"}`, "InvalidParameterValue"},
		"move by no ARN":       {"StartMessageMoveTask", `{"SourceArn":"q.fifo"}`, "InvalidParameterValue"},
		"list by a bad filter": {"ListQueues", `{"QueueNamePrefix":7}`, "SerializationException"},
	} {
		t.Run(name, func(t *testing.T) {
			w, a := sqsCall(t, h, c.op, c.body)
			if w.Code/100 != 4 || !strings.HasSuffix(a.Type, "#"+c.typ) || a.Message == "" {
				t.Fatalf("%d %s: %s, want %s", w.Code, a.Type, a.Message, c.typ)
			}
		})
	}
	big := `{"QueueUrl":"` + strings.Repeat("x", wire.MaxBodyBytes) + `"}`
	if w, a := sqsCall(t, h, "SendMessage", big); w.Code != http.StatusRequestEntityTooLarge {
		t.Errorf("a body above the limit: %d %s", w.Code, a.Type)
	}
}

func TestSQSQueueAttributesRoundTrip(t *testing.T) {
	h, _ := sqsWire(t)
	in := map[string]string{
		"FifoQueue": "true", "VisibilityTimeout": "7", "DelaySeconds": "1", "MessageRetentionPeriod": "1209600", "ReceiveMessageWaitTimeSeconds": "20",
		"ContentBasedDeduplication": "true", "DeduplicationScope": "messageGroup", "FifoThroughputLimit": "perMessageGroupId", "MaximumMessageSize": "2048",
		"RedrivePolicy": `{"deadLetterTargetArn":"arn:aws:sqs:us-east-1:000000000000:q.fifo","maxReceiveCount":"3"}`,
	}
	body, _ := json.Marshal(map[string]any{"QueueName": "r.fifo", "Attributes": in})
	if _, a := sqsCall(t, h, "CreateQueue", string(body)); a.QueueURL != sqsHost+"r.fifo" {
		t.Fatalf("create: %+v", a)
	}
	_, a := sqsCall(t, h, "GetQueueAttributes", `{"QueueUrl":"`+sqsHost+`r.fifo","AttributeNames":["All"]}`)
	want := map[string]string{"QueueArn": "arn:aws:sqs:us-east-1:000000000000:r.fifo"}
	for k, v := range in {
		want[k] = v
	}
	want["RedrivePolicy"] = strings.Replace(in["RedrivePolicy"], `"3"`, "3", 1)
	for _, k := range []string{"ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible", "ApproximateNumberOfMessagesDelayed"} {
		want[k] = "0"
	}
	if a.Attributes["CreatedTimestamp"] == "" || a.Attributes["LastModifiedTimestamp"] == "" {
		t.Error("no timestamps")
	}
	delete(a.Attributes, "CreatedTimestamp")
	delete(a.Attributes, "LastModifiedTimestamp")
	if d := cmp.Diff(want, a.Attributes); d != "" {
		t.Fatal(d)
	}
	sqsCall(t, h, "SetQueueAttributes", `{"QueueUrl":"`+sqsHost+`r.fifo","Attributes":{"RedrivePolicy":""}}`)
	_, a = sqsCall(t, h, "GetQueueAttributes", `{"QueueUrl":"`+sqsHost+`r.fifo","AttributeNames":["RedrivePolicy","VisibilityTimeout","Policy"]}`)
	if d := cmp.Diff(map[string]string{"VisibilityTimeout": "7"}, a.Attributes); d != "" {
		t.Fatalf("the policy is removed, one of SQS's is unset: %s", d)
	}
	if _, a = sqsCall(t, h, "ListQueues", `{"QueueNamePrefix":"r"}`); !cmp.Equal(a.QueueURLs, []string{sqsHost + "r.fifo"}) {
		t.Fatalf("list %v", a.QueueURLs)
	}
}

// The checksum of attributes is spelled out byte by byte, as AWS documents it.
func TestSQSChecksumOfAttributes(t *testing.T) {
	h, _ := sqsWire(t)
	_, a := sqsCall(t, h, "SendMessage", `{"QueueUrl":"`+sqsHost+`q.fifo","MessageBody":"b","MessageGroupId":"g","MessageDeduplicationId":"d",
		"MessageAttributes":{"n":{"DataType":"Number","StringValue":"42"},"b":{"DataType":"Binary","BinaryValue":"AQI="}}}`)
	sum := md5.Sum([]byte("\x00\x00\x00\x01b\x00\x00\x00\x06Binary\x02\x00\x00\x00\x02\x01\x02" + "\x00\x00\x00\x01n\x00\x00\x00\x06Number\x01\x00\x00\x00\x0242"))
	if want := hex.EncodeToString(sum[:]); a.MD5OfMessageAttributes != want {
		t.Fatalf("%q, want %s", a.MD5OfMessageAttributes, want)
	}
}
