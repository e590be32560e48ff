package ingress

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/holdfast/holdfast/ingress/admin"
	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/lifecycle"
)

// operatorRoutes are the operators' listener. Nothing of it is reachable on the
// public one.
func (in *Ingress) operatorRoutes() *echo.Echo {
	e := newEcho()
	e.HTTPErrorHandler = in.fail
	e.GET("/healthz", func(c echo.Context) error { in.health.Live(c.Response(), c.Request()); return nil })
	e.GET("/readyz", func(c echo.Context) error { in.health.Ready(c.Response(), c.Request()); return nil })
	e.GET("/metrics", echo.WrapHandler(promhttp.HandlerFor(in.Registry, promhttp.HandlerOpts{})))
	if in.Operations == nil {
		return e
	}
	o := operations{in.Operations}
	for _, r := range []struct {
		method, path string
		handle       echo.HandlerFunc
	}{
		{http.MethodGet, "/admin/sales", o.sales},
		{http.MethodGet, "/admin/sales/:sale/status", o.document(in.Operations.Status)},
		{http.MethodGet, "/admin/sales/:sale/drift", o.document(in.Operations.Drift)},
		{http.MethodGet, "/admin/sales/:sale/audit", o.document(in.Operations.Audit)},
		{http.MethodGet, "/admin/sales/:sale/holds", o.holds},
		{http.MethodGet, "/admin/sales/:sale/inbox", o.inbox},
		{http.MethodPost, "/admin/sales/:sale/open", o.act(in.Operations.Open)},
		{http.MethodPost, "/admin/sales/:sale/close", o.act(in.Operations.Close)},
		{http.MethodPut, "/admin/sales/:sale/cap", o.setCap},
		{http.MethodPut, "/admin/sales/:sale/levels/:level/cap", o.setCap},
		{http.MethodPost, "/admin/bookings/:id/release", o.release},
		{http.MethodPost, "/admin/bookings/:id/cancel", o.cancel},
		{http.MethodPost, "/admin/redrive", o.redrive},
	} {
		in.route(e, r.method, r.path, in.guarded(r.handle))
	}
	for _, r := range in.console.Routes() {
		if !r.Free {
			r.Handle = in.guarded(r.Handle)
		}
		in.route(e, r.Method, r.Path, r.Handle)
	}
	return e
}

// guarded lets operators in: the bearer token, compared in constant time, or a
// session of the console, and
// no page of another site, whatever a browser might send along.
func (in *Ingress) guarded(h echo.HandlerFunc) echo.HandlerFunc {
	want := sha256.Sum256([]byte(in.OperatorToken))
	sameOrigin := http.NewCrossOriginProtection()
	return func(c echo.Context) error {
		scheme, token, _ := strings.Cut(c.Request().Header.Get("Authorization"), " ")
		ok := strings.EqualFold(scheme, "Bearer")
		got := sha256.Sum256([]byte(token))
		ok = ok && subtle.ConstantTimeCompare(got[:], want[:]) == 1
		if !ok && !in.console.Admits(c.Request()) {
			c.Response().Header().Set("WWW-Authenticate", "Bearer")
			return newProblem(http.StatusUnauthorized, codeUnauthorized, "Not for everybody", "Send the operators' token: Authorization: Bearer ...")
		}
		if err := sameOrigin.Check(c.Request()); err != nil {
			return newProblem(http.StatusForbidden, "cross_origin", "Refused", "Operators' requests come from this origin or from no browser at all.")
		}
		return operatorError(h(c))
	}
}

// statusOfRefusal: what does not exist, what makes no sense, and what stands
// against it.
func statusOfRefusal(code string) int {
	switch {
	case strings.HasPrefix(code, "unknown_"):
		return http.StatusNotFound
	case code == "invalid", Code(code) == codeReasonRequired:
		return http.StatusBadRequest
	}
	return http.StatusConflict
}

// operatorError gives an operator's refusal its answer: code, and the numbers
// that show why (case F11).
func operatorError(err error) error {
	var refusal admin.Refusal
	switch {
	case err == nil:
		return nil
	case errors.As(err, &refusal):
		p := newProblem(statusOfRefusal(refusal.Code()), Code(refusal.Code()), "Not possible", refusal.Error())
		p.Numbers = refusal.Numbers()
		return p
	case errors.Is(err, ledger.ErrNotFound):
		return notFound()
	case errors.Is(err, lifecycle.ErrNotPaid):
		return newProblem(http.StatusConflict, "not_paid", "Not possible", lifecycle.ErrNotPaid.Error())
	case errors.Is(err, lifecycle.ErrFrozen):
		return newProblem(http.StatusConflict, "frozen", "Not possible", lifecycle.ErrFrozen.Error())
	}
	return err
}
