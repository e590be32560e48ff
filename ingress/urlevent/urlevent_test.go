package urlevent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"testing"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"github.com/holdfast/holdfast/ingress/urlevent"
)

// echo answers with what it was asked.
func echo(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Add("Set-Cookie", "a=1")
	w.Header().Add("Set-Cookie", "b=2")
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusCreated)
	fmt.Fprintf(w, "%s %s host %s from %s behind %q cookie %q body %q", r.Method, r.RequestURI, r.Host, r.RemoteAddr, r.Header.Get("X-Forwarded-For"), r.Header.Get("Cookie"), body)
}

func call[Out any](t *testing.T, h http.HandlerFunc, event string) (out Out, settled int) {
	t.Helper()
	f := urlevent.Wrap(h, func(context.Context) { settled++ })
	answer, err := f(t.Context(), json.RawMessage(event))
	if err != nil {
		t.Fatal(err)
	}
	out, ok := answer.(Out)
	if !ok {
		t.Fatalf("the answer is a %T", answer)
	}
	return out, settled
}

func TestFunctionURL(t *testing.T) {
	got, settled := call[events.LambdaFunctionURLResponse](t, echo, `{"version":"2.0","rawPath":"/sales/a%20b/bookings","rawQueryString":"x=1&x=%262",
		"headers":{"host":"h.example","x-forwarded-for":"9.9.9.9"},"cookies":["c=1","d=2"],"body":"eyJhIjoxfQ==","isBase64Encoded":true,
		"requestContext":{"http":{"method":"POST","sourceIp":"2001:db8::1"}}}`)
	want := events.LambdaFunctionURLResponse{StatusCode: 201, Headers: map[string]string{"Content-Type": "application/json"}, Cookies: []string{"a=1", "b=2"},
		Body: `POST /sales/a%20b/bookings?x=1&x=%262 host h.example from [2001:db8::1]:0 behind "9.9.9.9" cookie "c=1; d=2" body "{\"a\":1}"`}
	if diff := cmp.Diff(want, got); diff != "" || settled != 1 {
		t.Errorf("settled %d (-want +got):\n%s", settled, diff)
	}
}

// TestLoadBalancer: the last hop is who the balancer saw and so the peer; what
// stands before it is hearsay that only a trusted peer makes count.
func TestLoadBalancer(t *testing.T) {
	for name, c := range map[string]struct {
		event, from string
		multi       bool
	}{
		"one value each": {`"headers":{"host":"h.example","x-forwarded-for":"9.9.9.9, 10.42.0.7"},"queryStringParameters":{"x":"%262"}`, `10.42.0.7:0 behind "9.9.9.9"`, false},
		"many values":    {`"multiValueHeaders":{"host":["h.example"],"x-forwarded-for":["1.1.1.1","9.9.9.9"]},"multiValueQueryStringParameters":{"x":["1","%262"]}`, `9.9.9.9:0 behind "1.1.1.1"`, true},
	} {
		got, settled := call[events.ALBTargetGroupResponse](t, echo, `{"httpMethod":"PUT","path":"/p","body":"b",`+c.event+`,"requestContext":{"elb":{"targetGroupArn":"arn"}}}`)
		query := "x=%262"
		if c.multi {
			query = "x=1&x=%262"
		}
		want := events.ALBTargetGroupResponse{StatusCode: 201, StatusDescription: "201 Created",
			Body: `PUT /p?` + query + ` host h.example from ` + c.from + ` cookie "" body "b"`}
		if c.multi {
			want.MultiValueHeaders = map[string][]string{"Content-Type": {"application/json"}, "Set-Cookie": {"a=1", "b=2"}}
		} else {
			want.Headers = map[string]string{"Content-Type": "application/json", "Set-Cookie": "b=2"}
		}
		if diff := cmp.Diff(want, got); diff != "" || settled != 1 {
			t.Errorf("%s: settled %d (-want +got):\n%s", name, settled, diff)
		}
	}
}

func TestAnswersThatAreNotText(t *testing.T) {
	got, _ := call[events.LambdaFunctionURLResponse](t, func(w http.ResponseWriter, _ *http.Request) {
		if _, streams := w.(http.Flusher); streams {
			t.Error("the handler was told that it may stream")
		}
		_, _ = w.Write([]byte{0xff, 0xfe}) // into memory
		w.Header().Set("Late", "is not sent")
	}, `{"version":"2.0","rawPath":"/","requestContext":{"http":{"method":"GET","sourceIp":"1.1.1.1"}}}`)
	if !got.IsBase64Encoded || got.Body != "//4=" || got.StatusCode != 200 || got.Headers["Late"] != "" || got.Headers["Content-Type"] == "" {
		t.Errorf("%+v", got)
	}
}

// Nothing that a client sends makes the function fail: Lambda counts failures.
func TestBadRequestsAreAnswered(t *testing.T) {
	reached := func(http.ResponseWriter, *http.Request) { t.Error("the handler was asked") }
	for _, event := range []string{
		`{"version":"2.0","rawPath":"/","body":"%","isBase64Encoded":true,"requestContext":{"http":{"method":"POST","sourceIp":"1.1.1.1"}}}`,
		`{"version":"2.0","rawPath":"no path","requestContext":{"http":{"method":"GET","sourceIp":"1.1.1.1"}}}`,
		`{"version":"2.0","rawPath":"/","requestContext":{"http":{"method":"G T","sourceIp":"1.1.1.1"}}}`,
	} {
		if got, _ := call[events.LambdaFunctionURLResponse](t, reached, event); got.StatusCode != 400 {
			t.Errorf("%s: %+v", event, got)
		}
	}
	f := urlevent.Wrap(http.HandlerFunc(reached), func(context.Context) {})
	for _, event := range []string{`{}`, `[]`, `{"version":"1.0"}`, `nonsense`} {
		if _, err := f(t.Context(), json.RawMessage(event)); !errors.Is(err, urlevent.ErrEvent) {
			t.Errorf("%s: %v", event, err)
		}
	}
}

func FuzzEvent(f *testing.F) {
	f.Add([]byte(`{"version":"2.0","rawPath":"/","requestContext":{"http":{"method":"GET","sourceIp":"1.1.1.1"}}}`))
	f.Add([]byte(`{"httpMethod":"PUT","path":"/p","multiValueHeaders":{"host":["h"]},"requestContext":{"elb":{}}}`))
	f.Fuzz(func(t *testing.T, event []byte) {
		g := urlevent.Wrap(http.HandlerFunc(echo), func(context.Context) {})
		answer, err := g(t.Context(), event)
		if err != nil && !errors.Is(err, urlevent.ErrEvent) {
			t.Fatal(err)
		}
		if err == nil {
			if _, err := json.Marshal(answer); err != nil {
				t.Fatal(err)
			}
		}
	})
}
