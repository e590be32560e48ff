package cli

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/config"
	"github.com/holdfast/holdfast/events"
	"github.com/holdfast/holdfast/events/fifo"
	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/lifecycle"
	"github.com/holdfast/holdfast/lifecycle/lifecycletest"
	"github.com/holdfast/holdfast/operator"
	"github.com/holdfast/holdfast/payment"
	"github.com/holdfast/holdfast/reaper"
	"github.com/holdfast/holdfast/report"
	"github.com/holdfast/holdfast/sale"
	"github.com/holdfast/holdfast/wiring"
)

// town is a house of fakes and a command line in front of it. Its clock stands
// still unless a test moves it, so what commands print is the same every time.
type town struct {
	*lifecycletest.World
	t       *testing.T
	desk    *operator.Desk
	dead    *dead
	stdin   string
	web     *http.Client
	env     map[string]string
	opened  int
	closed  int
	role    func(ctx context.Context) error
	openErr error
	close   error
	broken  bool // the audit finds something
}

func newTown(t *testing.T) *town {
	t.Helper()
	w := lifecycletest.New(t)
	hasher, err := sale.NewHasher([]byte(strings.Repeat("k", 32)))
	if err != nil {
		t.Fatal(err)
	}
	w.Control(func(c *ledger.Control) { // as an import would have left it
		c.RosterVersion, c.RosterSize, c.Epoch, c.ReplicationID = "r1", 9, 1, "repl-1"
	})
	var rows []ledger.RosterRow
	for n := range 9 {
		rows = append(rows, ledger.RosterRow{Candidate: fmt.Sprintf("c%d", n+1), EmailHash: lifecycletest.Email})
	}
	if err := w.Store.PutRoster(t.Context(), lifecycletest.Sale, rows); err != nil {
		t.Fatal(err)
	}
	x := &town{World: w, t: t, dead: &dead{}, env: map[string]string{"USER": "ann", "HOLDFAST_REASON": "as agreed"}}
	x.desk = &operator.Desk{
		Store: w.Store, Redis: w.Redis, Server: goodServer{}, Queue: goodQueue{}, Steps: w.Steps, Status: w, Gateways: payment.Gateways{"page": w.Page},
		Gateway: "page", Hasher: hasher, Now: w.Now, Log: slog.New(slog.DiscardHandler),
	}
	return x
}

func (x *town) open(context.Context, func(string) string, func(config.Config) *slog.Logger) (*house, error) {
	if x.openErr != nil {
		return nil, x.openErr
	}
	x.opened++
	heal := func() (*reaper.Reaper, error) {
		return reaper.New(reaper.Options{Steps: x.Steps, Redis: x.Redis, Health: goodServer{}, Queue: goodQueue{},
			Wait: func(ctx context.Context, d time.Duration) error { x.Advance(d); return ctx.Err() }})
	}
	return &house{
		report: func(ctx context.Context, saleID, by string) (report.Document, error) {
			d, err := report.Collect(ctx, x.Store, x.Store, saleID)
			d.MadeAt, d.MadeBy, d.Audit.OK = x.Now(), by, !x.broken
			return d, err
		},
		reportKey: func() (ed25519.PrivateKey, error) {
			if x.env["HOLDFAST_REPORT_KEY"] == "" {
				return nil, nil
			}
			return report.ReadKey(x.env["HOLDFAST_REPORT_KEY"])
		},
		healers: heal,
		purge: func() (*operator.Purge, error) {
			r, err := heal()
			return &operator.Purge{Desk: x.desk, Ledger: x.Store, Refill: wiring.Refill(r.Rebuilder)}, err
		},
		desk: x.desk, flight: &operator.Preflight{Desk: x.desk, Prover: around{}, Table: around{}, Door: around{}}, dead: x.dead, serve: x.role, work: x.role, reap: x.role,
		close: func(context.Context) error { x.closed++; return x.close },
	}, nil
}

// ran is what a command left behind.
type ran struct {
	code     int
	out, err string
}

func (x *town) run(args ...string) ran {
	x.t.Helper()
	return x.runIn(x.t.Context(), args...)
}

func (x *town) runIn(ctx context.Context, args ...string) ran {
	x.t.Helper()
	var out, errs bytes.Buffer
	a := &app{env: func(k string) string { return x.env[k] }, stdin: strings.NewReader(x.stdin), stdout: &out, stderr: &errs, open: x.open, now: x.Now, web: x.web}
	before := x.opened
	code := a.run(ctx, args)
	if x.opened != before && x.closed != x.opened {
		x.t.Errorf("%v: opened %d, closed %d", args, x.opened, x.closed)
	}
	return ran{code, out.String(), errs.String()}
}

// done wants exit code 0 and nothing on stderr, and returns the output.
func (x *town) done(args ...string) string {
	x.t.Helper()
	r := x.run(args...)
	if r.code != exitDone || r.err != "" {
		x.t.Fatalf("%v: exit code %d, stderr %q, stdout %q", args, r.code, r.err, r.out)
	}
	return r.out
}

// fails wants this exit code and returns stderr.
func (x *town) fails(code int, args ...string) string {
	x.t.Helper()
	r := x.run(args...)
	if r.code != code {
		x.t.Fatalf("%v: exit code %d, want %d; stderr %q, stdout %q", args, r.code, code, r.err, r.out)
	}
	return r.err
}

// file writes a file of the test's own and returns its path.
func (x *town) file(name, text string) string {
	x.t.Helper()
	path := filepath.Join(x.t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		x.t.Fatal(err)
	}
	return path
}

// held books and writes the booking to the ledger of the world's own sale.
func (x *town) held(candidate, level string) lifecycletest.Booked {
	x.t.Helper()
	k := x.Book(candidate, level, x.Page)
	x.apply(ledger.Hold(lifecycle.BookingFromHeld(k.Held), "worker", x.Now()))
	x.settle(k.ID)
	return k
}

func (x *town) paid(candidate, level string) lifecycletest.Booked {
	x.t.Helper()
	k := x.held(candidate, level)
	x.Page.Pay(k.PaymentID)
	b := x.Booking(k.ID)
	x.apply(ledger.Confirm(b, ledger.Capture{Key: k.Key, AmountMinor: b.Price.AmountMinor, Currency: b.Price.Currency, At: x.Now()}, "worker", x.Now()))
	x.settle(k.ID)
	return k
}

func (x *town) apply(t ledger.Transition, err error) {
	x.t.Helper()
	if err == nil {
		err = x.Store.Apply(x.t.Context(), t)
	}
	if err != nil {
		x.t.Fatal(err)
	}
}

func (x *town) settle(id string) {
	x.t.Helper()
	if err := x.Steps.Settle(x.t.Context(), x.Booking(id)); err != nil {
		x.t.Fatal(err)
	}
}

type goodServer struct{}

func (goodServer) Health(context.Context, string) (admission.Health, error) {
	return admission.Health{Role: "master", ReplicationID: "repl-1", EvictionPolicy: "noeviction", ConnectedReplicas: 1, Version: "7.0.15"}, nil
}
func (goodServer) CheckServer(context.Context, string) error { return nil }

// around is the deployment beside the desk, in which everything is right.
type around struct{}

func (around) Prove(context.Context, string) (time.Duration, error) { return time.Millisecond, nil }
func (around) Knock(context.Context, string) error                  { return nil }
func (around) Inspect(context.Context) (operator.TableState, error) {
	return operator.TableState{Active: true, Recoverable: true}, nil
}

type goodQueue struct{}

func (goodQueue) Depth(context.Context) (events.Depth, error) { return events.Depth{}, nil }

// dead is a dead letter queue.
type dead struct {
	letters []fifo.DeadLetter
	task    string
	limit   int
	err     error
}

func (d *dead) DeadLetters(_ context.Context, limit int) ([]fifo.DeadLetter, error) {
	return d.letters[:min(limit, len(d.letters))], d.err
}

func (d *dead) Redrive(_ context.Context, limit int, progress func(int)) (fifo.Redriven, error) {
	d.limit = limit
	progress(len(d.letters))
	return fifo.Redriven{Moved: len(d.letters), Task: d.task}, d.err
}

var update = flag.Bool("update", false, "write the golden files, and fail so that nobody takes that for a pass")

// golden compares text with a file. Only -update writes it, and then the test
// fails: a golden that writes itself proves nothing.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
		t.Errorf("%s is written: look at the difference, then run without -update", path)
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}

// stable takes out of a text what depends on the machine.
func stable(text string) string {
	return regexp.MustCompile(`/\S*/(\w+\.\w+)`).ReplaceAllString(text, "$1")
}

var errDown = errors.New("no route to host")
