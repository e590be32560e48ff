package console

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/labstack/echo/v4"

	"github.com/holdfast/holdfast/ingress/admin"
	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/sale"
)

// invalid is a wish that makes no sense; it is an admin.Refusal.
type invalid string

func (i invalid) Error() string         { return string(i) }
func (invalid) Code() string            { return "invalid" }
func (invalid) Numbers() map[string]int { return nil }

// noReason is an act that nobody could explain later; it is an admin.Refusal.
type noReason struct{}

func (noReason) Error() string {
	return "say why, in 1 to " + strconv.Itoa(maxReason) + " bytes of text: the reason is kept in the trail"
}
func (noReason) Code() string            { return "reason_required" }
func (noReason) Numbers() map[string]int { return nil }

// order is what an act's body may hold.
type order struct {
	Reason   string    `json:"reason"`
	OpensAt  time.Time `json:"opens_at"`
	ClosesAt time.Time `json:"closes_at"`
	Code     string    `json:"code"`
	Email    string    `json:"email"`
	DryRun   bool      `json:"dry_run"`
	Refund   bool      `json:"refund"`
	Ended    bool      `json:"ended"`
}

const (
	maxOrder  = 4 << 10
	maxReason = 500
	actFor    = 30 * time.Second
	readFor   = 5 * time.Minute // repair, export and ended bookings read a whole sale
)

func (c *Console) read(e echo.Context) (saleID string, o order, err error) {
	if saleID = e.Param("sale"); !sale.ValidName(saleID) {
		return "", o, echo.ErrNotFound
	}
	d := json.NewDecoder(http.MaxBytesReader(e.Response(), e.Request().Body, maxOrder))
	d.DisallowUnknownFields()
	if err := d.Decode(&o); err != nil {
		return "", o, invalid("the body must be one JSON object with known fields: " + err.Error())
	}
	return saleID, o, nil
}

// by is who acts, and why: an act from the console always says why.
func by(r *http.Request, reason string) (admin.By, error) {
	reason = strings.TrimSpace(reason)
	if reason == "" || len(reason) > maxReason || strings.ContainsFunc(reason, unicode.IsControl) {
		return admin.By{}, noReason{}
	}
	name := r.Header.Get("X-Operator")
	if !sale.ValidName(name) {
		name = "api"
	}
	return admin.By{Actor: ledger.Actor("operator:" + name), Reason: reason}, nil
}

// within bounds an act. It goes on when the page has gone.
func within(e echo.Context, d time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(e.Request().Context()), d)
}

// patient lifts the listener's time limits for one answer that takes long.
func patient(w http.ResponseWriter, d time.Duration) {
	rc, until := http.NewResponseController(w), time.Now().Add(d)
	_ = rc.SetReadDeadline(until) // where they can't be lifted they stay
	_ = rc.SetWriteDeadline(until)
}

func done(e echo.Context) error {
	return e.JSON(http.StatusOK, map[string]string{"result": "done"})
}

func (c *Console) setTimes(e echo.Context) error {
	id, o, err := c.read(e)
	if err != nil {
		return err
	}
	who, err := by(e.Request(), o.Reason)
	if err != nil {
		return err
	}
	ctx, cancel := within(e, actFor)
	defer cancel()
	if err := c.Desk.SetTimes(ctx, id, o.OpensAt, o.ClosesAt, who); err != nil {
		return err
	}
	return done(e)
}

// lookup is a POST, because a code must not stand in an address.
func (c *Console) lookup(e echo.Context) error {
	id, o, err := c.read(e)
	if err != nil {
		return err
	}
	wait := actFor
	if o.Ended {
		wait = readFor
		patient(e.Response(), wait)
	}
	ctx, cancel := context.WithTimeout(e.Request().Context(), wait)
	defer cancel()
	found, err := c.Desk.Lookup(ctx, id, o.Code, o.Email, o.Ended)
	if err != nil {
		return err
	}
	return e.JSON(http.StatusOK, found)
}

func (c *Console) repair(e echo.Context) error {
	id, o, err := c.read(e)
	if err != nil {
		return err
	}
	if o.DryRun && o.Reason == "" {
		o.Reason = "dry run" // writes nothing anywhere
	}
	who, err := by(e.Request(), o.Reason)
	if err != nil {
		return err
	}
	patient(e.Response(), readFor)
	ctx, cancel := within(e, readFor)
	defer cancel()
	found, err := c.Desk.Repair(ctx, id, o.DryRun, who)
	if err != nil {
		return err
	}
	return e.JSON(http.StatusOK, found)
}

func (c *Console) resolve(e echo.Context) error {
	id, o, err := c.read(e)
	if err != nil {
		return err
	}
	who, err := by(e.Request(), o.Reason)
	if err != nil {
		return err
	}
	ctx, cancel := within(e, actFor)
	defer cancel()
	if err := c.Desk.Resolve(ctx, id, e.Param("item"), o.Refund, who); err != nil {
		return err
	}
	return done(e)
}

// shownActs bounds the trail on the page: the newest.
const shownActs = 200

func (c *Console) trail(e echo.Context) error {
	if !sale.ValidName(e.Param("sale")) {
		return echo.ErrNotFound
	}
	list := []TrailEntry{}
	err := c.Desk.Trail(e.Request().Context(), e.Param("sale"), func(t TrailEntry) error {
		if list = append(list, t); len(list) > 2*shownActs {
			list = append(list[:0], list[len(list)-shownActs:]...)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return e.JSON(http.StatusOK, map[string]any{"acts": list[max(0, len(list)-shownActs):]})
}

// export sends every booking as CSV. What fails after the first byte breaks the
// connection off, so that nobody takes half a list for a whole one.
func (c *Console) export(e echo.Context) error {
	id := e.Param("sale")
	if !sale.ValidName(id) {
		return echo.ErrNotFound
	}
	patient(e.Response(), readFor)
	h := e.Response().Header()
	h.Set("Content-Type", "text/csv; charset=utf-8")
	h.Set("Content-Disposition", fmt.Sprintf("attachment; filename=%q", "holdfast-"+id+".csv"))
	h.Set("Cache-Control", "no-store")
	err := c.Desk.Export(e.Request().Context(), id, e.Response())
	switch {
	case err != nil && e.Response().Committed:
		panic(http.ErrAbortHandler)
	case err != nil:
		h.Del("Content-Disposition")
	}
	return err
}

// report is GET .../report.html: on the screen, or with ?download as a file,
// which an auditor can verify.
func (c *Console) report(e echo.Context) error {
	id := e.Param("sale")
	if !sale.ValidName(id) {
		return echo.ErrNotFound
	}
	patient(e.Response(), readFor)
	name := e.Request().Header.Get("X-Operator")
	if !sale.ValidName(name) {
		name = "api"
	}
	page, policy, err := c.Desk.Report(e.Request().Context(), id, name)
	if err != nil {
		return err
	}
	h := e.Response().Header()
	h.Set("Content-Security-Policy", policy+"; frame-ancestors 'none'")
	h.Set("Cache-Control", "no-store")
	if e.QueryParams().Has("download") {
		h.Set("Content-Disposition", fmt.Sprintf("attachment; filename=%q", "holdfast-"+id+".html"))
	}
	return e.Blob(http.StatusOK, "text/html; charset=utf-8", page)
}
