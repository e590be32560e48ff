package console

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/holdfast/holdfast/ingress/static"
	"github.com/holdfast/holdfast/sale"
)

// policy is the Content-Security-Policy of the console.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

func show(w http.ResponseWriter, status int, name string, data any) error {
	var b bytes.Buffer
	if err := pages.ExecuteTemplate(&b, name, data); err != nil {
		return fmt.Errorf("console: page %s: %w", name, err)
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", policy)
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, err := w.Write(b.Bytes())
	return err
}

// page is GET /console: the console, or the way to the login.
func (c *Console) page(e echo.Context) error {
	name, csrf, ok := c.who(e.Request())
	if !ok {
		return e.Redirect(http.StatusSeeOther, "/console/login")
	}
	return show(e.Response(), http.StatusOK, "console.html", map[string]string{"Name": name, "CSRF": csrf})
}

func (c *Console) loginPage(e echo.Context) error {
	return show(e.Response(), http.StatusOK, "login.html", map[string]string{})
}

var sameOrigin = http.NewCrossOriginProtection()

// login is POST /console/login, a plain form. A page of another site can't log
// anybody in.
func (c *Console) login(e echo.Context) error {
	if sameOrigin.Check(e.Request()) != nil {
		return e.Redirect(http.StatusSeeOther, "/console/login")
	}
	e.Request().Body = http.MaxBytesReader(e.Response(), e.Request().Body, 4<<10)
	name, token := e.FormValue("name"), e.FormValue("token")
	again := func(status int, fault string) error {
		return show(e.Response(), status, "login.html", map[string]string{"Fault": fault, "Name": name})
	}
	if !c.logins.Allow() {
		return again(http.StatusTooManyRequests, "Too many attempts. Wait a few seconds.")
	}
	if !c.sessions.knows(token) {
		return again(http.StatusUnauthorized, "This is not the operators' token.")
	}
	if !sale.ValidName(name) {
		return again(http.StatusBadRequest, "A name is 1 to 40 letters without accents, digits, _ and -.")
	}
	value, err := c.sessions.open(name)
	if err != nil {
		return err
	}
	http.SetCookie(e.Response(), c.cookie(e.Request(), value, sessionLife))
	return e.Redirect(http.StatusSeeOther, "/console")
}

func (c *Console) logout(e echo.Context) error {
	if sameOrigin.Check(e.Request()) == nil {
		http.SetCookie(e.Response(), c.cookie(e.Request(), "", -1))
	}
	return e.Redirect(http.StatusSeeOther, "/console/login")
}

func (c *Console) asset(e echo.Context) error {
	if err := assets.Serve(e.Response(), e.Request(), e.Param("name")); !errors.Is(err, static.ErrNotFound) {
		return err
	}
	return echo.ErrNotFound
}
