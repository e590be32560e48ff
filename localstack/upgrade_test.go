package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/holdfast/holdfast/localstack/roles"
	"github.com/holdfast/holdfast/sale/roster/rostergen"
)

// TestRollingUpgrade replaces every process by one of the next build while
// people book and pay: other scripts, and events that the old worker does not
// know. Old and new run side by side, Redis forgets the scripts in between, and
// nothing is lost: whoever was told of a booking and paid has the seat, no event
// is dead, and every invariant holds.
func TestRollingUpgrade(t *testing.T) {
	t.Parallel()
	next := nextBuild(t)
	front := newBalancer(t)
	town := newTown(t, townOptions{front: front.URL, env: map[string]string{
		"HOLDFAST_SWEEP_EVERY": "1s", "HOLDFAST_DIFF_EVERY": "2s", "HOLDFAST_RATE_PER_CLIENT": "0",
	}})
	front.to(t, "http://"+town.env["HOLDFAST_LISTEN"])
	people, err := town.openDemo(t.Context(), io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if err := town.act(t.Context(), io.Discard, "sale", "caps", demoSale, "Beginner", "1900", "--reason", "a bigger hall"); err != nil {
		t.Fatal(err)
	}

	program := next()
	c := gather(t, town, people)
	began := time.Now()
	roll(t, town, front, c, program)
	t.Logf("every process was replaced within %v", time.Since(began).Round(time.Millisecond))
	booked := c.leave()
	for _, b := range booked {
		town.await(t, b.BookingID, "paid")
	}
	var report bytes.Buffer
	if err := town.holdfast(t.Context(), &report, "audit", demoSale); err != nil {
		t.Fatalf("audit: %v\n%s", err, report.String())
	}
	t.Logf("%d bookings through the upgrade; %s", len(booked), strings.TrimSpace(report.String()))
	if out := town.says(t, "sale", "totals", demoSale); !strings.Contains(out, fmt.Sprint(len(booked))) {
		t.Errorf("the ledger does not count %d bookings:\n%s", len(booked), out)
	}
	if out := town.says(t, "dlq", "list"); strings.Contains(out, demoSale) {
		t.Errorf("dead letters:\n%s", out)
	}
}

// roll is the upgrade as docs/aws.md has it, except that the old worker stays
// longer than it would: until it has given back an event that it does not know.
func roll(t *testing.T, town *town, front *balancer, c *crowd, next string) {
	t.Helper()
	old := town.observed(t, "work")
	c.await(t, 10)
	start := func(name, command string, env map[string]string) (operator string) {
		t.Helper()
		operator = roles.FreeAddress()
		all := map[string]string{"HOLDFAST_OPERATOR_LISTEN": operator}
		for k, v := range env {
			all[k] = v
		}
		r := town.role(name, all)
		r.Command = []string{next, command}
		town.keeper.Keep(context.WithoutCancel(t.Context()), r)
		if err := town.answers(t.Context(), "http://"+operator+"/readyz", 60*time.Second); err != nil {
			t.Fatal(err)
		}
		return operator
	}
	start("work-next", "work", nil)
	town.forgetScripts(t)

	listen := roles.FreeAddress()
	start("serve-next", "serve", map[string]string{"HOLDFAST_LISTEN": listen})
	front.to(t, "http://"+listen)
	town.end(t, "serve")
	c.await(t, 20)
	await(t, "the old worker gives back an event of the next build", func() bool {
		return strings.Contains(body(old+"/metrics"), `holdfast_events_handled_total{type="undecodable",verdict="retry"}`)
	})
	town.end(t, "work-1")
	town.forgetScripts(t)

	start("reap-next", "reap", nil)
	town.end(t, "reap")
	c.await(t, 10)
}

// observed is the operators' address of a role, as its log says it.
func (t *town) observed(tb testing.TB, role string) (base string) {
	tb.Helper()
	line := regexp.MustCompile(`"msg":"observable","operator_listen":"([^"]+)"`)
	await(tb, "the "+role+" is observable", func() bool {
		data, err := os.ReadFile(t.log.Name())
		if err != nil {
			return false
		}
		for _, m := range line.FindAllSubmatch(data, -1) {
			base = "http://" + string(m[1])
			if strings.Contains(body(base+"/metrics"), "holdfast_queue_polls_total") {
				return true // a reaper polls nothing
			}
		}
		return false
	})
	return base
}

// end ends a role for good and waits until it is gone.
func (t *town) end(tb testing.TB, role string) {
	tb.Helper()
	t.keeper.End(role)
	await(tb, role+" ends", func() bool { return t.keeper.Pid(role) == 0 })
}

// forgetScripts empties Redis's cache of scripts, as a failover does.
func (t *town) forgetScripts(tb testing.TB) {
	tb.Helper()
	c := goredis.NewClient(&goredis.Options{Addr: t.cloud.Redis.Primary.Addr()})
	defer c.Close()
	if err := c.ScriptFlush(tb.Context()).Err(); err != nil {
		tb.Fatal(err)
	}
}

func (t *town) says(tb testing.TB, args ...string) string {
	tb.Helper()
	var out bytes.Buffer
	if err := t.holdfast(tb.Context(), &out, args...); err != nil {
		tb.Fatalf("%v: %v\n%s", args, err, out.String())
	}
	return out.String()
}

func body(url string) string {
	resp, err := http.Get(url)
	if err != nil {
		return ""
	}
	defer resp.Body.Close()
	b, _ := io.ReadAll(resp.Body) // what came is what can be looked at
	return string(b)
}

func await(tb testing.TB, what string, done func() bool) {
	tb.Helper()
	for deadline := time.After(60 * time.Second); !done(); {
		select {
		case <-time.After(50 * time.Millisecond):
		case <-deadline:
			tb.Fatalf("it did not come to pass that %s", what)
		}
	}
}

// balancer stands before the ingresses as a load balancer does.
type balancer struct {
	*httptest.Server
	through http.RoundTripper // to the ingresses; nil: as always

	mu sync.Mutex
	at *target // nil: none is registered
}

// target is one ingress behind the balancer.
type target struct {
	*httputil.ReverseProxy
	busy sync.WaitGroup // requests on their way
}

func newBalancer(t *testing.T) *balancer {
	t.Helper()
	b := &balancer{}
	b.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b.mu.Lock()
		at := b.at
		if at != nil {
			at.busy.Add(1)
		}
		b.mu.Unlock()
		if at == nil {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		defer at.busy.Done()
		at.ServeHTTP(w, r)
	}))
	t.Cleanup(b.Close)
	return b
}

// to sends what comes from now on to base, and returns when nothing is under way
// to the target before it any more: that one may end.
func (b *balancer) to(t *testing.T, base string) {
	t.Helper()
	u, err := url.Parse(base)
	if err != nil {
		t.Fatal(err)
	}
	next := &target{ReverseProxy: &httputil.ReverseProxy{
		Transport:    b.through,
		Rewrite:      func(r *httputil.ProxyRequest) { r.SetURL(u) },
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) },
	}}
	b.mu.Lock()
	before := b.at
	b.at = next
	b.mu.Unlock()
	if before != nil {
		before.busy.Wait()
	}
}

// crowd books and pays, one after the other in a few lanes, until it leaves.
type crowd struct {
	stop context.CancelFunc
	done sync.WaitGroup

	mu     sync.Mutex
	booked []booking
}

// lanes is how many people book at once, each lane one every pace at most: there
// are people left for as long as the upgrade takes on a busy machine.
const (
	lanes = 2
	pace  = 100 * time.Millisecond
)

func gather(t *testing.T, town *town, people *rostergen.Roster) *crowd {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	c := &crowd{stop: stop}
	for lane := range lanes {
		c.done.Go(func() {
			tick := time.NewTicker(pace)
			defer tick.Stop()
			for n := lane; n < demoCandidates && ctx.Err() == nil; n += lanes {
				p := people.Row(n)
				if levelsOf(p.Levels)[0] != "Beginner" {
					continue
				}
				ask := fmt.Appendf(nil, `{"code":%q,"email":%q,"level":"Beginner"}`, p.Code, p.Email)
				b := town.retry(t, ask, fmt.Sprint("person ", n))
				press(t, b.PaymentURL)
				c.mu.Lock()
				c.booked = append(c.booked, b)
				c.mu.Unlock()
				select {
				case <-tick.C:
				case <-ctx.Done():
				}
			}
		})
	}
	t.Cleanup(func() { stop(); c.done.Wait() })
	return c
}

// await waits until so many more have booked.
func (c *crowd) await(t *testing.T, more int) {
	t.Helper()
	before := c.count()
	await(t, fmt.Sprint(more, " more people book"), func() bool { return c.count() >= before+more })
}

func (c *crowd) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.booked)
}

func (c *crowd) leave() []booking {
	c.stop()
	c.done.Wait()
	return c.booked
}
