package sandbox

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/holdfast/holdfast/payment"
	"github.com/holdfast/holdfast/payment/sandbox/api"
)

var (
	errRefunded = errors.New("sandbox gateway: already refunded")
	errNoRefund = errors.New("sandbox gateway: no such refund")
	// errNotSent marks failures before the gateway can have acted: no token, no
	// connection, a 401.
	errNotSent = errors.New("sandbox gateway: the call did not reach the gateway")
)

// request is one call of the API.
type request struct {
	method  string
	path    []string // below /v1, unescaped
	idemKey string
	body    any // nil: none
}

// call makes one call and decodes its answer. It is repeated only after a 401
// that another member of the fleet has already mended by a newer token: the
// gateway has not acted on it then.
func (g *Gateway) call(ctx context.Context, r request, into any) error {
	ctx, cancel := context.WithTimeout(ctx, g.config.Timeout)
	defer cancel()
	bearer, err := g.bearer(ctx, "")
	if err != nil {
		return errors.Join(errNotSent, err)
	}
	status, answer, err := g.send(ctx, r, bearer)
	if err == nil && status == http.StatusUnauthorized && g.tokens != nil {
		if bearer, err = g.bearer(ctx, bearer); err != nil {
			return errors.Join(errNotSent, err)
		}
		status, answer, err = g.send(ctx, r, bearer)
	}
	if err != nil {
		return err
	}
	if status == http.StatusOK {
		if err := json.Unmarshal(answer, into); err != nil {
			return fmt.Errorf("sandbox gateway: unreadable answer, outcome unknown: %w", err)
		}
		return nil
	}
	return refusal(status, answer)
}

// bearer is the credential of the next call; refused is the one that the
// gateway just refused, if any.
func (g *Gateway) bearer(ctx context.Context, refused string) (string, error) {
	if g.tokens == nil {
		return g.config.AppSecret, nil
	}
	return g.tokens.get(ctx, refused)
}

// send makes the HTTP exchange with a bounded answer.
func (g *Gateway) send(ctx context.Context, r request, bearer string) (status int, answer []byte, err error) {
	var body io.Reader
	if r.body != nil {
		encoded, err := json.Marshal(r.body)
		if err != nil {
			return 0, nil, errors.Join(errNotSent, err)
		}
		body = bytes.NewReader(encoded)
	}
	req, err := http.NewRequestWithContext(ctx, r.method, g.endpoint(r.path), body)
	if err != nil {
		return 0, nil, errors.Join(errNotSent, err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+bearer)
	req.Header.Set(api.HeaderAppKey, g.config.AppKey)
	if r.idemKey != "" {
		req.Header.Set(api.HeaderIdemKey, r.idemKey)
	}
	if err := ctx.Err(); err != nil {
		return 0, nil, errors.Join(errNotSent, err)
	}
	resp, err := g.client.Do(req)
	if err != nil {
		var dial *net.OpError
		if errors.As(err, &dial) && dial.Op == "dial" {
			err = errors.Join(errNotSent, err)
		}
		return 0, nil, fmt.Errorf("sandbox gateway: no answer: %w", err)
	}
	defer func() { _ = resp.Body.Close() }()
	answer, err = io.ReadAll(io.LimitReader(resp.Body, api.MaxBodyBytes+1))
	if err != nil {
		return 0, nil, fmt.Errorf("sandbox gateway: the answer broke off, outcome unknown: %w", err)
	}
	if len(answer) > api.MaxBodyBytes {
		return 0, nil, errors.New("sandbox gateway: the answer is too long to be the gateway's, outcome unknown")
	}
	return resp.StatusCode, answer, nil
}

// endpoint escapes each part, so that no id can reach another path. A part of
// only dots would be folded away on the way; it can't be an id.
func (g *Gateway) endpoint(path []string) string {
	parts := make([]string, len(path))
	for i, part := range path {
		if parts[i] = url.PathEscape(part); strings.Trim(part, ".") == "" {
			parts[i] = "_"
		}
	}
	return strings.TrimRight(g.config.BaseURL, "/") + "/v1/" + strings.Join(parts, "/")
}

// refusal reads an answer that is not a success. Only codes of the gateway make
// a definite no; a status that a proxy can invent leaves the outcome unknown.
func refusal(status int, answer []byte) error {
	var e api.Error
	if err := json.Unmarshal(answer, &e); err != nil || e.Code == "" {
		return fmt.Errorf("sandbox gateway: HTTP %d without a code of the gateway, outcome unknown", status)
	}
	said := fmt.Errorf("sandbox gateway: %s (%s)", e.Message, e.Code)
	switch e.Code {
	case api.CodeInvalid, api.CodeRefused, api.CodeFull, api.CodeNotApproved, api.CodeOver,
		api.CodeNotCaptured, api.CodeTooMuch, api.CodeUnsupported:
		return errors.Join(payment.ErrRefused, said)
	case api.CodeCompleted:
		return errors.Join(payment.ErrCompleted, said)
	case api.CodeNotFound:
		return errors.Join(payment.ErrNotFound, said)
	case api.CodeRefunded:
		return errors.Join(errRefunded, said)
	case api.CodeNoRefund:
		return errors.Join(errNoRefund, said)
	case api.CodeUnauthorized, api.CodeBlocked:
		return errors.Join(errNotSent, said)
	}
	return said
}

// createError makes a definite no of what never reached the gateway. Only for
// Create: there it lets the seat go at once, while a refund or a cancel that was
// not sent has to be tried again, not given up.
func createError(err error) error {
	if errors.Is(err, errNotSent) {
		return errors.Join(payment.ErrRefused, err)
	}
	return err
}
