package wire_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/holdfast/holdfast/localstack/wire"
)

func call(h http.Handler, target, body string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body))
	r.Header.Set("X-Amz-Target", target)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func TestDispatchByTarget(t *testing.T) {
	named := func(name string) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			wire.WriteJSON(w, name+" "+wire.Op(r))
		})
	}
	h := wire.New(named("queues"), named("tables"))
	for target, want := range map[string]string{
		"AmazonSQS.SendMessage":      `"queues SendMessage"`,
		"DynamoDB_20120810.GetItem":  `"tables GetItem"`,
		"AmazonSQS":                  "UnknownOperationException",
		"":                           "UnknownOperationException",
		"Kinesis_20131202.PutRecord": "UnknownOperationException",
	} {
		w := call(h, target, "{}")
		if !strings.Contains(w.Body.String(), want) {
			t.Errorf("%q answered %s, want %s", target, w.Body, want)
		}
		if w.Header().Get("x-amzn-RequestId") == "" {
			t.Errorf("%q has no request id", target)
		}
	}
	if w := call(wire.New(named("queues"), nil), "DynamoDB_20120810.GetItem", "{}"); w.Code != http.StatusBadRequest {
		t.Errorf("a service that is not there answered %d", w.Code)
	}
}

func TestDecodeRefusesWhatItWouldIgnore(t *testing.T) {
	for body, ok := range map[string]bool{
		`{"A":"x"}`:                         true,
		`{"A":"x"} `:                        true,
		`{"A":"x","B":1}`:                   false,
		`{"A":"x"}{"A":"y"}`:                false,
		``:                                  false,
		`[`:                                 false,
		`{"A":"` + strings.Repeat("x", 100): false,
	} {
		r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body))
		var v struct{ A string }
		if err := wire.Decode(r, &v); (err == nil) != ok {
			t.Errorf("%s: %v", body, err)
		}
	}
}
