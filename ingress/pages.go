package ingress

import (
	_ "embed"
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/holdfast/holdfast/ingress/web"
)

// openAPIDocument describes the public API; a test executes its examples.
//
//go:embed openapi.json
var openAPIDocument []byte

// openAPI is GET /openapi.json.
func (in *Ingress) openAPI(c echo.Context) error {
	h := c.Response().Header()
	h["Content-Type"] = contentJSON
	h.Set("Cache-Control", "public, max-age=300")
	h.Set("Access-Control-Allow-Origin", "*") // tools read it from anywhere; it holds nothing of anybody
	c.Response().WriteHeader(http.StatusOK)
	_, err := c.Response().Write(openAPIDocument)
	return err
}

// salePage is GET /sales/{sale}: the booking page. It costs no I/O.
func (in *Ingress) salePage(c echo.Context) error {
	plan, ok := in.plans.Plan(c.Param("sale"))
	if !ok {
		return in.noSale()
	}
	return web.ShowSale(c.Response(), plan.Sale)
}
