package ingress_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/holdfast/holdfast/admission/admissiontest"
	"github.com/holdfast/holdfast/ledger/ledgertest"
	"github.com/holdfast/holdfast/payment/sandbox/engine"
)

func TestBookingOverHTTP(t *testing.T) {
	w := newWorld(t)
	a := w.book(wish(1, "N1"), 201, "", "Idempotency-Key", "k1")
	for _, field := range []string{"booking_id", "state", "level", "seats", "payment_url", "hold_until", "now"} {
		if a.doc[field] == nil {
			t.Errorf("no %s in %s", field, a.raw)
		}
	}
	if a.text("state") != "held" || !strings.HasPrefix(a.text("payment_url"), payHost) || a.header.Get("Cache-Control") != "no-store" {
		t.Errorf("%s %v", a.raw, a.header)
	}
	again := w.book(wish(1, "N1"), 200, "", "Idempotency-Key", "k1")
	if again.text("booking_id") != a.text("booking_id") || again.text("payment_url") != a.text("payment_url") {
		t.Errorf("%s", again.raw)
	}
	w.book(wish(1, "N2"), 422, "idempotency_mismatch", "Idempotency-Key", "k1")
	dup := w.book(wish(1, "N2"), 409, "duplicate", "Idempotency-Key", "k2")
	if dup.text("payment_url") != a.text("payment_url") || dup.text("hold_until") != a.text("hold_until") || dup.text("level") != "N1" {
		t.Errorf("case B06: %s", dup.raw)
	}
	if reads := w.store.Calls()["Booking"] + w.store.Calls()["CandidateBooking"]; reads != 0 {
		t.Errorf("%d ledger reads", reads)
	}
}

// The form of a page without scripts books like JSON.
func TestBookingByForm(t *testing.T) {
	w := newWorld(t)
	form := "code=code-0001&email=person.1%40example.org&level=N1&seats=2&website="
	a := w.book(form, 201, "", "Content-Type", "application/x-www-form-urlencoded; charset=utf-8")
	if n := len(a.doc["seats"].([]any)); n != 2 {
		t.Errorf("%d seats", n)
	}
	w.book(wish(1, "N1"), 409, "duplicate")
}

// The amount is the price times the seats.
func TestAmountIsPriceTimesSeats(t *testing.T) {
	w := newWorld(t)
	w.book(strings.Replace(wish(1, "N1"), `"website":""`, `"seats":2`, 1), 201, "")
	if p := w.pay.Payments(); len(p) != 1 || p[0].AmountMinor != 300_000 || p[0].Currency != "BDT" {
		t.Errorf("payments %+v", p)
	}
}

func TestInvalidRequestsAreRefusedAndWriteNothing(t *testing.T) {
	good := wish(1, "N1")
	for name, c := range map[string]struct{ body, kind, field string }{
		"empty":             {"", "", "body"},
		"no object":         {`[]`, "", "body"},
		"cut off":           {good[:20], "", "body"},
		"two objects":       {good + good, "", "body"},
		"NaN":               {`{"code":NaN}`, "", "body"},
		"seats NaN":         {strings.Replace(good, `"website":""`, `"seats":NaN`, 1), "", "body"},
		"4 KiB":             {`{"code":"` + strings.Repeat("A", 4096) + `"}`, "", "body"},
		"unknown level":     {strings.Replace(good, `"N1"`, `"N9"`, 1), "", "level"},
		"level of a number": {strings.Replace(good, `"N1"`, `1`, 1), "", "level"},
		"no code":           {`{"email":"a@example.org","level":"N1"}`, "", "code"},
		"code is null":      {strings.Replace(good, `"CODE-0001"`, `null`, 1), "", "code"},
		"code with control": {strings.Replace(good, `CODE-0001`, `CODE\u0000-0001`, 1), "", "code"},
		"trailing tab":      {strings.Replace(good, `CODE-0001`, `CODE-0001\t`, 1), "", "code"},
		"e-mail with CR":    {strings.Replace(good, `person.1@example.org`, `person.1@example.org\r\n`, 1), "", "email"},
		"raw control":       {strings.Replace(good, `CODE-0001`, "CODE\x01-0001", 1), "", "body"},
		"not UTF-8":         {strings.Replace(good, `CODE-0001`, "CODE\xff0001", 1), "", "body"},
		"half a pair":       {strings.Replace(good, `CODE-0001`, `CODE\ud800`, 1), "", "code"},
		"e-mail":            {strings.Replace(good, `person.1@example.org`, `nobody`, 1), "", "email"},
		"code twice":        {`{"code":"CODE-0002",` + good[1:], "", "code"},
		"unknown field":     {`{"admin":true,` + good[1:], "", "admin"},
		"seats 0":           {strings.Replace(good, `"website":""`, `"seats":0`, 1), "", "seats"},
		"seats -1":          {strings.Replace(good, `"website":""`, `"seats":-1`, 1), "", "seats"},
		"seats 3 of 2":      {strings.Replace(good, `"website":""`, `"seats":3`, 1), "", "seats"},
		"seats 1.5":         {strings.Replace(good, `"website":""`, `"seats":1.5`, 1), "", "seats"},
		"seats 1e99":        {strings.Replace(good, `"website":""`, `"seats":1e99`, 1), "", "seats"},
		"seats huge":        {strings.Replace(good, `"website":""`, `"seats":99999999999999999999`, 1), "", "seats"},
		"seats text":        {strings.Replace(good, `"website":""`, `"seats":"1"`, 1), "", "seats"},
		"seats of a list":   {strings.Replace(good, `"website":""`, `"seats":["N1-1"]`, 1), "", "seats"},
		"deep":              {`{"x":` + strings.Repeat("[", 1000) + strings.Repeat("]", 1000) + `}`, "", "body"},
		"content type":      {good, "text/plain", "body"},
		"bad content type":  {good, ";;;", "body"},
		"form":              {"code=%zz", "application/x-www-form-urlencoded", "body"},
		"form twice":        {"code=a&code=b", "application/x-www-form-urlencoded", "code"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			before := fmt.Sprint(w.store.Calls())
			a := w.book(c.body, 400, "invalid_request", "Content-Type", c.kind)
			if !strings.Contains(string(a.raw), `"field":"`+c.field+`"`) {
				t.Errorf("field %s is not named: %s", c.field, a.raw)
			}
			if w.redis.Calls("Admit") != 0 || len(w.events()) != 0 || len(w.pay.Payments()) != 0 || fmt.Sprint(w.store.Calls()) != before {
				t.Error("something was asked or written")
			}
		})
	}
}

func TestIdempotencyKeyIsChecked(t *testing.T) {
	w := newWorld(t)
	for _, key := range []string{"", strings.Repeat("k", 256), "k\x01", "ключ"} {
		w.book(wish(1, "N1"), 400, "invalid_request", "Idempotency-Key", key)
	}
	w.book(wish(1, "N1"), 400, "invalid_request", "Idempotency-Key", "a", "Idempotency-Key", "b")
}

func TestRefusalsHaveTheirCodes(t *testing.T) {
	w := newWorld(t)
	w.book(strings.Replace(wish(1, "N1"), "CODE-0001", "CODE-9999", 1), 400, "invalid_code")
	w.book(strings.Replace(wish(1, "N1"), "person.1@", "person.2@", 1), 400, "email_mismatch")
	w.book(wish(1, "N2"), 201, "")
	w.book(wish(2, "N2"), 409, "level_full")
	w.wants(w.do("POST", "/sales/nothing/bookings", wish(1, "N1")), 404, "not_found")
	w.wants(w.do("POST", "/sales/a%2Fb/bookings", wish(1, "N1")), 404, "not_found")
	w.wants(w.do("PUT", "/sales/spring/bookings", wish(1, "N1")), 405, "method_not_allowed")
}

func TestGatewayFailureIs503(t *testing.T) {
	w := newWorld(t)
	if err := w.pay.SetFaults("page", engine.Faults{RefuseCreate: engine.Always}); err != nil {
		t.Fatal(err)
	}
	a := w.book(wish(1, "N1"), 503, "payment_unavailable")
	if s, err := strconv.Atoi(a.header.Get("Retry-After")); err != nil || s < 1 || w.used() != 0 {
		t.Errorf("Retry-After %q, %d used", a.header.Get("Retry-After"), w.used())
	}
}

func TestShortAcknowledgementIs503AndUnready(t *testing.T) {
	w := newWorld(t)
	w.wants(w.send(w.in.Operator(), "GET", "/readyz", ""), 200, "")
	w.redis.Fault = func(op string) admissiontest.Fault {
		if op == "Admit" {
			return admissiontest.ShortWait
		}
		return admissiontest.NoFault
	}
	a := w.book(wish(1, "N1"), 503, "unavailable")
	if a.header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
	w.advance(2 * time.Second)
	w.wants(w.send(w.in.Operator(), "GET", "/readyz", ""), 503, "")
	w.advance(11 * time.Second)
	w.refresh()
	w.wants(w.send(w.in.Operator(), "GET", "/readyz", ""), 200, "")
}

// 1,000 duplicates and 10,000 unknown codes reach no ledger.
func TestCrowdsNeverReachTheLedger(t *testing.T) {
	w := newWorld(t)
	w.book(wish(1, "N1"), 201, "")
	before := fmt.Sprint(w.store.Calls())
	for i := range 1000 {
		w.book(wish(1, "N1"), 409, "duplicate", "Idempotency-Key", fmt.Sprint("k", i))
	}
	for i := range 10_000 {
		w.book(strings.Replace(wish(1, "N1"), "CODE-0001", fmt.Sprintf("X%05d", i), 1), 400, "invalid_code")
	}
	if after := fmt.Sprint(w.store.Calls()); after != before {
		t.Errorf("ledger calls %s, before %s", after, before)
	}
}

// Without the ledger a booking is made all the same; only showing it waits.
func TestBookingNeedsNoLedger(t *testing.T) {
	w := newWorld(t)
	w.store.Fault = func(string) ledgertest.Fault { return ledgertest.FailBefore }
	a := w.book(wish(1, "N1"), 201, "")
	w.wants(w.do("GET", "/bookings/"+a.text("booking_id"), ""), 503, "unavailable")
	w.advance(time.Minute) // the plans can't be refreshed for so long
	w.wants(w.do("POST", "/sales/spring/bookings", wish(2, "N1")), 503, "unavailable")
}
