package wire

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"net/http"
	"strconv"
	"strings"

	"github.com/holdfast/holdfast/localstack/fault"
	"github.com/holdfast/holdfast/localstack/table"
)

// DynamoDB serves a table engine as Amazon DynamoDB.
type DynamoDB struct{ db *table.DB }

// NewDynamoDB returns the handler of all DynamoDB_20120810.* operations that the local cloud implements; it refuses the others by name, and every parameter that the engine does not know.
func NewDynamoDB(db *table.DB) *DynamoDB { return &DynamoDB{db: db} }

type dynamoOperation func(*table.DB, *http.Request) (any, error)

var dynamoOperations = map[string]dynamoOperation{
	"CreateTable":        dynamo((*table.DB).CreateTable),
	"UpdateTable":        dynamo((*table.DB).UpdateTable),
	"DescribeTable":      dynamo((*table.DB).DescribeTable),
	"ListTables":         dynamo((*table.DB).ListTables),
	"DeleteTable":        dynamo((*table.DB).DeleteTable),
	"UpdateTimeToLive":   dynamo((*table.DB).UpdateTimeToLive),
	"DescribeTimeToLive": dynamo((*table.DB).DescribeTimeToLive),
	"PutItem":            dynamo((*table.DB).PutItem),
	"GetItem":            dynamo((*table.DB).GetItem),
	"UpdateItem":         dynamo((*table.DB).UpdateItem),
	"DeleteItem":         dynamo((*table.DB).DeleteItem),
	"Query":              dynamo((*table.DB).Query),
	"Scan":               dynamo((*table.DB).Scan),
	"BatchGetItem":       dynamo((*table.DB).BatchGetItem),
	"BatchWriteItem":     dynamo((*table.DB).BatchWriteItem),
	"TransactGetItems":   dynamo((*table.DB).TransactGetItems),
	"TransactWriteItems": dynamo((*table.DB).TransactWriteItems),
}

func dynamo[In, Out any](f func(*table.DB, In) (Out, error)) dynamoOperation {
	return func(db *table.DB, r *http.Request) (any, error) {
		var in In
		if err := Decode(r, &in); err != nil {
			return nil, dynamoUndecoded(Op(r), err)
		}
		return f(db, in)
	}
}

// dynamoUndecoded tells a bad value and a parameter that is not implemented (the legacy ones, say) from a body that is no request.
func dynamoUndecoded(op string, err error) error {
	var refusal *table.Error
	var long *http.MaxBytesError
	switch {
	case errors.As(err, &refusal):
		return refusal
	case errors.As(err, &long):
		return &table.Error{Code: table.CodeValidation, Message: fmt.Sprintf("the request is larger than %d bytes; send less", long.Limit)}
	case strings.HasPrefix(err.Error(), "json: unknown field"):
		return &table.Error{Code: table.CodeValidation, Message: "the local cloud does not implement " + op + " with " + strings.TrimPrefix(err.Error(), "json: unknown ") + "; use expressions, and leave out what it has no use for"}
	}
	return &table.Error{Code: table.CodeSerialization, Message: "the body is no valid request: " + err.Error()}
}

// ServeHTTP answers one call.
func (d *DynamoDB) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	op, ok := dynamoOperations[Op(r)]
	if !ok {
		writeDynamoError(w, &table.Error{Code: "UnknownOperationException", Message: "the local cloud does not implement DynamoDB " + quoted(Op(r))})
		return
	}
	out, err := op(d.db, r)
	if err != nil {
		writeDynamoError(w, err)
		return
	}
	writeDynamo(w, http.StatusOK, out)
}

// dynamoFailure is an error's body. AWS spells the message of a cancelled transaction with a capital letter; SDKs read either.
type dynamoFailure struct {
	Type                string         `json:"__type"`
	Message             string         `json:"message"`
	Item                table.Item     `json:",omitzero"`
	CancellationReasons []table.Reason `json:",omitempty"`
}

func writeDynamoError(w http.ResponseWriter, err error) {
	if errors.Is(err, fault.ErrAnswerLost) {
		Abort()
	}
	var refusal *table.Error
	if !errors.As(err, &refusal) {
		refusal = &table.Error{Code: table.CodeInternal, Message: err.Error()}
	}
	namespace, status := "com.amazonaws.dynamodb.v20120810#", http.StatusBadRequest
	switch refusal.Code {
	case table.CodeValidation, table.CodeSerialization, table.CodeThrottling, "UnknownOperationException":
		namespace = "com.amazon.coral.service#"
	case table.CodeInternal:
		status = http.StatusInternalServerError
	}
	writeDynamo(w, status, dynamoFailure{namespace + refusal.Code, refusal.Message, refusal.Item, refusal.Reasons})
}

// writeDynamo answers with the checksum that the SDK compares with the body.
func writeDynamo(w http.ResponseWriter, status int, v any) {
	body, err := json.Marshal(v)
	if err != nil { // only a value that the engine built wrongly
		http.Error(w, "encode the answer: "+err.Error(), http.StatusInternalServerError)
		return
	}
	header := w.Header()
	header.Set("Content-Type", "application/x-amz-json-1.0")
	header.Set("Content-Length", strconv.Itoa(len(body)))
	header.Set("X-Amz-Crc32", strconv.FormatUint(uint64(crc32.ChecksumIEEE(body)), 10))
	w.WriteHeader(status)
	_, _ = w.Write(body) // a client that has gone needs no answer
}
