// Package wire speaks AWS JSON 1.0 over HTTP for the local cloud's engines, as the AWS SDK for Go speaks it, so that the production adapters run unchanged. It checks no signatures: serve it on a loopback address only.
package wire

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
)

// MaxBodyBytes bounds a request's body. DynamoDB takes 16 MiB, SQS less.
const MaxBodyBytes = 16 << 20

const (
	sqsTarget      = "AmazonSQS."
	dynamoDBTarget = "DynamoDB_20120810."
)

// Handler routes each request to its service by the X-Amz-Target header, as AWS endpoints do.
type Handler struct {
	services map[string]http.Handler // by the target's prefix
}

// New returns a handler for the services that are not nil; the others refuse every call by name.
func New(sqs, dynamodb http.Handler) *Handler {
	h := &Handler{services: map[string]http.Handler{}}
	if sqs != nil {
		h.services[sqsTarget] = sqs
	}
	if dynamodb != nil {
		h.services[dynamoDBTarget] = dynamodb
	}
	return h
}

// ServeHTTP sets the request id, bounds the body and dispatches.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("x-amzn-RequestId", rand.Text())
	target := r.Header.Get("X-Amz-Target")
	service, ok := h.services[target[:strings.IndexByte(target, '.')+1]]
	if !ok {
		WriteError(w, http.StatusBadRequest, "UnknownOperationException", "the local cloud has no service for X-Amz-Target "+quoted(target)+"; it serves SQS FIFO and DynamoDB over AWS JSON 1.0", "InvalidAction")
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, MaxBodyBytes)
	service.ServeHTTP(w, r)
}

// Op returns the operation that a request names, e.g. "SendMessage".
func Op(r *http.Request) string {
	target := r.Header.Get("X-Amz-Target")
	return target[strings.IndexByte(target, '.')+1:]
}

// WriteJSON answers 200 with v as AWS JSON 1.0.
func WriteJSON(w http.ResponseWriter, v any) { writeJSON(w, http.StatusOK, v) }

// WriteError answers with an AWS JSON error. typ is the error's shape, with its namespace where the SDK wants one ("com.amazonaws.sqs#QueueDoesNotExist"). queryCode, if not empty, is the code of the older query protocol, which services that had one send along and SDKs prefer.
func WriteError(w http.ResponseWriter, status int, typ, msg, queryCode string) {
	if queryCode != "" {
		fault := "Sender"
		if status >= http.StatusInternalServerError {
			fault = "Receiver"
		}
		w.Header().Set("x-amzn-query-error", queryCode+";"+fault)
	}
	writeJSON(w, status, map[string]string{"__type": typ, "message": msg})
}

// Decode reads the request's body, one JSON value and nothing after it, into v. Fields that v does not have are an error: ignoring a parameter would change the call's meaning.
func Decode(r *http.Request, v any) error {
	d := json.NewDecoder(r.Body)
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return err
	}
	if d.More() {
		return errors.New("the body holds more than one JSON value")
	}
	return nil
}

// Abort drops the connection without an answer, which is what a lost answer looks like to a client.
func Abort() { panic(http.ErrAbortHandler) }

func writeJSON(w http.ResponseWriter, status int, v any) {
	body, err := json.Marshal(v)
	if err != nil { // only a value that this package built wrongly
		http.Error(w, "encode the answer: "+err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/x-amz-json-1.0")
	w.WriteHeader(status)
	_, _ = w.Write(body) // a client that has gone needs no answer
}

// quoted shortens what a client sent before it goes into a message.
func quoted(s string) string {
	const most = 80
	if len(s) > most {
		s = s[:most] + "..."
	}
	b, _ := json.Marshal(s) // a string always encodes
	return string(b)
}
