package server

import (
	"bytes"
	"io"
	"net/http"
)

// InProcess returns a transport that calls h without a socket, for simulators
// and tests. A handler that aborts becomes a lost answer, as on a socket.
func InProcess(h http.Handler) http.RoundTripper { return inProcess{h} }

type inProcess struct{ handler http.Handler }

// RoundTrip serves the request in a goroutine of its own, so that a caller's
// deadline ends the wait and not the call, as with a server elsewhere.
func (t inProcess) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body == nil {
		r.Body = http.NoBody
	}
	served := make(chan *http.Response, 1)
	request := r.Clone(r.Context())
	request.Host = r.URL.Host
	request.RequestURI = r.URL.RequestURI()
	go func() {
		defer func() { _ = r.Body.Close() }()
		served <- t.serve(request)
	}()
	select {
	case answer := <-served:
		if answer == nil {
			return nil, io.ErrUnexpectedEOF
		}
		answer.Request = r
		return answer, nil
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
}

func (t inProcess) serve(r *http.Request) (answer *http.Response) {
	w := &recorder{header: http.Header{}, status: http.StatusOK}
	defer func() {
		if cause := recover(); cause != nil {
			if cause != http.ErrAbortHandler {
				panic(cause)
			}
			answer = nil
		}
	}()
	t.handler.ServeHTTP(w, r)
	return &http.Response{
		Status: http.StatusText(w.status), StatusCode: w.status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: w.header, Body: io.NopCloser(&w.body), ContentLength: int64(w.body.Len()),
	}
}

type recorder struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (w *recorder) Header() http.Header         { return w.header }
func (w *recorder) WriteHeader(status int)      { w.status = status }
func (w *recorder) Write(b []byte) (int, error) { return w.body.Write(b) }
