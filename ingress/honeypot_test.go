package ingress_test

import (
	"context"
	"fmt"
	"regexp"
	"sort"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast/holdfast/admission/admissiontest"
	"github.com/holdfast/holdfast/events"
	"github.com/holdfast/holdfast/ingress"
	"github.com/holdfast/holdfast/payment/sandbox/engine"
)

const trap = `{"code":"CODE-0001","email":"person.1@example.org","level":"N1","website":"http://spam.example"}`

// Case H15: a hit looks like a success, and nothing else happens.
func TestHoneypotLooksLikeASuccess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		real := w.book(wish(2, "N1"), 201, "")
		calls, admits, sent, logged := fmt.Sprint(w.store.Calls()), w.redis.Calls("Admit"), len(w.events()), w.logs.String()
		for _, body := range []string{trap, `{"website":"x"}`, `{"website":["x"],"level":"N9","seats":"many","admin":1}`, `{"website":7}`,
			strings.Replace(trap, "CODE-0001", `\u0000`, 1)} {
			fake := w.book(body, 201, "")
			sameShape(t, real, fake)
			if fake.text("booking_id") == real.text("booking_id") || fake.text("payment_url") == real.text("payment_url") {
				t.Error("a decoy repeats somebody's booking")
			}
		}
		form := w.book("code=x&website=y", 201, "", "Content-Type", "application/x-www-form-urlencoded")
		sameShape(t, real, form)
		if w.redis.Calls("Admit") != admits || len(w.events()) != sent || fmt.Sprint(w.store.Calls()) != calls || w.used() != 1 || len(w.pay.Payments()) != 1 {
			t.Error("a decoy did something")
		}
		if w.logs.String() != logged {
			t.Errorf("a decoy is in the log: %s", strings.TrimPrefix(w.logs.String(), logged))
		}
	})
}

var digits = regexp.MustCompile(`[0-9]`)

// sameShape compares everything about two answers that is not random.
func sameShape(t *testing.T, real, fake answer) {
	t.Helper()
	if a, b := fmt.Sprint(headerNames(real)), fmt.Sprint(headerNames(fake)); a != b {
		t.Errorf("headers %s, a real one has %s", b, a)
	}
	if keys(real.doc) != keys(fake.doc) {
		t.Errorf("fields %s, a real one has %s", keys(fake.doc), keys(real.doc))
	}
	order := regexp.MustCompile(`"[a-z_]+":`)
	if a, b := fmt.Sprint(order.FindAllString(string(real.raw), -1)), fmt.Sprint(order.FindAllString(string(fake.raw), -1)); a != b {
		t.Errorf("fields in order %s, a real one %s", b, a)
	}
	for _, field := range []string{"booking_id", "payment_url"} {
		if len(real.text(field)) != len(fake.text(field)) {
			t.Errorf("%s %q, a real one %q", field, fake.text(field), real.text(field))
		}
	}
	for _, field := range []string{"hold_until", "now"} {
		if a, b := digits.ReplaceAllString(real.text(field), "9"), digits.ReplaceAllString(fake.text(field), "9"); a != b {
			t.Errorf("%s %q, a real one %q", field, fake.text(field), real.text(field))
		}
	}
	cut := strings.LastIndexAny(real.text("payment_url"), "_-/") + 1
	if !strings.HasPrefix(fake.text("payment_url"), real.text("payment_url")[:cut]) {
		t.Errorf("payment URL %q, a real one %q", fake.text("payment_url"), real.text("payment_url"))
	}
}

func headerNames(a answer) []string {
	var names []string
	for n := range a.header {
		names = append(names, n)
	}
	sort.Strings(names)
	return names
}

// A decoy takes as long as real bookings took lately.
func TestHoneypotTakesAsLongAsASuccess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, func(o *ingress.Options) { o.Now = time.Now })
		w.in.ObserveSuccess("https://pay.example/pay/pay_abcdef", 300*time.Millisecond)
		w.in.ObserveSuccess("https://pay.example/pay/pay_bcdefa", 700*time.Millisecond)
		took := map[time.Duration]int{}
		for range 40 {
			start := time.Now()
			w.book(trap, 201, "")
			took[time.Since(start)]++
		}
		if len(took) != 2 || took[300*time.Millisecond] == 0 || took[700*time.Millisecond] == 0 {
			t.Errorf("times %v", took)
		}
	})
}

// Whoever goes away frees what waits for him.
func TestHoneypotStopsWaitingForWhoHasGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, func(o *ingress.Options) { o.Now = time.Now })
		w.in.ObserveSuccess("https://pay.example/pay/pay_abcdef", time.Hour)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start := time.Now()
		w.sendWith(ctx, w.in.Public(), "POST", "/sales/spring/bookings", trap)
		if took := time.Since(start); took != time.Second {
			t.Errorf("took %v", took)
		}
	})
}

// Whatever fails, and however loudly: no log line holds what a candidate sent.
func TestLogsHoldNoSecrets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.publishErr = events.ErrAmbiguous
		w.redis.Fault = func(op string) admissiontest.Fault {
			if op == "Stash" {
				return admissiontest.FailBefore
			}
			return admissiontest.NoFault
		}
		w.book(wish(1, "N1"), 503, "unavailable", "Idempotency-Key", "secret-key-1") // not queued
		w.publishErr = nil
		w.book(wish(1, "N1"), 200, "", "Idempotency-Key", "secret-key-1") // sent again; no stash
		if err := w.pay.SetFaults("page", engine.Faults{RefuseCreate: engine.Always}); err != nil {
			t.Fatal(err)
		}
		w.book(wish(2, "N1"), 503, "payment_unavailable", "Idempotency-Key", "secret-key-2")
		w.redis.Fault = func(string) admissiontest.Fault { return admissiontest.FailBefore }
		w.book(wish(3, "N1"), 503, "unavailable", "Idempotency-Key", "secret-key-3")
		log := w.logs.String()
		if strings.Count(log, "\n") < 4 {
			t.Fatalf("the failures are not in the log:\n%s", log)
		}
		for _, secret := range []string{"CODE-000", "person.", "example.org", "secret-key", "pay_", hookSecret} {
			if strings.Contains(log, secret) {
				t.Errorf("the log holds %q:\n%s", secret, log)
			}
		}
	})
}
