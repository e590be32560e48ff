package console

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/holdfast/holdfast/sale"
)

// stream is GET .../stream: server-sent events. First the chart so far, then
// each state: a page that connects again is right at once.
func (c *Console) stream(e echo.Context) error {
	id := e.Param("sale")
	if !sale.ValidName(id) {
		return echo.ErrNotFound
	}
	w, rc := e.Response(), http.NewResponseController(e.Response().Writer)
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no") // proxies pass it on at once
	watch := c.watch(id)
	states, history := watch.join(e.Request().Context())
	defer watch.leave(states)
	first, err := json.Marshal(history)
	if err != nil {
		return fmt.Errorf("console: chart of sale %s: %w", id, err)
	}
	send := func(event string, body []byte) error {
		_ = rc.SetWriteDeadline(time.Now().Add(10 * time.Second)) // a reader that hangs is let go
		if _, err := fmt.Fprintf(w, "event: %s\ndata: %s\n\n", event, body); err != nil {
			return err
		}
		return rc.Flush()
	}
	if _, err := fmt.Fprint(w, "retry: 1000\n"); err != nil {
		return nil // the page has gone
	}
	for err = send("history", first); err == nil; {
		select {
		case body := <-states:
			err = send("state", body)
		case <-e.Request().Context().Done():
			return nil
		case <-c.ended:
			return nil
		}
	}
	return nil // the page has gone
}
