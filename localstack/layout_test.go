package main

import (
	"bytes"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"
)

// TestAnotherBuildsSale gives the demo sale's keys in Redis the form that an older
// build kept them in, and starts every process anew: no seat is sold, no booking is
// touched, and whoever looks is told why. Money that comes meanwhile waits. After a
// rebuild all of it is as if nothing had been.
func TestAnotherBuildsSale(t *testing.T) {
	t.Parallel()
	town := newTown(t, townOptions{env: map[string]string{"HOLDFAST_SWEEP_EVERY": "1s"}})
	people, err := town.openDemo(t.Context(), &logWriter{t: t})
	if err != nil {
		t.Fatal(err)
	}
	paid, held := town.retry(t, wish(t, people.Row(0)), "one"), town.retry(t, wish(t, people.Row(1)), "another")
	press(t, paid.PaymentURL)
	town.await(t, paid.BookingID, "paid")

	town.former(t)
	for _, role := range []string{"serve", "work-1", "reap"} {
		kill(t, town, role)
	}
	if err := town.answers(t.Context(), town.operator+"/healthz", 30*time.Second); err != nil {
		t.Fatal(err)
	}
	late := wish(t, people.Row(2))
	if status, answer, err := town.post(late, "a key"); err != nil || status != http.StatusServiceUnavailable {
		t.Errorf("a booking was answered %d %s, %v", status, answer, err)
	}
	if said := body(town.operator + "/readyz"); !strings.Contains(said, "this build can't sell "+demoSale) {
		t.Errorf("readiness says %s", said)
	}
	town.refuses(t, "the form of another build", "audit", demoSale)
	town.refuses(t, "the form of another build", "preflight", demoSale)
	if said := town.says(t, "sale", "status", demoSale); !strings.Contains(said, "CLOSED to this build") {
		t.Errorf("the status says %s", said)
	}
	press(t, held.PaymentURL)
	await(t, "every process says why", func() bool {
		log, err := os.ReadFile(town.log.Name())
		return err == nil && bytes.Contains(log, []byte(`"kind":"frozen"`)) && bytes.Count(log, []byte("(no layout, this one has ")) > 3
	})

	if err := town.act(t.Context(), &logWriter{t: t}, "rebuild", demoSale, "--reason", "a build that keeps it in another form"); err != nil {
		t.Fatal(err)
	}
	town.await(t, held.BookingID, "paid")
	booked := town.retry(t, late, "a key")
	press(t, booked.PaymentURL)
	town.await(t, booked.BookingID, "paid")
	if err := town.ready(t.Context(), 30*time.Second); err != nil {
		t.Error(err)
	}
	t.Log(town.says(t, "audit", demoSale))
}

// refuses wants a command to fail with these words.
func (t *town) refuses(tb testing.TB, words string, args ...string) {
	tb.Helper()
	var out bytes.Buffer
	if err := t.holdfast(tb.Context(), &out, args...); err == nil || !strings.Contains(out.String(), words) {
		tb.Errorf("%v: %v\n%s", args, err, out.String())
	}
}

// former gives the demo sale's keys the form of layout 1 (admission/redis/layout.go).
func (t *town) former(tb testing.TB) {
	tb.Helper()
	c := goredis.NewClient(&goredis.Options{Addr: t.cloud.Redis.Primary.Addr()})
	defer c.Close()
	ctx, key := tb.Context(), func(name string) string { return "{" + demoSale + "}:adm:" + name }
	const form = `
for _, k in ipairs(redis.call('KEYS', ARGV[1] .. 'owner:*')) do redis.call('DEL', k) end
redis.call('HDEL', KEYS[1], 'layout')
local pending = redis.call('HGETALL', KEYS[2])
redis.call('DEL', KEYS[2])
for i = 1, #pending, 2 do
  local ch, level, t = string.match(pending[i + 1], '^%u|%d+|%d+|%d+|[^|]*|([^|]+)|([^|]+)|[^|]*|[^|]*|[^|]*|(%d+)|')
  redis.call('HSET', KEYS[2], ch, pending[i] .. '|' .. level .. '|' .. t)
  redis.call('HSET', KEYS[3], pending[i], pending[i + 1])
end
local bk = redis.call('HGETALL', KEYS[3])
for i = 1, #bk, 2 do
  for seat in string.gmatch(string.match(bk[i + 1], '|([^|]+)|[^|]+$'), '[^,]+') do redis.call('HSET', KEYS[4], seat, bk[i]) end
end
return #bk`
	if n, err := c.Eval(ctx, form, []string{key("cfg"), key("pending"), key("bk"), key("seat")}, key("")).Int(); err != nil || n == 0 {
		tb.Fatalf("%d, %v", n, err)
	}
}
