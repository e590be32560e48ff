package wire

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/holdfast/holdfast/localstack/fifo"
)

// Region and Account stand in the ARNs and queue URLs of the local cloud; clients must not depend on them.
const (
	Region  = "us-east-1"
	Account = "000000000000"
)

const arnPrefix = "arn:aws:sqs:" + Region + ":" + Account + ":"

// SQS serves a queue engine as Amazon SQS. Long polls end by themselves only while somebody advances the engine (fifo.Cloud.Run), and at once when the request's context ends: give the server a BaseContext that the shutdown cancels.
type SQS struct {
	cloud *fifo.Cloud
}

// NewSQS returns the handler of all AmazonSQS.* operations that the local cloud implements; it refuses the others by name.
func NewSQS(cloud *fifo.Cloud) *SQS { return &SQS{cloud: cloud} }

type sqsOperation func(s *SQS, r *http.Request) (any, error)

var sqsOperations = map[string]sqsOperation{
	"CreateQueue":                  decoded((*SQS).createQueue),
	"GetQueueUrl":                  decoded((*SQS).getQueueURL),
	"ListQueues":                   decoded((*SQS).listQueues),
	"DeleteQueue":                  decoded((*SQS).deleteQueue),
	"PurgeQueue":                   decoded((*SQS).purgeQueue),
	"GetQueueAttributes":           decoded((*SQS).getQueueAttributes),
	"SetQueueAttributes":           decoded((*SQS).setQueueAttributes),
	"ListDeadLetterSourceQueues":   decoded((*SQS).listDeadLetterSourceQueues),
	"StartMessageMoveTask":         decoded((*SQS).startMessageMoveTask),
	"SendMessage":                  decoded((*SQS).sendMessage),
	"SendMessageBatch":             decoded((*SQS).sendMessageBatch),
	"ReceiveMessage":               decoded((*SQS).receiveMessage),
	"DeleteMessage":                decoded((*SQS).deleteMessage),
	"DeleteMessageBatch":           decoded((*SQS).deleteMessageBatch),
	"ChangeMessageVisibility":      decoded((*SQS).changeMessageVisibility),
	"ChangeMessageVisibilityBatch": decoded((*SQS).changeMessageVisibilityBatch),
}

func decoded[In any](f func(*SQS, *http.Request, *In) (any, error)) sqsOperation {
	return func(s *SQS, r *http.Request) (any, error) {
		in := new(In)
		if err := Decode(r, in); err != nil {
			return nil, undecoded(Op(r), err)
		}
		return f(s, r, in)
	}
}

// undecoded tells a parameter that is not implemented from a body that is no request.
func undecoded(op string, err error) error {
	var long *http.MaxBytesError
	switch {
	case errors.As(err, &long):
		return &sqsError{http.StatusRequestEntityTooLarge, "RequestEntityTooLarge", "", fmt.Sprintf("the request is larger than %d bytes; send less", long.Limit)}
	case strings.HasPrefix(err.Error(), "json: unknown field"):
		return unsupported("%s with %s", op, strings.TrimPrefix(err.Error(), "json: unknown "))
	}
	return &sqsError{http.StatusBadRequest, "SerializationException", "", "the body is no valid request: " + err.Error()}
}

// ServeHTTP answers one call.
func (s *SQS) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	op, ok := sqsOperations[Op(r)]
	if !ok {
		WriteError(w, http.StatusBadRequest, sqsNamespace+"InvalidAction", "the local cloud does not implement SQS "+quoted(Op(r)), "InvalidAction")
		return
	}
	out, err := op(s, r)
	if err != nil {
		writeSQSError(w, err)
		return
	}
	if out == nil {
		out = struct{}{}
	}
	WriteJSON(w, out)
}

// queueURL is the queue's URL at the address that the client used.
func queueURL(r *http.Request, name string) string {
	return "http://" + r.Host + "/" + Account + "/" + name
}

// queueOf returns the name in a queue URL. The host does not matter: a client may have learned the URL by another name of this endpoint.
func queueOf(url string) (string, error) {
	if url == "" {
		return "", missing("QueueUrl")
	}
	dir, name := cutLast(url, '/')
	if _, account := cutLast(dir, '/'); account != Account {
		return "", fifo.ErrNoQueue
	}
	return name, nil
}

// queueOfARN returns the name in a queue's ARN.
func queueOfARN(arn string) (string, error) {
	name, ok := strings.CutPrefix(arn, arnPrefix)
	if !ok {
		return "", invalid("%s is not the ARN of a queue here; they begin with %s", quoted(arn), arnPrefix)
	}
	return name, nil
}

func cutLast(s string, sep byte) (before, after string) {
	i := strings.LastIndexByte(s, sep)
	if i < 0 {
		return "", s
	}
	return s[:i], s[i+1:]
}
