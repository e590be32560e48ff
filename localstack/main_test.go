package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/holdfast/holdfast/cli"
	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/sale"
)

// together is how many towns stand at once: they wait much more than they work.
const together = "3"

// TestMain lets the test binary stand in for the program: the town's processes
// are this very program, run as commands of the CLI.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "holdfast" {
		os.Exit(cli.Main(os.Args[2:], os.Getenv, os.Stdin, os.Stdout, os.Stderr))
	}
	flag.Parse()
	if err := flag.Set("test.parallel", together); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// newTown opens a town for as long as the test runs. Each has addresses, a Redis,
// a cloud and a folder of its own: they can stand side by side.
func newTown(t *testing.T, o townOptions) *town {
	t.Helper()
	o.public, o.operator = "127.0.0.1:0", "127.0.0.1:0"
	town, err := openTown(t.Context(), o, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := town.close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	return town
}

// TestRehearsal is the main job, small: real Redis with a replica, real
// processes, the queue and the table over HTTP, the gateway; and every check of
// the verdict. It runs once for each kind of gateway, the second time with named
// seats.
func TestRehearsal(t *testing.T) {
	t.Parallel()
	for name, more := range map[string][]string{
		"page":  {"--roster", "400"},
		"seats": {"--roster", "200", "--seats", "--gateway", "execute"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out := &logWriter{t: t}
			args := append([]string{"--rate", "100", "--hold", "6s"}, more...)
			if err := rehearse(t.Context(), args, out); err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(out.String(), "audit: every invariant") {
				t.Fatal("the verdict has no audit")
			}
			if name == "seats" && !strings.Contains(out.String(), "no seat was ever given twice") {
				t.Fatal("the verdict says nothing of seats")
			}
		})
	}
}

// TestKillEveryProcess books a seat, kills ingress, worker and reaper the hard
// way, pays, and finds the seat paid: nothing was in a process.
func TestKillEveryProcess(t *testing.T) {
	t.Parallel()
	town := newTown(t, townOptions{env: map[string]string{"HOLDFAST_SWEEP_EVERY": "1s"}})
	people, err := town.openDemo(t.Context(), &logWriter{t: t})
	if err != nil {
		t.Fatal(err)
	}
	person := people.Row(0)
	booked := town.retry(t, wish(t, person), "key of the page")
	if booked.State != "held" || booked.PaymentURL == "" {
		t.Fatalf("booked: %+v", booked)
	}
	for _, role := range []string{"serve", "work-1", "reap"} {
		kill(t, town, role)
	}
	if err := town.ready(t.Context(), time.Minute); err != nil {
		t.Fatal(err)
	}
	press(t, booked.PaymentURL)
	town.await(t, booked.BookingID, "paid")

	h, err := town.house(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := h.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	}()
	b, err := h.Store.Booking(t.Context(), booked.BookingID)
	if err != nil || b.State != ledger.Paid {
		t.Fatalf("the ledger says %+v, %v", b.State, err)
	}
	var report bytes.Buffer
	if err := town.holdfast(t.Context(), &report, "audit", demoSale); err != nil {
		t.Fatalf("audit: %v\n%s", err, report.String())
	}
}

type booking struct {
	BookingID  string `json:"booking_id"`
	State      string `json:"state"`
	PaymentURL string `json:"payment_url"`
}

// wish is what a person of the demo asks for.
func wish(tb testing.TB, p sale.Row) []byte {
	tb.Helper()
	body, err := json.Marshal(map[string]string{"code": string(p.Code), "email": string(p.Email), "level": levelsOf(p.Levels)[0]})
	if err != nil {
		tb.Fatal(err)
	}
	return body
}

// await waits until the public answer about a booking says state.
func (t *town) await(tb testing.TB, id, state string) {
	tb.Helper()
	deadline := time.After(60 * time.Second)
	var last booking
	for {
		resp, err := http.Get(t.public + "/bookings/" + id)
		if err == nil {
			if last = decode(tb, resp); last.State == state {
				return
			}
		}
		select {
		case <-time.After(100 * time.Millisecond):
		case <-deadline:
			tb.Fatalf("booking %s is %q, not %q; the end of the log:\n%s", id, last.State, state, t.logTail())
		}
	}
}

func press(tb testing.TB, payURL string) {
	tb.Helper()
	resp := must(http.PostForm(payURL, url.Values{"action": {"pay"}}))(tb)
	defer resp.Body.Close()
	if resp.StatusCode >= 400 {
		tb.Fatalf("the pay page answered %s", resp.Status)
	}
}

func kill(tb testing.TB, t *town, role string) {
	tb.Helper()
	pid := t.keeper.Pid(role)
	if pid == 0 {
		tb.Fatalf("%s is not running", role)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		tb.Fatal(err)
	}
	for deadline := time.After(time.Minute); ; {
		if now := t.keeper.Pid(role); now != 0 && now != pid {
			return
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-deadline:
			tb.Fatalf("%s was not started again", role)
		}
	}
}

func must(resp *http.Response, err error) func(testing.TB) *http.Response {
	return func(tb testing.TB) *http.Response {
		tb.Helper()
		if err != nil {
			tb.Fatal(err)
		}
		return resp
	}
}

func decode(tb testing.TB, resp *http.Response) booking {
	tb.Helper()
	defer resp.Body.Close()
	var b booking
	if err := json.NewDecoder(resp.Body).Decode(&b); err != nil {
		tb.Fatal(err)
	}
	return b
}

// logWriter shows what a command writes in the test's log, and keeps it.
type logWriter struct {
	t testing.TB
	bytes.Buffer
}

func (w *logWriter) Write(p []byte) (int, error) {
	w.t.Log(strings.TrimRight(string(p), "\n"))
	return w.Buffer.Write(p)
}
