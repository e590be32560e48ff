package wire

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
)

// InProcess is a transport that hands requests to the handler without a network, in the calling goroutine: the AWS SDK, and so the production adapters, run on it unchanged inside a simulator or a synctest bubble. A handler that aborts (a lost answer) looks like a broken connection.
func InProcess(h http.Handler) http.RoundTripper { return inProcess{h} }

type inProcess struct{ handler http.Handler }

// RoundTrip implements http.RoundTripper.
func (t inProcess) RoundTrip(r *http.Request) (resp *http.Response, err error) {
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	request := r.Clone(r.Context())
	if request.Body == nil {
		request.Body = http.NoBody
	}
	defer func() { _ = request.Body.Close() }() // the contract of RoundTripper
	defer func() {
		if p := recover(); p == http.ErrAbortHandler {
			resp, err = nil, fmt.Errorf("in-process call: the connection broke: %w", io.ErrUnexpectedEOF)
		} else if p != nil {
			panic(p)
		}
	}()
	w := &answer{status: http.StatusOK, header: http.Header{}}
	t.handler.ServeHTTP(w, request)
	return &http.Response{
		Status: fmt.Sprintf("%d %s", w.status, http.StatusText(w.status)), StatusCode: w.status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: w.header, Body: io.NopCloser(&w.body), ContentLength: int64(w.body.Len()), Request: r,
	}, nil
}

// answer collects what a handler writes.
type answer struct {
	status int
	header http.Header
	body   bytes.Buffer
}

func (a *answer) Header() http.Header         { return a.header }
func (a *answer) WriteHeader(status int)      { a.status = status }
func (a *answer) Write(p []byte) (int, error) { return a.body.Write(p) }
