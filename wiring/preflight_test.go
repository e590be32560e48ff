package wiring_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	lambdaevents "github.com/aws/aws-lambda-go/events"
	goredis "github.com/redis/go-redis/v9"

	"github.com/holdfast/holdfast/events"
	"github.com/holdfast/holdfast/operator"
	"github.com/holdfast/holdfast/wiring"
)

// TestPreflightOnTheLocalCloud looks at a whole deployment through the real
// adapters, then takes parts away and wants their lines, and only theirs, to
// fail.
func TestPreflightOnTheLocalCloud(t *testing.T) {
	c, h := openTown(t)
	openSale(t, h, time.Minute)
	ingress := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/sales/"+saleID+"/status.json" {
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(ingress.Close)
	h.Config.PublicURL = ingress.URL
	for _, name := range []string{wiring.FunctionSweep, wiring.FunctionDiff} {
		act(t, func() error {
			_, err := function[sweep](t, h, name)(t.Context(), wiring.ScheduleInput{})
			return err
		})
	}
	work := function[worker](t, h, wiring.FunctionWorker)
	if _, err := work(t.Context(), lambdaevents.SQSEvent{}); err != nil {
		t.Fatal(err)
	}

	failing := func() string {
		t.Helper()
		checks, err := h.Preflight().Run(t.Context(), saleID, operator.Crowd{Rate: 100})
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, c := range checks {
			if c.Verdict == operator.Fail {
				names = append(names, c.Name)
				t.Logf("%s: %s", c.Name, c.Detail)
			}
		}
		return strings.Join(names, " ")
	}
	wantFailing := func(what, want string) {
		t.Helper()
		for deadline := time.Now().Add(time.Minute); ; {
			got := failing()
			if got == want {
				return
			}
			if time.Now().After(deadline) { // a replica that is slow for a moment is not what is meant
				t.Fatalf("%s: %q fail, want %q", what, got, want)
			}
		}
	}
	wantFailing("all is well", "")

	redis := goredis.NewClient(&goredis.Options{Addr: c.Redis.Primary.Addr()})
	defer redis.Close()
	policy := func(name string) {
		t.Helper()
		if err := redis.ConfigSet(t.Context(), "maxmemory-policy", name).Err(); err != nil {
			t.Fatal(err)
		}
	}
	policy("allkeys-lru")
	wantFailing("keys may be evicted", "redis")
	policy("noeviction")

	ingress.Close()
	wantFailing("nobody serves", "ingress")

	if err := h.Queue.Parker.Park(t.Context(), "{}", events.Meta{Group: "g"}, "a test"); err != nil {
		t.Fatal(err)
	}
	wantFailing("and a dead letter", "queue ingress")

	if err := c.Redis.Replica.Stop(); err != nil {
		t.Fatal(err)
	}
	wantFailing("and no replica", "redis replica queue ingress")
}
