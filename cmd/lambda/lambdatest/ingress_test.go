//go:build lambda

package lambdatest_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	lambdaevents "github.com/aws/aws-lambda-go/events"

	"github.com/holdfast/holdfast/wiring"
)

// TestIngressSellsASeat: cold start, then a booking through a function URL's
// event and its repeat through a load balancer's; the status of the sale is
// published before the answer is given, because the process may never run again.
func TestIngressSellsASeat(t *testing.T) {
	g := openGround(t, time.Minute)
	g.env["HOLDFAST_TRUSTED_PROXIES"] = "10.42.0.0/16"
	f := launch(t, wiring.FunctionIngress, g.env)
	t.Logf("cold start: %v", f.cold)

	page := f.url(t, "GET", "/sales/"+saleID, "")
	if page.StatusCode != http.StatusOK || !strings.HasPrefix(page.Headers["Content-Type"], "text/html") || page.IsBase64Encoded {
		t.Fatalf("the page: %d %v", page.StatusCode, page.Headers)
	}
	const ask = `{"code":"ABCD000001","email":"one@example.org","level":"A"}`
	var first, second struct {
		BookingID string `json:"booking_id"`
		State     string `json:"state"`
	}
	var booked lambdaevents.LambdaFunctionURLResponse
	await(t, 20*time.Second, "a booking", func() bool { // a busy machine's replica may be slow to acknowledge
		booked = f.url(t, "POST", "/sales/"+saleID+"/bookings", ask)
		return booked.StatusCode != http.StatusServiceUnavailable
	})
	if err := json.Unmarshal([]byte(booked.Body), &first); err != nil || booked.StatusCode != http.StatusCreated || first.State != "held" {
		t.Fatalf("booked: %d %s", booked.StatusCode, booked.Body)
	}
	if g.used(t) != 1 {
		t.Error("Redis has no seat for it")
	}
	again := f.balancer(t, "POST", "/sales/"+saleID+"/bookings", ask)
	if err := json.Unmarshal([]byte(again.Body), &second); err != nil || again.StatusCode != http.StatusOK || second.BookingID != first.BookingID {
		t.Errorf("the repeat: %d %s", again.StatusCode, again.Body)
	}
	if _, _, n, err := g.house.Store.StatusDoc(t.Context(), saleID); err != nil || n == 0 {
		t.Errorf("no status was published: %d, %v", n, err)
	}
	if status := f.url(t, "GET", "/sales/"+saleID+"/status.json", ""); status.StatusCode != http.StatusOK || !strings.Contains(status.Body, `"open":true`) {
		t.Errorf("status.json: %d %s", status.StatusCode, status.Body)
	}
	if stream := f.url(t, "GET", "/sales/"+saleID+"/seats/stream", ""); stream.StatusCode != http.StatusNotImplemented || !strings.Contains(stream.Body, "no_stream") {
		t.Errorf("a stream: %d %s", stream.StatusCode, stream.Body)
	}
}

// TestIngressEndsInOrder: on SIGTERM the ingress lets go of Redis as the worker does.
func TestIngressEndsInOrder(t *testing.T) {
	g := openGround(t, time.Minute)
	redis := g.redis(t)
	f := launch(t, wiring.FunctionIngress, g.env)
	f.url(t, "GET", "/sales/"+saleID+"/status.json", "")
	if g.connections(t, redis) == 0 {
		t.Fatal("the function has no connection that could be closed")
	}
	if err := f.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	await(t, 5*time.Second, "its connections to close", func() bool { return g.connections(t, redis) == 0 })
}

const idempotencyKey = "the page's key"

// url asks as a function URL does.
func (f *instance) url(t *testing.T, method, path, body string) (out lambdaevents.LambdaFunctionURLResponse) {
	t.Helper()
	in := lambdaevents.LambdaFunctionURLRequest{Version: "2.0", RawPath: path, Body: body,
		Headers: map[string]string{"host": "h.example", "content-type": "application/json", "idempotency-key": idempotencyKey}}
	in.RequestContext.HTTP.Method, in.RequestContext.HTTP.SourceIP = method, "192.0.2.7"
	f.ask(t, in, &out)
	return out
}

// balancer asks as a load balancer does, for a candidate behind CloudFront.
func (f *instance) balancer(t *testing.T, method, path, body string) (out lambdaevents.ALBTargetGroupResponse) {
	t.Helper()
	f.ask(t, lambdaevents.ALBTargetGroupRequest{HTTPMethod: method, Path: path, Body: body,
		MultiValueHeaders: map[string][]string{"host": {"h.example"}, "content-type": {"application/json"}, "idempotency-key": {idempotencyKey}, "x-forwarded-for": {"192.0.2.7, 10.42.0.9"}},
		RequestContext:    lambdaevents.ALBTargetGroupRequestContext{ELB: lambdaevents.ELBContext{TargetGroupArn: "arn"}}}, &out)
	if out.MultiValueHeaders == nil || out.StatusDescription != fmt.Sprintf("%d %s", out.StatusCode, http.StatusText(out.StatusCode)) {
		t.Errorf("the balancer can't read %+v", out)
	}
	return out
}

func (f *instance) ask(t *testing.T, in, out any) {
	t.Helper()
	a, err := f.Invoke(t.Context(), in, 15*time.Second)
	if err != nil || a.Failed {
		t.Fatalf("the function answered %s, %v", a.Body, err)
	}
	if err := json.Unmarshal(a.Body, out); err != nil {
		t.Fatal(err)
	}
}
