package ingress

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"
)

// Timeouts of the public listener. A booking's answer may take as long as its
// driver; everything that a client sends must come quickly.
const (
	readTimeout  = 10 * time.Second
	writeTimeout = time.Minute
	idleTimeout  = 2 * time.Minute
	maxHeader    = 16 << 10
)

// Serve answers on both listeners until ctx ends, then shuts down in order: it
// reports itself as not ready, accepts nothing new, lets the drivers under way
// finish (at most Drain), and closes. It returns nil after an orderly shutdown.
// The listeners are closed in any case.
func (in *Ingress) Serve(ctx context.Context, public, operator net.Listener) error {
	background, stop := context.WithCancel(context.WithoutCancel(ctx))
	var wg sync.WaitGroup
	wg.Go(func() { in.Run(background) })
	defer wg.Wait()
	defer stop()

	servers := []*http.Server{in.server(in.public), in.server(in.operator)}
	failed := make(chan error, len(servers))
	for i, l := range []net.Listener{public, operator} {
		wg.Go(func() {
			if err := servers[i].Serve(l); !errors.Is(err, http.ErrServerClosed) {
				failed <- fmt.Errorf("ingress: serve %s: %w", l.Addr(), err)
			}
		})
	}
	var err error
	select {
	case <-ctx.Done():
	case err = <-failed:
	}
	return errors.Join(err, in.shutdown(ctx, servers))
}

func (in *Ingress) server(h http.Handler) *http.Server {
	return &http.Server{Handler: h, ReadHeaderTimeout: readTimeout, ReadTimeout: readTimeout, WriteTimeout: writeTimeout,
		IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeader, ErrorLog: slog.NewLogLogger(in.Log.Handler(), slog.LevelDebug)}
}

// shutdown ends the public listener first, so that health and metrics can be
// watched until nothing is under way.
func (in *Ingress) shutdown(ctx context.Context, servers []*http.Server) error {
	in.health.Drain()
	in.console.Close()
	if in.seats != nil {
		in.seats.Close() // a stream would never end by itself
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), in.Drain)
	defer cancel()
	var faults []error
	for _, s := range servers {
		if err := s.Shutdown(ctx); err != nil {
			faults = append(faults, fmt.Errorf("ingress: requests were broken off after %v; retries and the reaper finish them: %w", in.Drain, err), s.Close())
		}
	}
	return errors.Join(faults...)
}
