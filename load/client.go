package load

import (
	"bytes"
	"context"
	"encoding/json"
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
}

// Reply is the answer to one request.
type Reply struct {
	Outcome    Outcome
	Booking    Booking
	RetryAfter time.Duration
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
	body, err := json.Marshal(map[string]string{"code": s.Code, "email": s.Email, "level": s.Level, "website": s.Trap})
	if err != nil {
		return Reply{}, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.base+"/sales/"+c.sale+"/bookings", bytes.NewReader(body))
	if err != nil {
		return Reply{}, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Idempotency-Key", s.Key)
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
	if resp.StatusCode < 300 {
		r.Outcome = Outcome(strconv.Itoa(resp.StatusCode))
		return r, json.Unmarshal(data, &r.Booking)
	}
	var problem struct {
		Code string `json:"code"`
	}
	if err := json.Unmarshal(data, &problem); err != nil || problem.Code == "" {
		r.Outcome = Outcome(fmt.Sprintf("http_%d", resp.StatusCode))
		return r, nil
	}
	r.Outcome = Outcome(problem.Code)
	return r, nil
}

// booking asks what became of a booking.
func (c *client) booking(ctx context.Context, a acked) (Booking, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.base+"/bookings/"+url.PathEscape(a.id), nil)
	if err != nil {
		return Booking{}, err
	}
	req.Header.Set("X-Forwarded-For", address(Shot{Person: a.person}))
	r, err := c.reply(req)
	if err == nil && r.Outcome != "200" {
		err = fmt.Errorf("GET /bookings/%s: %s", a.id, r.Outcome)
	}
	return r.Booking, err
}

// press presses a button of the sandbox's pay page, and follows the redirect
// back to the shop as a browser does.
func (c *client) press(ctx context.Context, payURL string, form url.Values) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, payURL, strings.NewReader(form.Encode()))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	resp, err := c.http.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 64<<10))
	back := resp.Header.Get("Location")
	if resp.StatusCode < 300 || resp.StatusCode >= 400 || back == "" {
		return fmt.Errorf("the pay page answered %s", resp.Status)
	}
	return c.visit(ctx, back)
}

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
