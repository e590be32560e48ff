package wiring

import (
	"context"
	"fmt"
	"net"

	"github.com/holdfast/holdfast/admission"
	admredis "github.com/holdfast/holdfast/admission/redis"
	"github.com/holdfast/holdfast/ingress"
	"github.com/holdfast/holdfast/ingress/admin"
	"github.com/holdfast/holdfast/ledger"
)

// anySale names a slot for checks that are not about a particular sale.
const anySale = "holdfast"

// Serve runs the ingress until ctx ends, then finishes the bookings under way.
// It refuses to start on a Redis that could lose or resell seats.
func (h *House) Serve(ctx context.Context) error {
	RelaxGC()
	if err := h.Redis.CheckServer(ctx, anySale); err != nil {
		return fmt.Errorf("this Redis is not safe to sell seats from: %w", err)
	}
	gates := admredis.NewGates(h.Redis.Store, h.Redis.Committer)
	in, err := h.ingress(gates, gates.Watch, h.minutes())
	if err != nil {
		return err
	}
	if err := in.Refresh(ctx); err != nil {
		return fmt.Errorf("read the sales from the ledger: %w", err)
	}
	public, err := net.Listen("tcp", h.Config.Listen)
	if err != nil {
		return fmt.Errorf("listen for candidates: %w", err)
	}
	operator, err := net.Listen("tcp", h.Config.OperatorListen)
	if err != nil {
		_ = public.Close() // nobody was let in yet
		return fmt.Errorf("listen for operators: %w", err)
	}
	h.Log.Info("serving", "listen", public.Addr().String(), "operator_listen", operator.Addr().String())
	fresh, stop := context.WithCancel(context.WithoutCancel(ctx))
	done := make(chan struct{})
	go func() {
		defer close(done)
		gates.Run(fresh)
	}()
	err = in.Serve(ctx, public, operator)
	stop()
	<-done
	return err
}

// ingress builds the door. admit keeps full marks of its own, or needs none.
func (h *House) ingress(admit admission.Admitter, onSale func(string, []string), minutes ledger.MinuteStore) (*ingress.Ingress, error) {
	return ingress.New(ingress.Options{
		Hasher: h.Hasher, Ledger: h.Store, Redis: h.Redis, Admit: admit, AdmitIsGated: true, OnSale: onSale, Replicas: h.Config.Redis.Replicas,
		Walks: h.Steps, Publish: h.Publish,
		Gateways: h.Gateways, Gateway: h.Config.Gateway, Status: h.Status,
		PublicURL: h.Config.PublicURL, TrustedProxies: h.Config.TrustedProxies,
		RatePerClient: h.Config.RatePerClient, RatePerCode: h.Config.RatePerCode,
		Minutes: minutes, Operations: h.Operations(), OperatorToken: h.Config.OperatorToken, Ready: []admin.Check{{Name: "queue", Run: h.queueAnswers}},
		Proxy: h.consoleProxy(), Resume: h.Redis, Registry: h.Metrics.Registry, Log: h.Log,
	})
}

func (h *House) queueAnswers(ctx context.Context) error {
	_, err := h.Queue.Depth(ctx)
	return err
}
