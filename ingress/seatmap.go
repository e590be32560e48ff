package ingress

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/holdfast/holdfast/ingress/booking"
	"github.com/holdfast/holdfast/ingress/seats"
	"github.com/holdfast/holdfast/ingress/static"
)

// mapFor bounds reading a map; the ledger may have to be scanned for it.
const mapFor = 20 * time.Second

// Of a stream: how often something is sent although nothing changes, and how long
// one write may take.
const (
	heartbeat = 15 * time.Second
	sendFor   = 10 * time.Second
)

var beat = []byte(": beat\n\n")

func (in *Ingress) seatPlan(c echo.Context) (*booking.Plan, error) {
	if err := in.limitClient(c); err != nil {
		return nil, err
	}
	plan, ok := in.plans.Plan(c.Param("sale"))
	if !ok || len(plan.Halls) == 0 {
		return nil, notFound()
	}
	return plan, nil
}

// seatMap is GET /sales/{sale}/seats. Most are answered from memory. The header
// Hold-Id shows an owner's own seats; ?plan=0 leaves out what never changes.
func (in *Ingress) seatMap(c echo.Context) error {
	plan, err := in.seatPlan(c)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(c.Request().Context(), mapFor)
	defer cancel()
	v, err := in.seats.View(ctx, plan)
	if err != nil {
		return err
	}
	own := c.Request().Header.Get("Hold-Id")
	if own != "" && !in.Hasher.Minted(own) {
		return invalid(Field{"Hold-Id", "is no hold's id"})
	}
	h := c.Response().Header()
	h["Content-Type"], h["Cache-Control"] = contentJSON, noStore
	h.Set("Vary", "Accept-Encoding")
	withPlan := c.QueryParam("plan") != "0"
	var body []byte
	if withPlan && own == "" && static.TakesGzip(c.Request()) {
		h.Set("Content-Encoding", "gzip")
		body = v.Packed(in.Now())
	} else {
		body = v.Document(in.Now(), withPlan, own)
	}
	c.Response().WriteHeader(http.StatusOK)
	_, _ = c.Response().Write(body) // nobody is left to tell
	return nil
}

// seatStream is GET /sales/{sale}/seats/stream: server-sent events. A viewer says
// which version it has by Last-Event-ID or ?since=; it gets the deltas from there
// on, or a snapshot first. A delta whose from is not the version it has means that
// it missed one: it asks for a snapshot.
func (in *Ingress) seatStream(c echo.Context) error {
	plan, err := in.seatPlan(c)
	if err != nil {
		return err
	}
	since := c.Request().Header.Get("Last-Event-ID")
	if since == "" {
		since = c.QueryParam("since")
	}
	ctx, cancel := context.WithTimeout(c.Request().Context(), mapFor)
	defer cancel()
	s, err := in.seats.Subscribe(ctx, plan, since)
	if errors.Is(err, seats.ErrTooMany) {
		return unavailable(5 * time.Second)
	}
	if err != nil {
		return err
	}
	defer s.Close()
	h := c.Response().Header()
	h.Set("Content-Type", "text/event-stream")
	h["Cache-Control"] = noStore
	h.Set("X-Accel-Buffering", "no")
	c.Response().WriteHeader(http.StatusOK)
	return in.send(c, s)
}

// send writes events until the viewer leaves, is too slow, or the process ends.
func (in *Ingress) send(c echo.Context, s *seats.Stream) error {
	w := http.NewResponseController(c.Response())
	tick := time.NewTicker(heartbeat)
	defer tick.Stop()
	write := func(b []byte) bool {
		if err := w.SetWriteDeadline(time.Now().Add(sendFor)); err != nil && !errors.Is(err, http.ErrNotSupported) {
			return false
		}
		if _, err := c.Response().Write(b); err != nil {
			return false
		}
		err := w.Flush()
		return err == nil || errors.Is(err, http.ErrNotSupported)
	}
	for {
		select {
		case e, ok := <-s.Events():
			if !ok || !write(e) {
				return nil
			}
		case <-tick.C:
			if !write(beat) {
				return nil
			}
		case <-c.Request().Context().Done():
			return nil
		}
	}
}
