package ingress_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/ingress"
	"github.com/holdfast/holdfast/ingress/admin"
	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/lifecycle"
)

const operatorToken = "a-token-for-operators"

func withOperations(o *ingress.Options) {
	o.Operations, o.OperatorToken = &fakeOperations{}, operatorToken
}

// fakeOperations answers as an operator package would.
type fakeOperations struct{ did []string }

type usedError struct{ used, limit int }

func (e usedError) Error() string {
	return "12 seats are used: release some first, or keep the cap at 12 or more"
}
func (e usedError) Code() string            { return "cap_used" }
func (e usedError) Numbers() map[string]int { return map[string]int{"used": e.used, "cap": e.limit} }

type unknownError struct{}

func (unknownError) Error() string           { return "the sale has no level N9: see its status for the levels" }
func (unknownError) Code() string            { return "unknown_level" }
func (unknownError) Numbers() map[string]int { return nil }

func (f *fakeOperations) note(what string, by admin.By) {
	f.did = append(f.did, what+" "+string(by.Actor)+" "+by.Reason)
}
func (f *fakeOperations) Sales(context.Context) ([]string, error) { return []string{"spring"}, nil }
func (f *fakeOperations) Open(_ context.Context, s string, by admin.By) error {
	f.note("open "+s, by)
	return nil
}
func (f *fakeOperations) Close(_ context.Context, s string, by admin.By) error {
	f.note("close "+s, by)
	return nil
}
func (f *fakeOperations) SetCap(_ context.Context, _, level string, n int, by admin.By) (admission.CapAnswer, error) {
	if level == "N9" {
		return admission.CapAnswer{}, unknownError{}
	}
	if n < 12 {
		return admission.CapAnswer{}, usedError{12, 20}
	}
	if n == 99 {
		return admission.CapAnswer{Cap: n}, fmt.Errorf("the cap is changed, but not acknowledged: %w", admission.ErrUnacknowledged)
	}
	f.note("cap "+level, by)
	return admission.CapAnswer{Outcome: admission.CapSet, Cap: n, Used: 12}, nil
}
func (f *fakeOperations) Holds(_ context.Context, _ string, each func(admin.Hold) error) error {
	for range 1001 {
		if err := each(admin.Hold{BookingID: "B", Owner: "hash", Level: "N1", Seats: []string{"N1-1"}, State: "held", Age: time.Minute}); err != nil {
			return err
		}
	}
	return nil
}
func (f *fakeOperations) ReleaseHold(_ context.Context, id string, _ admin.By) (lifecycle.ReleaseOutcome, error) {
	switch id {
	case "paid":
		return lifecycle.AlreadyPaid, nil
	case "paying":
		return lifecycle.Postponed, nil
	case "missing":
		return 0, ledger.ErrNotFound
	}
	return lifecycle.Released, nil
}
func (f *fakeOperations) Cancel(_ context.Context, id string, _ admin.By) error {
	if id == "held" {
		return lifecycle.ErrNotPaid
	}
	return nil
}
func (f *fakeOperations) Inbox(_ context.Context, _ string, each func(admin.InboxItem) error) error {
	return each(admin.InboxItem{ID: "i", Reason: "payment_unattached"})
}
func (f *fakeOperations) Redrive(_ context.Context, most int, _ admin.By) (int, error) {
	return most, nil
}
func (f *fakeOperations) Status(context.Context, string) (any, error) {
	return map[string]int{"held": 3}, nil
}
func (f *fakeOperations) Drift(context.Context, string) (any, error) {
	return nil, errors.New("the primary does not answer")
}
func (f *fakeOperations) Audit(context.Context, string) (any, error) {
	return map[string]bool{"clean": true}, nil
}

func (w *world) operate(method, path, body string, headers ...string) answer {
	w.Helper()
	return w.send(w.in.Operator(), method, path, body, append([]string{"Authorization", "Bearer " + operatorToken}, headers...)...)
}

func TestOperatorsNeedTheirToken(t *testing.T) {
	w := newWorld(t, withOperations)
	for _, route := range w.in.OperatorRoutes() {
		method, path, _ := strings.Cut(route, " ")
		path = strings.NewReplacer(":sale", "spring", ":level", "N1", ":id", "x").Replace(path)
		if !strings.HasPrefix(path, "/admin/") {
			continue
		}
		for _, auth := range []string{"", "Bearer ", "Bearer wrong", operatorToken, "Basic " + operatorToken} {
			a := w.send(w.in.Operator(), method, path, "", "Authorization", auth)
			w.wants(a, 401, "unauthorized")
		}
	}
	w.wants(w.operate("POST", "/admin/sales/spring/open", "", "Sec-Fetch-Site", "cross-site"), 403, "cross_origin")
	w.wants(w.operate("POST", "/admin/sales/spring/open", "", "Origin", "https://elsewhere.example"), 403, "cross_origin")
}

func TestOperatorsActs(t *testing.T) {
	ops := &fakeOperations{}
	w := newWorld(t, func(o *ingress.Options) { o.Operations, o.OperatorToken = ops, operatorToken })
	for _, c := range []struct {
		method, path, body string
		status             int
		code               string
	}{
		{"GET", "/admin/sales", "", 200, ""},
		{"GET", "/admin/sales/spring/status", "", 200, ""},
		{"GET", "/admin/sales/spring/audit", "", 200, ""},
		{"GET", "/admin/sales/spring/drift", "", 503, "unavailable"},
		{"GET", "/admin/sales/a%20b/status", "", 404, "not_found"},
		{"GET", "/admin/sales/spring/inbox", "", 200, ""},
		{"POST", "/admin/sales/spring/open", `{"reason":"doors"}`, 200, ""},
		{"POST", "/admin/sales/spring/close", `{"reason":"lunch"}`, 200, ""},
		{"POST", "/admin/sales/spring/close", "", 400, "reason_required"},
		{"POST", "/admin/sales/spring/close", `{"reason":" "}`, 400, "reason_required"},
		{"POST", "/admin/sales/spring/close", `{"why":1}`, 400, "invalid_request"},
		{"PUT", "/admin/sales/spring/levels/N1/cap", `{"cap":15,"reason":"more"}`, 200, ""},
		{"PUT", "/admin/sales/spring/levels/N1/cap", `{"cap":-1,"reason":"x"}`, 400, "invalid_request"},
		{"PUT", "/admin/sales/spring/levels/N1/cap", `{"reason":"x"}`, 400, "invalid_request"},
		{"PUT", "/admin/sales/spring/levels/N1/cap", `{"cap":3,"reason":"x"}`, 409, "cap_used"},
		{"PUT", "/admin/sales/spring/levels/N9/cap", `{"cap":30,"reason":"x"}`, 404, "unknown_level"},
		{"PUT", "/admin/sales/spring/cap", `{"cap":30,"reason":"x"}`, 200, ""},
		{"POST", "/admin/bookings/x/release", `{"reason":"x"}`, 200, ""},
		{"POST", "/admin/bookings/paid/release", `{"reason":"x"}`, 409, "already_paid"},
		{"POST", "/admin/bookings/paying/release", `{"reason":"x"}`, 409, "in_progress"},
		{"POST", "/admin/bookings/missing/release", `{"reason":"x"}`, 404, "not_found"},
		{"POST", "/admin/bookings/held/cancel", `{"reason":"x"}`, 409, "not_paid"},
		{"POST", "/admin/bookings/x/cancel", `{"reason":"x"}`, 200, ""},
		{"POST", "/admin/redrive", `{"most":5,"reason":"x"}`, 200, ""},
		{"POST", "/admin/redrive", `{"reason":"x"}`, 400, "invalid_request"},
	} {
		a := w.operate(c.method, c.path, c.body, "X-Operator", "rina")
		if a.status != c.status || a.text("code") != c.code {
			t.Errorf("%s %s %s: %d %s", c.method, c.path, c.body, a.status, a.raw)
		}
	}
	if got := strings.Join(ops.did, "; "); !strings.Contains(got, "open spring operator:rina doors") {
		t.Errorf("done: %s", got)
	}
	half := w.operate("PUT", "/admin/sales/spring/cap", `{"cap":99,"reason":"x"}`)
	if detail := half.text("detail"); half.status != 503 || !strings.Contains(detail, "not known whether it was done") || strings.Contains(detail, "Nothing was changed") {
		t.Errorf("done and not acknowledged: %s", half.raw)
	}
	refused := w.operate("PUT", "/admin/sales/spring/cap", `{"cap":3,"reason":"x"}`)
	if n, _ := refused.doc["numbers"].(map[string]any); n["used"] != float64(12) || n["cap"] != float64(20) {
		t.Errorf("case F11: %s", refused.raw)
	}
	if h := w.operate("GET", "/admin/sales/spring/holds", ""); len(h.doc["holds"].([]any)) != 1000 || h.doc["truncated"] != true {
		t.Error("the listing is not bounded")
	}
	w.wants(w.operate("POST", "/admin/sales/spring/open", "", "X-Operator", "a b"), 400, "invalid_request")
}

// TestEveryActSaysWhy walks the routes: whatever changes something is refused
// without a reason, and nothing is done.
func TestEveryActSaysWhy(t *testing.T) {
	ops := &fakeOperations{}
	w := newWorld(t, func(o *ingress.Options) { o.Operations, o.OperatorToken = ops, operatorToken })
	acts := 0
	for _, route := range w.in.OperatorRoutes() {
		method, path, _ := strings.Cut(route, " ")
		if method == "GET" || !strings.HasPrefix(path, "/admin/") {
			continue
		}
		acts++
		path = strings.NewReplacer(":sale", "spring", ":level", "N1", ":id", "x").Replace(path)
		w.wants(w.operate(method, path, `{"cap":20,"most":3}`), 400, "reason_required")
	}
	if acts < 7 || len(ops.did) != 0 {
		t.Errorf("%d acts; done: %q", acts, ops.did)
	}
}
