package ingress

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/holdfast/holdfast/ingress/booking"
	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/status"
)

// StatusSource has the published status documents; ledger.StatusStore is one.
type StatusSource interface {
	StatusDoc(ctx context.Context, saleID string) (doc []byte, epoch, n int64, err error)
}

// statusAge is how long a process serves a document before it looks for a newer
// one: a change is public within a second (protocol.md 3.13).
const statusAge = 500 * time.Millisecond

// statusFor bounds reading a document.
const statusFor = 2 * time.Second

// statusCache keeps each sale's document, so that a crowd costs two reads a
// second (case H14).
type statusCache struct {
	from StatusSource
	now  func() time.Time

	mu   sync.Mutex
	kept map[string]*statusEntry
}

type statusEntry struct {
	mu      sync.Mutex
	at      time.Time
	doc     *status.Document // nil: nothing published yet
	err     error            // of the last read, if there is no document to serve on
	reading chan struct{}    // closed when the read that is under way has ended
}

func newStatusCache(from StatusSource, now func() time.Time) *statusCache {
	return &statusCache{from: from, now: now, kept: make(map[string]*statusEntry)}
}

func (s *statusCache) entry(saleID string) *statusEntry {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.kept[saleID]
	if e == nil {
		e = &statusEntry{}
		s.kept[saleID] = e
	}
	return e
}

// document returns the newest published document, nil if there is none yet. If
// it can't be read the last one is served on, unless there is none.
//
// Whoever finds it old reads for all who come meanwhile: not even an error makes
// each of them wait for a ledger that does not answer.
func (s *statusCache) document(ctx context.Context, saleID string) (*status.Document, error) {
	e := s.entry(saleID)
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.at.IsZero() && s.now().Sub(e.at) < statusAge {
		return e.doc, e.err
	}
	if wait := e.reading; wait != nil {
		e.mu.Unlock()
		select {
		case <-wait:
		case <-ctx.Done():
		}
		e.mu.Lock()
		return e.doc, errors.Join(e.err, ctx.Err())
	}
	e.reading = make(chan struct{})
	e.mu.Unlock()
	doc, err := s.readFor(ctx, e, saleID)
	e.at = s.now()
	switch {
	case err == nil:
		e.doc, e.err = doc, nil
	case e.doc == nil:
		e.err = err
	}
	return e.doc, e.err
}

// readFor reads, and wakes all who wait, whatever becomes of it. It returns with
// e.mu held.
func (s *statusCache) readFor(ctx context.Context, e *statusEntry, saleID string) (*status.Document, error) {
	defer func() {
		e.mu.Lock()
		close(e.reading)
		e.reading = nil
	}()
	return s.read(ctx, saleID)
}

// read asks the ledger, also when its own caller goes away: the others wait for
// it too.
func (s *statusCache) read(ctx context.Context, saleID string) (*status.Document, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), statusFor)
	defer cancel()
	raw, _, _, err := s.from.StatusDoc(ctx, saleID)
	if errors.Is(err, ledger.ErrNotFound) {
		return nil, nil // no document is an answer here
	}
	doc := &status.Document{}
	if err == nil {
		err = json.Unmarshal(raw, doc)
	}
	if err != nil {
		return nil, fmt.Errorf("ingress: read the status of sale %s: %w", saleID, err)
	}
	return doc, nil
}

// showStatus is GET /sales/{sale}/status.json: the published document, as it is
// at the present time of the sale's clock.
func (in *Ingress) showStatus(c echo.Context) error {
	plan, ok := in.plans.Plan(c.Param("sale"))
	if !ok {
		return in.noSale()
	}
	doc, err := in.status.document(c.Request().Context(), plan.Sale.ID)
	if err != nil {
		return err
	}
	if doc == nil {
		doc = unpublished(plan)
	}
	served := doc.Served(in.Now().Add(plan.ClockAhead).Truncate(time.Millisecond))
	etag := fmt.Sprintf(`"%d-%d-%t-%d"`, served.Version.Epoch, served.Version.N, served.Open, served.OpensAt.UnixMilli())
	h := c.Response().Header()
	h.Set("ETag", etag)
	if c.Request().Header.Get("If-None-Match") == etag {
		c.Response().WriteHeader(http.StatusNotModified)
		return nil
	}
	writeJSON(c.Response(), http.StatusOK, served)
	return nil
}

// unpublished is the status of a sale of which nothing was published yet.
func unpublished(p *booking.Plan) *status.Document {
	d := &status.Document{Open: p.Open, OpensAt: p.Sale.OpensAt, ClosesAt: p.Sale.ClosesAt}
	for _, l := range p.Sale.Levels {
		d.Levels = append(d.Levels, status.Level{Name: l.Name, State: status.Available})
	}
	return d
}
