package wiring

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/payment"
	"github.com/holdfast/holdfast/payment/sandbox"
)

// Sandbox account names: one of each kind of gateway (protocol.md 2.1). The
// payee is what the sandbox calls our account.
const (
	SandboxPage    = "page"
	SandboxExecute = "execute"
	SandboxPayee   = "holdfast-demo"
)

// openGateways builds every configured gateway and checks that new bookings
// have one to pay at.
func (h *House) openGateways() error {
	h.Gateways = payment.Gateways{}
	s := h.Config.Sandbox
	if s.URL != "" {
		for name, moves := range map[string]payment.Moves{SandboxPage: payment.MovesOnPage, SandboxExecute: payment.MovesOnExecute} {
			gw, err := sandbox.New(sandbox.Config{
				Name: name, BaseURL: s.URL, AppKey: s.AppKey + "-" + name, AppSecret: s.AppSecret, WebhookSecret: s.WebhookSecret,
				Payee: SandboxPayee, Moves: moves, Tokens: sharedTokens{h.Redis}, Log: h.Log,
			})
			if err != nil {
				return fmt.Errorf("sandbox gateway %q: %w", name, err)
			}
			h.Gateways[name] = gw
		}
	}
	if _, ok := h.Gateways[h.Config.Gateway]; !ok {
		return fmt.Errorf("HOLDFAST_GATEWAY: there is no gateway %q: set HOLDFAST_SANDBOX_URL and choose page or execute", h.Config.Gateway)
	}
	return nil
}

// sharedTokens is the fleet's token store on Redis, with its "not there" said in
// the payment port's word.
type sharedTokens struct{ *Redis }

// Token implements payment.TokenStore.
func (s sharedTokens) Token(ctx context.Context, gateway string) (string, time.Time, error) {
	token, issued, err := s.Redis.Token(ctx, gateway)
	if errors.Is(err, admission.ErrNotFound) {
		err = fmt.Errorf("%w: %w", payment.ErrNotFound, err)
	}
	return token, issued, err
}

// askGatewayFor bounds how long a gateway may think about a question.
const askGatewayFor = 10 * time.Second

// GatewayAnswers asks the gateway at which new bookings pay whether it is there.
func (h *House) GatewayAnswers(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, askGatewayFor)
	defer cancel()
	return payment.Answers(ctx, h.Gateways[h.Config.Gateway])
}

// askGatewayEvery is how often a reaper asks: once a minute is little to a
// gateway, and soon enough before an opening.
const askGatewayEvery = time.Minute

// watchGateway keeps holdfast_gateway_up until ctx ends.
func (h *House) watchGateway(ctx context.Context) {
	tick := time.NewTicker(askGatewayEvery)
	defer tick.Stop()
	for {
		up := 1.0
		if err := h.GatewayAnswers(ctx); err != nil && ctx.Err() == nil {
			h.Log.Warn("the payment gateway does not answer", "gateway", h.Config.Gateway, "error", err.Error())
			up = 0
		}
		h.Metrics.gatewayUp.WithLabelValues(h.Config.Gateway).Set(up)
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}
