package fifo_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
	"github.com/holdfast/holdfast/events"
	"github.com/holdfast/holdfast/events/fifo"
)

// failing is a queue whose calls fail one after another, the last for ever.
type failing struct {
	fifo.Sender
	errs  []error
	calls int
}

func (f *failing) SendMessageBatch(context.Context, *sqs.SendMessageBatchInput, ...func(*sqs.Options)) (*sqs.SendMessageBatchOutput, error) {
	f.calls++
	return nil, f.errs[min(f.calls, len(f.errs))-1]
}

func status(code int, name string) error {
	return &smithyhttp.ResponseError{
		Response: &smithyhttp.Response{Response: &http.Response{StatusCode: code}},
		Err:      &smithy.GenericAPIError{Code: name},
	}
}

// The verdict after all attempts is that of the least certain one: a wrong
// ErrNotQueued sells a seat twice, a wrong ErrAmbiguous costs a ledger write.
func TestVerdictAfterAllAttempts(t *testing.T) {
	var (
		dial      = &net.OpError{Op: "dial", Err: errors.New("connection refused")}
		reset     = &net.OpError{Op: "read", Err: errors.New("connection reset")}
		throttled = status(400, "RequestThrottled")
		many      = status(429, "Whatever")
		key       = status(400, "KMS.ThrottlingException")
		internal  = status(500, "InternalFailure")
		away      = status(503, "ServiceUnavailable")
		denied    = status(403, "AccessDenied")
		badBody   = status(200, "")
	)
	for name, c := range map[string]struct {
		errs  []error
		want  error
		final bool // after one call
	}{
		"nobody listens":         {errs: []error{dial}, want: events.ErrNotQueued},
		"throttled":              {errs: []error{throttled, many, key}, want: events.ErrNotQueued},
		"connection broken":      {errs: []error{reset}, want: events.ErrAmbiguous},
		"server errors":          {errs: []error{internal}, want: events.ErrAmbiguous},
		"unavailable":            {errs: []error{away}, want: events.ErrAmbiguous},
		"unreadable answer":      {errs: []error{badBody}, want: events.ErrAmbiguous},
		"unknown error":          {errs: []error{errors.New("?")}, want: events.ErrAmbiguous},
		"broken, then throttled": {errs: []error{reset, throttled}, want: events.ErrAmbiguous},
		"throttled, then broken": {errs: []error{throttled, reset}, want: events.ErrAmbiguous},
		"denied":                 {errs: []error{denied}, want: events.ErrNotQueued, final: true},
		"broken, then denied":    {errs: []error{reset, denied}, want: events.ErrAmbiguous},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client := &failing{errs: c.errs}
				p := fifo.NewPublisher(t.Context(), client, fifo.PublisherConfig{})
				start := time.Now()
				err := p.Publish(t.Context(), held("c1", "B1"))
				other := events.ErrAmbiguous
				if c.want == other {
					other = events.ErrNotQueued
				}
				if !errors.Is(err, c.want) || errors.Is(err, other) {
					t.Errorf("got %v, want only %v", err, c.want)
				}
				if took := time.Since(start); took > 5*time.Second || c.final != (client.calls == 1) {
					t.Errorf("gave up after %v and %d calls", took, client.calls)
				}
				if err := p.Close(t.Context()); err != nil {
					t.Error(err)
				}
			})
		})
	}
}
