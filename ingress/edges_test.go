package ingress_test

import (
	"bytes"
	"io"
	"log"
	"log/slog"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast/holdfast/admission/admissiontest"
)

// Everything that is refused is a problem document, whatever refuses it.
func TestEveryRefusalIsAProblem(t *testing.T) {
	w := newWorld(t, withOperations)
	for _, c := range []struct {
		method, path string
		status       int
		code         string
	}{
		{"GET", "/", 404, "not_found"}, {"GET", "/sales/none", 404, "not_found"}, {"GET", "/sales/%2e%2e/", 404, "not_found"},
		{"GET", "/sales/spring%2Fbookings", 404, "not_found"}, {"GET", "/sales/%00", 404, "not_found"}, {"GET", "//sales/spring", 404, "not_found"},
		{"POST", "/sales/none/bookings", 404, "not_found"}, {"POST", "/sales/spring/bookings/", 404, "not_found"},
		{"GET", "/assets/none.js", 404, "not_found"}, {"GET", "/assets/sale.html", 404, "not_found"}, {"GET", "/assets/%2e%2e%2fweb.go", 404, "not_found"},
		{"POST", "/webhooks/none", 404, "not_found"}, {"GET", "/bookings/" + strings.Repeat("A", 5000), 404, "not_found"},
		{"GET", "/sales/spring/bookings", 405, "method_not_allowed"}, {"PUT", "/sales/spring/bookings", 405, "method_not_allowed"},
		{"HEAD", "/sales/spring/bookings", 405, "method_not_allowed"}, {"TRACE", "/sales/spring", 405, "method_not_allowed"},
		{"POST", "/openapi.json", 405, "method_not_allowed"},
	} {
		a := w.do(c.method, c.path, "")
		w.wants(a, c.status, c.code)
		if a.header.Get("X-Content-Type-Options") != "nosniff" || a.header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s %s: headers %v", c.method, c.path, a.header)
		}
	}
}

// Monitors and link previews ask for HEAD.
func TestHeadOfPages(t *testing.T) {
	w := newWorld(t)
	public, _, stop, ended := w.serve()
	for _, path := range []string{"/sales/spring", "/sales/spring/status.json", "/openapi.json", "/assets/style.css"} {
		r, err := client.Head(public + path)
		if err != nil {
			t.Fatal(err)
		}
		_ = r.Body.Close()
		if r.StatusCode != 200 || r.Header.Get("Content-Type") == "" {
			t.Errorf("HEAD %s: %d %v", path, r.StatusCode, r.Header)
		}
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// Those who were refused together are told different times.
func TestRetryAfterIsSpread(t *testing.T) {
	w := newWorld(t)
	w.redis.Fault = func(string) admissiontest.Fault { return admissiontest.ShortWait }
	told := map[string]int{}
	for i := range 40 {
		told[w.book(wish(i, "N1"), 503, "unavailable").header.Get("Retry-After")]++
	}
	for _, s := range []string{"2", "3", "4"} {
		if told[s] == 0 {
			t.Errorf("nobody is told %s s: %v", s, told)
		}
	}
	if len(told) != 3 {
		t.Errorf("told %v", told)
	}
}

// The trap is seen however often a form has the field.
func TestHoneypotInAForm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		for _, form := range []string{"website=x", "website=&website=x", "website=x&website=", "website=&website=&website=+", "code=a&website=%00"} {
			w.book(form, 201, "", "Content-Type", "application/x-www-form-urlencoded")
		}
		if w.redis.Calls("Admit") != 0 {
			t.Error("a decoy was admitted")
		}
	})
}

// The first decoy of a process, before it has seen any payment of the gateway,
// points to the gateway like all later ones.
func TestFirstDecoyPointsToTheGateway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		first, second := w.book(trap, 201, ""), w.book(trap, 201, "")
		real := w.book(wish(2, "N1"), 201, "")
		sameShape(t, real, first)
		if first.text("payment_url") == second.text("payment_url") || first.text("booking_id") == second.text("booking_id") {
			t.Error("decoys repeat themselves")
		}
	})
}

// A hit leaves no line anywhere: not in our logger at any level, not in the
// process's own, not from net/http, also if its client breaks off.
func TestHoneypotIsSilentEverywhere(t *testing.T) {
	var all syncBuffer
	old, oldSlog := log.Writer(), slog.Default()
	log.SetOutput(&all)
	slog.SetDefault(slog.New(slog.NewJSONHandler(&all, &slog.HandlerOptions{Level: slog.LevelDebug - 10})))
	restore := redirectStd(t, &all)
	w := newWorld(t)
	w.in.ObserveSuccess("https://pay.example/pay/pay_abcdef", 20*time.Millisecond)
	public, _, stop, ended := w.serve()
	before := w.logs.String()
	for range 3 {
		r, err := client.Post(public+"/sales/spring/bookings", "application/json", strings.NewReader(trap))
		if err != nil {
			t.Fatal(err)
		}
		_ = r.Body.Close()
		if r.StatusCode != http.StatusCreated {
			t.Errorf("status %d", r.StatusCode)
		}
	}
	hasty := &http.Client{Timeout: 5 * time.Millisecond, Transport: &http.Transport{DisableKeepAlives: true}}
	if r, err := hasty.Post(public+"/sales/spring/bookings", "application/json", strings.NewReader(trap)); err == nil {
		_ = r.Body.Close()
	}
	during := w.logs.String()
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	restore()
	log.SetOutput(old)
	slog.SetDefault(oldSlog)
	if during != before {
		t.Errorf("our logger says %s", strings.TrimPrefix(during, before))
	}
	if out := all.String(); out != "" {
		t.Errorf("the process says %s", out)
	}
}

// redirectStd catches what is written to stdout and stderr until restore is called.
func redirectStd(t *testing.T, to io.Writer) (restore func()) {
	t.Helper()
	r, wr, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	out, errOut := os.Stdout, os.Stderr
	os.Stdout, os.Stderr = wr, wr
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = io.Copy(to, r)
	}()
	return func() {
		os.Stdout, os.Stderr = out, errOut
		_ = wr.Close()
		<-done
		_ = r.Close()
	}
}

// No log line of a webhook or a redirect holds what a stranger sent.
func TestStrangersWriteNothingIntoTheLog(t *testing.T) {
	w := newWorld(t)
	mark := "STRANGER-WAS-HERE"
	w.do("POST", "/webhooks/page", mark, "X-Sandbox-Signature", "t=1,v1="+mark)
	w.do("GET", "/payments/page/return?payment_id="+mark+"&booking="+mark+"&sale="+mark, "")
	w.do("GET", "/bookings/"+mark, "")
	w.do("POST", "/sales/spring/bookings", `{"`+mark+`":1,"code":"`+mark+`","email":"`+mark+`"}`, "Idempotency-Key", mark)
	w.do("GET", "/sales/"+mark, "", "X-Forwarded-For", mark, "User-Agent", mark)
	if bytes.Contains([]byte(w.logs.String()), []byte(mark)) {
		t.Errorf("%s", w.logs.String())
	}
}

// An operator's reason is kept and printed: it can't hold what moves a cursor.
func TestOperatorsReasonIsText(t *testing.T) {
	w := newWorld(t, withOperations)
	for _, reason := range []string{`\u001b[2J`, `a\nb`, strings.Repeat("x", 501)} {
		a := w.send(w.in.Operator(), "POST", "/admin/sales/spring/close", `{"reason":"`+reason+`"}`, "Authorization", "bearer "+operatorToken)
		w.wants(a, 400, "invalid_request")
	}
	if a := w.send(w.in.Operator(), "POST", "/admin/sales/spring/close", `{"reason":"rain"}`, "Authorization", "bearer "+operatorToken); a.status != 200 {
		t.Errorf("%d %s", a.status, a.raw)
	}
}

// What can be no booking is none; it gets neither to the ledger nor to a script.
func TestOperatorsActOnBookingsOnly(t *testing.T) {
	w := newWorld(t, withOperations)
	for _, id := range []string{"B%23x", "%00", "a%7Cb", strings.Repeat("A", 3000)} {
		for _, act := range []string{"release", "cancel"} {
			w.wants(w.operate("POST", "/admin/bookings/"+id+"/"+act, `{"reason":"x"}`), 404, "not_found")
		}
	}
}

// A stranger can't tell from a refusal whether somebody has a booking: with a
// wrong e-mail a booked code and an unbooked one answer alike, to the byte.
func TestWrongEmailTellsNothing(t *testing.T) {
	w := newWorld(t)
	w.book(wish(1, "N1"), 201, "")
	wrong := strings.NewReplacer("person.1@", "other@", "person.2@", "other@")
	booked := w.book(wrong.Replace(wish(1, "N1")), 400, "email_mismatch", "Idempotency-Key", "k")
	free := w.book(wrong.Replace(wish(2, "N1")), 400, "email_mismatch", "Idempotency-Key", "k")
	if !bytes.Equal(booked.raw, free.raw) || len(booked.header) != len(free.header) {
		t.Errorf("%s\n%s", booked.raw, free.raw)
	}
	if regexp.MustCompile(`booking_id|hold_until|payment`).Match(booked.raw) {
		t.Errorf("%s", booked.raw)
	}
	for _, op := range []string{"Stash", "Record"} {
		if n := w.redis.Calls(op); n != 0 {
			t.Errorf("%d calls of %s: the time tells", n, op)
		}
	}
}
