package ingress

import (
	"errors"
	"net/http"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/holdfast/holdfast/ingress/web"
)

// publicRoutes are what candidates and gateways reach. Selling is one route,
// and it passes the gates; a test lists them all (case H21).
func (in *Ingress) publicRoutes() *echo.Echo {
	e := newEcho()
	e.HTTPErrorHandler = in.fail
	in.route(e, http.MethodPost, "/sales/:sale/bookings", in.book)
	in.seatRoutes(e)
	in.route(e, http.MethodGet, "/bookings/:id", in.showBooking)
	in.route(e, http.MethodDelete, "/bookings/:id", in.giveBack)
	in.readable(e, "/sales/:sale/status.json", in.showStatus)
	in.route(e, http.MethodGet, "/payments/:gateway/return", in.paymentReturn)
	in.route(e, http.MethodPost, "/webhooks/:gateway", in.webhook)
	in.readable(e, "/openapi.json", in.openAPI)
	in.readable(e, "/sales/:sale", in.salePage)
	in.readable(e, "/assets/:name", func(c echo.Context) error {
		err := web.Asset(c.Response(), c.Request(), c.Param("name"))
		if errors.Is(err, web.ErrNoAsset) {
			return notFound()
		}
		return err
	})
	return e
}

func newEcho() *echo.Echo {
	e := echo.New()
	e.HideBanner, e.HidePort = true, true
	return e
}

// readable is a page or a document of everybody's: link previews and monitors
// ask for its HEAD alone. net/http leaves the body out.
func (in *Ingress) readable(e *echo.Echo, path string, h echo.HandlerFunc) {
	in.route(e, http.MethodGet, path, h)
	in.route(e, http.MethodHead, path, h)
}

// route adds what every public handler needs and nothing more: a panic becomes
// a problem, answers can't be sniffed, and requests are counted.
func (in *Ingress) route(e *echo.Echo, method, path string, h echo.HandlerFunc) {
	name := method + " " + path
	e.Add(method, path, func(c echo.Context) (err error) {
		c.Response().Header()["X-Content-Type-Options"] = noSniff
		defer func() {
			if cause := recover(); cause != nil {
				err = in.recovered(c, cause)
			}
			if err != nil {
				in.fail(err, c)
			}
			in.metrics.requests.WithLabelValues(name, statusText(c.Response().Status)).Inc()
		}()
		return h(c)
	})
}

var noSniff = []string{"nosniff"}

// statusText is strconv.Itoa without an allocation for what is common.
func statusText(status int) string {
	switch status {
	case 200:
		return "200"
	case 201:
		return "201"
	case 400:
		return "400"
	case 409:
		return "409"
	case 429:
		return "429"
	case 503:
		return "503"
	}
	return strconv.Itoa(status)
}

// recovered turns a panic into an answer. http.ErrAbortHandler is passed on: it
// is how net/http is told to drop a connection.
func (in *Ingress) recovered(c echo.Context, cause any) error {
	if cause == http.ErrAbortHandler {
		panic(cause)
	}
	in.metrics.panics.Inc()
	in.Log.ErrorContext(c.Request().Context(), "panic", "route", c.Path(), "panic", describe(cause), "stack", string(debug.Stack()))
	return newProblem(http.StatusInternalServerError, codeInternal, "Something went wrong here",
		"Try again with the same Idempotency-Key.")
}

// describe says what kind of thing was thrown, and its text only if it is an
// error of the runtime: a text of our own making might hold a request's words.
func describe(cause any) string {
	var r interface {
		error
		RuntimeError()
	}
	if err, ok := cause.(error); ok && errors.As(err, &r) {
		return r.Error()
	}
	return "a panic that is not a runtime error"
}

// fail answers for an error that a handler returned, and for what the router
// refused.
func (in *Ingress) fail(err error, c echo.Context) {
	if c.Response().Committed {
		return
	}
	var p *Problem
	if errors.As(err, &p) {
		p.write(c.Response())
		return
	}
	var routed *echo.HTTPError
	if errors.As(err, &routed) {
		switch routed.Code {
		case http.StatusNotFound:
			notFound().write(c.Response())
			return
		case http.StatusMethodNotAllowed:
			newProblem(http.StatusMethodNotAllowed, codeMethod, "This address does not take that method", "See /openapi.json.").write(c.Response())
			return
		}
	}
	in.Log.WarnContext(c.Request().Context(), "request failed", "route", c.Path(), "err", err)
	unfinished(2 * time.Second).write(c.Response())
}
