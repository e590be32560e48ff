// Package urlevent serves HTTP from a Lambda function: behind a function URL, or
// as the target of an Application Load Balancer. It turns their events into
// requests of net/http and what a handler answers into theirs. An answer is
// whole or not at all: nothing is streamed.
package urlevent

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
)

// ErrEvent is an event that is neither's.
var ErrEvent = errors.New("urlevent: the event is not one of a function URL or of a load balancer")

// Function is what lambda.Start takes.
type Function = func(ctx context.Context, event json.RawMessage) (any, error)

// Wrap makes a function of h. When an answer is complete, settle is called and
// waited for, because Lambda freezes the process as soon as it has the answer:
// what h left running would lie still until the next request, or for ever. Its
// context ends with the invocation.
func Wrap(h http.Handler, settle func(context.Context)) Function {
	return func(ctx context.Context, event json.RawMessage) (any, error) {
		// Which of the two it is stands in the context of the request.
		var head struct {
			Version        string `json:"version"`
			RequestContext struct {
				ELB *struct{} `json:"elb"`
			} `json:"requestContext"`
		}
		if err := json.Unmarshal(event, &head); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrEvent, err)
		}
		switch {
		case head.RequestContext.ELB != nil:
			return serve(ctx, event, h, settle, fromBalancer, toBalancer)
		case head.Version == "2.0":
			return serve(ctx, event, h, settle, fromURL, toURL)
		}
		return nil, ErrEvent
	}
}

// serve runs one request of either kind.
func serve[In, Out any](ctx context.Context, event json.RawMessage, h http.Handler, settle func(context.Context),
	from func(context.Context, In) (*http.Request, error), to func(In, *answer) Out) (any, error) {
	var in In
	if err := json.Unmarshal(event, &in); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrEvent, err)
	}
	a := &answer{header: http.Header{}}
	r, err := from(ctx, in)
	if err != nil { // the client's fault, so its answer and no failure of the function
		http.Error(a, "bad request", http.StatusBadRequest)
		return to(in, a), nil
	}
	h.ServeHTTP(a, r)
	settle(ctx)
	return to(in, a), nil
}

// answer takes what a handler writes. It is no http.Flusher on purpose.
type answer struct {
	header http.Header
	sent   http.Header // as it was when the status was written
	status int
	body   bytes.Buffer
}

// Header implements http.ResponseWriter.
func (a *answer) Header() http.Header { return a.header }

// WriteHeader implements http.ResponseWriter: the first status counts.
func (a *answer) WriteHeader(status int) {
	if a.status == 0 && status >= http.StatusOK { // 1xx are no answer
		a.status, a.sent = status, a.header.Clone()
	}
}

// Write implements http.ResponseWriter.
func (a *answer) Write(p []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	return a.body.Write(p)
}

// end fills in what a handler that wrote nothing, or no type, has left out.
func (a *answer) end() {
	a.WriteHeader(http.StatusOK)
	if a.sent.Get("Content-Type") == "" && a.body.Len() > 0 {
		a.sent.Set("Content-Type", http.DetectContentType(a.body.Bytes()))
	}
}
