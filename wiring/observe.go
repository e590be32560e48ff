package wiring

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/holdfast/holdfast/ingress/admin"
)

// observed serves health and metrics on the operators' listener while run runs.
// The ingress does that for itself; workers and reapers have nothing else to
// serve.
func (h *House) observed(ctx context.Context, checks []admin.Check, run func(context.Context) error) error {
	l, err := net.Listen("tcp", h.Config.OperatorListen)
	if err != nil {
		return fmt.Errorf("listen for health and metrics: %w", err)
	}
	health := admin.NewHealth(checks, h.Now)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", health.Live)
	mux.HandleFunc("GET /readyz", health.Ready)
	mux.Handle("GET /metrics", promhttp.HandlerFor(h.Metrics.Registry, promhttp.HandlerOpts{}))
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	h.Log.Info("observable", "operator_listen", l.Addr().String())

	err = run(ctx)
	health.Drain()
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), 3*time.Second)
	defer cancel()
	if e := server.Shutdown(bounded); e != nil {
		err = errors.Join(err, server.Close())
	}
	if e := <-served; !errors.Is(e, http.ErrServerClosed) {
		err = errors.Join(err, e)
	}
	return err
}
