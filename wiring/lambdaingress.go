package wiring

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/holdfast/holdfast/ingress"
	"github.com/holdfast/holdfast/ingress/urlevent"
)

// ingressFunction is the door in a function, for small sales. Lambda lets the
// process run only while it answers, so nothing is decided by what was known
// before a pause: every admission asks the script, and plans are read again when
// they are old by the wall's clock (the process's own stands still meanwhile).
// Like Serve it refuses a Redis that could lose or resell seats.
func (h *House) ingressFunction(ctx context.Context) (any, error) {
	if err := h.Redis.CheckServer(ctx, anySale); err != nil {
		return nil, fmt.Errorf("this Redis is not safe to sell seats from: %w", err)
	}
	in, err := h.ingress(h.Redis, nil, nil) // minutes are kept by processes that live on
	if err != nil {
		return nil, err
	}
	d := &frozenDoor{house: h, ingress: in}
	if err := d.fresh(ctx); err != nil {
		return nil, fmt.Errorf("read the sales from the ledger: %w", err)
	}
	run, stop := context.WithCancel(context.WithoutCancel(ctx))
	done := make(chan struct{})
	go func() {
		defer close(done)
		in.Run(run)
	}()
	h.onClose(func(context.Context) error {
		stop()
		<-done
		return nil
	})
	return urlevent.Wrap(d, d.settle), nil
}

// frozenDoor is an ingress whose process is frozen between two answers.
type frozenDoor struct {
	house   *House
	ingress *ingress.Ingress

	mu   sync.Mutex
	read time.Time // when the plans were last read, by the wall's clock
}

// plansAge is how old plans may be before a request waits for new ones.
const plansAge = 5 * time.Second

func (d *frozenDoor) fresh(ctx context.Context) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := time.Now().Round(0) // without the reading that stops in a pause
	if age := now.Sub(d.read); age >= 0 && age < plansAge {
		return nil
	}
	if err := d.ingress.Refresh(ctx); err != nil {
		return err
	}
	d.read = now
	return nil
}

// ServeHTTP implements http.Handler. A stream can't be had from a function that
// answers as a whole; who wants the seats' changes has to ask for the map again.
func (d *frozenDoor) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.HasSuffix(r.URL.Path, "/seats/stream") {
		w.Header().Set("Content-Type", "application/problem+json")
		w.WriteHeader(http.StatusNotImplemented)
		_, _ = w.Write([]byte(`{"type":"about:blank","title":"No stream here","status":501,"code":"no_stream","detail":"This deployment does not stream: ask for the map of seats again every few seconds."}` + "\n")) // into memory
		return
	}
	if err := d.fresh(r.Context()); err != nil {
		// Old plans refuse nobody wrongly: generation and times are the script's.
		d.house.Log.Warn("the plans could not be read again", "error", err.Error())
	}
	d.ingress.Public().ServeHTTP(w, r)
}

// settle publishes what the answer has changed before the process is frozen.
func (d *frozenDoor) settle(ctx context.Context) {
	if err := d.house.Status.Flush(ctx); err != nil {
		d.house.Log.Warn("the status is published with the next answer, or by a sweep", "error", err.Error())
	}
}
