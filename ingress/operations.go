package ingress

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/holdfast/holdfast/ingress/admin"
	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/lifecycle"
	"github.com/holdfast/holdfast/sale"
)

// operations are the handlers of the admin API.
type operations struct{ admin.Operations }

// order is what an operator sends: which fields, depends on the act.
type operatorOrder struct {
	Cap    *int   `json:"cap"`
	Most   int    `json:"most"`
	Reason string `json:"reason"`
}

// maxReason bounds a reason in bytes: it is kept with the sale and printed on
// terminals.
const maxReason = 500

// read reads the body and who asks. X-Operator is a name for the audit trail;
// the token has let them in already.
func (operations) read(c echo.Context) (o operatorOrder, by admin.By, err error) {
	name := c.Request().Header.Get("X-Operator")
	if name == "" {
		name = "api"
	}
	if !sale.ValidName(name) {
		return o, by, invalid(Field{"X-Operator", "must be 1 to 40 of A-Z a-z 0-9 _ -"})
	}
	if c.Request().ContentLength != 0 {
		if err := readOperatorJSON(c.Response(), c.Request(), &o); err != nil {
			return o, by, err
		}
	}
	if len(o.Reason) > maxReason || hasControl(o.Reason) {
		return o, by, invalid(Field{"reason", "must be at most 500 bytes of text without control characters"})
	}
	if strings.TrimSpace(o.Reason) == "" {
		return o, by, newProblem(http.StatusBadRequest, codeReasonRequired, "Say why", "Send the field reason: it is kept in the sale's trail with who did it. Nothing was changed.")
	}
	return o, admin.By{Actor: ledger.Actor("operator:" + name), Reason: o.Reason}, nil
}

// operateFor bounds one act of an operator.
const operateFor = 30 * time.Second

func within(c echo.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(c.Request().Context()), operateFor)
}

func saleID(c echo.Context) (string, error) {
	if id := c.Param("sale"); sale.ValidName(id) {
		return id, nil
	}
	return "", notFound()
}

func (o operations) sales(c echo.Context) error {
	ids, err := o.Sales(c.Request().Context())
	if err != nil {
		return err
	}
	if ids == nil {
		ids = []string{}
	}
	writeJSON(c.Response(), http.StatusOK, map[string]any{"sales": ids})
	return nil
}

func (o operations) document(read func(context.Context, string) (any, error)) echo.HandlerFunc {
	return func(c echo.Context) error {
		id, err := saleID(c)
		if err != nil {
			return err
		}
		doc, err := read(c.Request().Context(), id)
		if err != nil {
			return err
		}
		writeJSON(c.Response(), http.StatusOK, doc)
		return nil
	}
}

func (o operations) act(do func(context.Context, string, admin.By) error) echo.HandlerFunc {
	return func(c echo.Context) error {
		id, err := saleID(c)
		if err != nil {
			return err
		}
		_, by, err := o.read(c)
		if err != nil {
			return err
		}
		ctx, cancel := within(c)
		defer cancel()
		if err := do(ctx, id, by); err != nil {
			return err
		}
		writeJSON(c.Response(), http.StatusOK, map[string]string{"sale": id, "result": "done"})
		return nil
	}
}

func (o operations) setCap(c echo.Context) error {
	id, err := saleID(c)
	if err != nil {
		return err
	}
	order, by, err := o.read(c)
	if err != nil {
		return err
	}
	level := c.Param("level")
	if order.Cap == nil || *order.Cap < 0 || level != "" && !sale.ValidName(level) {
		return invalid(Field{"cap", "must be a whole number, 0 or more"})
	}
	ctx, cancel := within(c)
	defer cancel()
	a, err := o.SetCap(ctx, id, level, *order.Cap, by)
	if err != nil {
		return err
	}
	writeJSON(c.Response(), http.StatusOK, map[string]any{"sale": id, "level": level, "cap": a.Cap, "used": a.Used})
	return nil
}

// maxListed bounds a listing; more is said as truncated.
const maxListed = 1000

var errEnough = errors.New("enough")

func (o operations) holds(c echo.Context) error {
	type hold struct {
		admin.Hold
		AgeSeconds float64 `json:"age_seconds"`
	}
	return list(c, "holds", func(ctx context.Context, id string, add func(any) error) error {
		return o.Holds(ctx, id, func(h admin.Hold) error { return add(hold{h, h.Age.Seconds()}) })
	})
}

func (o operations) inbox(c echo.Context) error {
	return list(c, "items", func(ctx context.Context, id string, add func(any) error) error {
		return o.Inbox(ctx, id, func(i admin.InboxItem) error { return add(i) })
	})
}

func list(c echo.Context, name string, walk func(ctx context.Context, id string, add func(any) error) error) error {
	id, err := saleID(c)
	if err != nil {
		return err
	}
	items := []any{}
	err = walk(c.Request().Context(), id, func(item any) error {
		if len(items) == maxListed {
			return errEnough
		}
		items = append(items, item)
		return nil
	})
	if err != nil && !errors.Is(err, errEnough) {
		return err
	}
	writeJSON(c.Response(), http.StatusOK, map[string]any{name: items, "truncated": err != nil})
	return nil
}

func (o operations) release(c echo.Context) error {
	if !sale.ValidName(c.Param("id")) {
		return notFound()
	}
	_, by, err := o.read(c)
	if err != nil {
		return err
	}
	ctx, cancel := within(c)
	defer cancel()
	out, err := o.ReleaseHold(ctx, c.Param("id"), by)
	if err != nil {
		return err
	}
	switch out {
	case lifecycle.Released, lifecycle.AlreadyReleased:
		writeJSON(c.Response(), http.StatusOK, map[string]string{"booking_id": c.Param("id"), "state": "released"})
		return nil
	case lifecycle.AlreadyPaid:
		return newProblem(http.StatusConflict, codeAlreadyPaid, "The booking is paid", "Cancel it instead: the payment is then refunded.")
	}
	p := newProblem(http.StatusConflict, codeInProgress, "A payment is under way", "Try again in a few seconds.")
	p.retryAfter = 3 * time.Second
	return p
}

func (o operations) cancel(c echo.Context) error {
	if !sale.ValidName(c.Param("id")) {
		return notFound()
	}
	_, by, err := o.read(c)
	if err != nil {
		return err
	}
	ctx, cancel := within(c)
	defer cancel()
	if err := o.Cancel(ctx, c.Param("id"), by); err != nil {
		return err
	}
	writeJSON(c.Response(), http.StatusOK, map[string]string{"booking_id": c.Param("id"), "state": "refund_due"})
	return nil
}

func (o operations) redrive(c echo.Context) error {
	order, by, err := o.read(c)
	if err != nil {
		return err
	}
	if order.Most <= 0 {
		return invalid(Field{"most", "must say how many dead letters to move at most"})
	}
	ctx, cancel := within(c)
	defer cancel()
	moved, err := o.Redrive(ctx, order.Most, by)
	if err != nil {
		return fmt.Errorf("ingress: redrive: %w", err)
	}
	writeJSON(c.Response(), http.StatusOK, map[string]int{"moved": moved})
	return nil
}
