package sim

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/holdfast/holdfast/payment/sandbox/api"
	"github.com/holdfast/holdfast/payment/sandbox/engine"
)

// transport carries a process's HTTP calls to a handler of the simulated world:
// each is a turn.
type transport struct {
	p       *process
	service string
	inner   http.RoundTripper
	detail  func(r *http.Request, body []byte) (op, id string)
}

// RoundTrip implements http.RoundTripper.
func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	var body []byte
	if r.Body != nil {
		var err error
		if body, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
		_ = r.Body.Close() // the contract of RoundTripper
	}
	op, id := t.detail(r, body)
	return call(r.Context(), t.p, t.service+"."+op, id, func(ctx context.Context) (*http.Response, error) {
		again := r.Clone(ctx)
		again.Body = io.NopCloser(bytes.NewReader(body))
		return t.inner.RoundTrip(again)
	})
}

// gatewayCall names a call of the sandbox's API.
func gatewayCall(r *http.Request, _ []byte) (op, id string) {
	return r.Method, strings.TrimPrefix(r.URL.Path, "/v1") + " " + r.Header.Get("Idempotency-Key")
}

// answer is what a client got over HTTP.
type answer struct {
	status int
	body   []byte
	doc    struct {
		HoldID     string    `json:"hold_id"`
		Code       string    `json:"code"`
		BookingID  string    `json:"booking_id"`
		State      string    `json:"state"`
		Level      string    `json:"level"`
		PaymentURL string    `json:"payment_url"`
		HoldUntil  time.Time `json:"hold_until"`
		Successor  string    `json:"successor"`
	}
}

// errNoServer is what a client gets when nobody listens, or its server died.
var errNoServer = errors.New("sim: the connection broke")

// clientPatience is how long a browser waits.
const clientPatience = 30 * time.Second

// exchange is a request on its way through an ingress.
type exchange struct {
	rec  *httptest.ResponseRecorder
	done chan struct{}
	dead <-chan struct{} // of the process that handles it
}

// begin hands a request to an ingress process, which goes on with it whatever
// becomes of the client.
func (in *ingressRole) begin(ctx context.Context, from, method, path string, body []byte, header http.Header) (*exchange, error) {
	door := in.door.Load()
	if in.p.isDead() || door == nil {
		return nil, errNoServer
	}
	e := &exchange{rec: httptest.NewRecorder(), done: make(chan struct{}), dead: in.p.dead}
	r := httptest.NewRequestWithContext(ctx, method, path, bytes.NewReader(body))
	if header != nil {
		r.Header = header.Clone()
	}
	in.p.work.Go(func() {
		defer close(e.done)
		if in.p.town.sched.stand(in.p, "serve."+method, path+" for "+from).kind == crashed {
			return
		}
		door.Public().ServeHTTP(e.rec, r)
	})
	return e, nil
}

// wait returns the response, or an error if the connection broke before it came.
func (e *exchange) wait(ctx context.Context) (*httptest.ResponseRecorder, error) {
	select {
	case <-e.done:
	case <-e.dead:
		return nil, errNoServer
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	select {
	case <-e.dead:
		return nil, errNoServer
	default:
		return e.rec, nil
	}
}

// request sends a request of a client to one of the ingress processes, as a load
// balancer does, over a network that can lose, delay and repeat it.
func (t *town) request(p *process, rng *rand.Rand, method, path, body string, header http.Header) (answer, error) {
	return t.requestTo(p, rng.IntN(t.script.ingress), method, path, body, header)
}

// requestTo sends a request of a client to this ingress process.
func (t *town) requestTo(p *process, to int, method, path, body string, header http.Header) (answer, error) {
	ctx, cancel := context.WithTimeout(p.ctx, clientPatience)
	defer cancel()
	e, err := call(ctx, p, "http."+method, path, func(ctx context.Context) (*exchange, error) {
		return t.ingress[to].begin(ctx, p.name, method, path, []byte(body), header)
	})
	if err != nil {
		return answer{}, err
	}
	rec, err := e.wait(ctx)
	if err != nil || t.sched.stand(p, "client.hears", path).kind == crashed {
		return answer{}, errors.Join(err, p.ctx.Err())
	}
	a := answer{status: rec.Code, body: rec.Body.Bytes()}
	if strings.Contains(rec.Header().Get("Content-Type"), "json") {
		err = json.Unmarshal(a.body, &a.doc)
	}
	return a, err
}

// sendWebhooks is the gateway's sender on the simulated network: the server's own
// looks at its clock every second, which in simulated weeks is all that happens.
func (t *town) sendWebhooks() {
	for t.ctx.Err() == nil {
		if claimed := t.pay.Claim(1); len(claimed) > 0 {
			t.background(func() { t.pay.Settle(claimed[0].ID, t.sendWebhook(claimed[0])) })
			continue
		}
		pause := time.Hour
		if due, ok := t.pay.NextDue(); ok {
			pause = max(time.Until(due), 0)
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-t.pay.Changed():
		case <-t.ctx.Done():
		}
		timer.Stop()
	}
}

// webhookPatience is how long the gateway waits for an answer.
const webhookPatience = 10 * time.Second

// sendWebhook posts one webhook to any ingress and reports whether it was taken.
func (t *town) sendWebhook(d engine.Delivery) bool {
	ctx, cancel := context.WithTimeout(t.ctx, webhookPatience)
	defer cancel()
	id := fmt.Sprintf("%s/%d", d.Event.ID, d.ID)
	header := http.Header{"Content-Type": {"application/json"}, api.HeaderSignature: {api.Sign(d.Secret, time.Now(), d.Body)}}
	to := int(d.ID+int64(d.Attempt)) % t.script.ingress
	e, err := call(ctx, t.network, "http.webhook", id, func(ctx context.Context) (*exchange, error) {
		return t.ingress[to].begin(ctx, id, http.MethodPost, strings.TrimPrefix(d.URL, bookHost), d.Body, header)
	})
	if err != nil {
		return false
	}
	rec, err := e.wait(ctx)
	t.sched.stand(t.network, "gateway.hears", id)
	return err == nil && rec.Code/100 == 2
}
