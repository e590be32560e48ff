package load

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Booking is what a client keeps of a successful answer.
type Booking struct {
	ID         string    `json:"booking_id"`
	State      string    `json:"state"`
	Level      string    `json:"level"`
	PaymentURL string    `json:"payment_url"`
	HoldUntil  time.Time `json:"hold_until"`
	Now        time.Time `json:"now"`
	Seats      []string  `json:"seats"`
}

// Reply is the answer to one request.
type Reply struct {
	Outcome    Outcome
	Booking    Booking
	Hold       Hold     // of a request for a hold
	Nearby     []string // seats that are offered in place of taken ones
	RetryAfter time.Duration
}

// Hold is what a client keeps of a soft hold.
type Hold struct {
	ID    string    `json:"hold_id"`
	Level string    `json:"level"`
	Seats []string  `json:"seats"`
	Until time.Time `json:"hold_until"`
	Now   time.Time `json:"now"`
}

// client speaks the public HTTP contract, as a browser would.
type client struct {
	http *http.Client
	base string
	sale string
}

func newClient(base, sale string, connections int) *client {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConns, t.MaxIdleConnsPerHost, t.MaxConnsPerHost = connections, connections, connections
	return &client{http: &http.Client{Transport: t, Timeout: 30 * time.Second, CheckRedirect: noRedirect}, base: base, sale: sale}
}

func noRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

func (c *client) close() { c.http.CloseIdleConnections() }

// book sends one booking request.
func (c *client) book(ctx context.Context, s Shot) (Reply, error) {
	return c.ask(ctx, http.MethodPost, "/sales/"+c.sale+"/bookings", s, map[string]any{"code": s.Code, "email": s.Email, "level": s.Level, "website": s.Trap})
}

// ask sends a request of a person with a JSON body, if there is one.
func (c *client) ask(ctx context.Context, method, path string, s Shot, body any) (Reply, error) {
	var in io.Reader
	if body != nil {
		data, err := json.Marshal(body)
		if err != nil {
			return Reply{}, err
		}
		in = bytes.NewReader(data)
	}
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, in)
	if err != nil {
		return Reply{}, err
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if s.Key != "" {
		req.Header.Set("Idempotency-Key", s.Key)
	}
	req.Header.Set("X-Forwarded-For", address(s))
	return c.reply(req)
}

func (c *client) reply(req *http.Request) (Reply, error) {
	resp, err := c.http.Do(req)
	if err != nil {
		return Reply{Outcome: "error"}, err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	if err != nil {
		return Reply{Outcome: "error"}, err
	}
	var r Reply
	if s, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil {
		r.RetryAfter = time.Duration(s) * time.Second
	}
	if resp.StatusCode == http.StatusNoContent {
		return Reply{Outcome: "204"}, nil
	}
	if resp.StatusCode < 300 {
		r.Outcome = Outcome(strconv.Itoa(resp.StatusCode))
		if strings.Contains(req.URL.Path, "/holds") {
			return r, json.Unmarshal(data, &r.Hold)
		}
		return r, json.Unmarshal(data, &r.Booking)
	}
	var problem struct {
		Code   string   `json:"code"`
		Nearby []string `json:"nearby"`
	}
	if err := json.Unmarshal(data, &problem); err != nil || problem.Code == "" {
		r.Outcome = Outcome(fmt.Sprintf("http_%d", resp.StatusCode))
		return r, nil
	}
	r.Outcome, r.Nearby = Outcome(problem.Code), problem.Nearby
	return r, nil
}

// askTries bounds how often one question is asked of a server that says later.
const askTries = 8

// later reports whether the answer was to come back later.
func (o Outcome) later() bool { return o == "rate_limited" || o == "unavailable" }

// booking asks what became of a booking.
func (c *client) booking(ctx context.Context, a acked) (Booking, error) {
	r, err := c.ask(ctx, http.MethodGet, "/bookings/"+url.PathEscape(a.id)+"?sale="+url.QueryEscape(c.sale), Shot{Person: a.person}, nil)
	for try := 0; try < askTries && err == nil && r.Outcome.later() && pause(ctx, max(r.RetryAfter, time.Second)); try++ {
		r, err = c.ask(ctx, http.MethodGet, "/bookings/"+url.PathEscape(a.id)+"?sale="+url.QueryEscape(c.sale), Shot{Person: a.person}, nil)
	}
	if err == nil && r.Outcome != "200" {
		err = fmt.Errorf("GET /bookings/%s: %s", a.id, r.Outcome)
	}
	return r.Booking, err
}

// errPageOver says that the gateway takes no more money for this payment.
var errPageOver = errors.New("the pay page is over")

// press presses a button of the sandbox's pay page and returns where the gateway
// sends the browser then. It is the gateway that answers, not the shop.
func (c *client) press(ctx context.Context, payURL string, form url.Values) (back string, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, payURL, strings.NewReader(form.Encode()))
	if err != nil {
		return "", err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	resp, err := c.http.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 64<<10))
	back = resp.Header.Get("Location")
	if resp.StatusCode == http.StatusConflict {
		return "", errPageOver
	}
	if resp.StatusCode < 300 || resp.StatusCode >= 400 || back == "" {
		return "", fmt.Errorf("the pay page answered %s", resp.Status)
	}
	return back, nil
}

// visit opens the shop's return page.
func (c *client) visit(ctx context.Context, page string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, page, nil)
	if err != nil {
		return err
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 256<<10))
	if resp.StatusCode >= 500 {
		return fmt.Errorf("the shop's return page answered %s", resp.Status)
	}
	return nil
}

// address is where a person sits: everybody has an address of their own, from
// the range that is set aside for tests (RFC 2544), and strangers share a few.
// It counts only where the server trusts this generator as a proxy.
func address(s Shot) string {
	if s.Person < 0 {
		return fmt.Sprintf("198.19.255.%d", len(s.Code+s.Level)%8+int(s.Code[len(s.Code)-1])%200)
	}
	return fmt.Sprintf("198.18.%d.%d", s.Person>>8&255, s.Person&255)
}
