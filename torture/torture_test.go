package main

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/cli"
	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/load"
	"github.com/holdfast/holdfast/localstack/fault"
)

// TestMain lets the test binary stand in for the program: the town's processes
// are this very program, run as commands of the CLI.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "holdfast" {
		os.Exit(cli.Main(os.Args[2:], os.Getenv, os.Stdin, os.Stdout, os.Stderr))
	}
	goredis.SetLogger(mute{})
	os.Exit(m.Run())
}

// TestTorture is the torture, small: some seconds of blows, then the verdict.
// And the verdict is shown to be able to fail: a sold seat is given away behind
// the ledger's back.
func TestTorture(t *testing.T) {
	p := plan{duration: 10 * time.Second, rate: 25, seed: 1, report: t.TempDir(), then: giveAway(t)}
	r, err := torture(t.Context(), p, &logWriter{t})
	if err != nil {
		t.Fatal(err)
	}
	if r.Failovers == 0 {
		t.Fatalf("%d blows without a failover: nothing was tortured", len(r.Blows))
	}
	// A machine that is slow enough needs all the time to come over the first one.
	if b := r.Blows[0]; len(r.Blows) == 1 && b.Over-b.At < p.duration/2 {
		t.Errorf("one blow of %v in %v", b.Over-b.At, p.duration)
	}
	if len(r.Faults) == 0 {
		t.Error("no call to queue or table had a fault")
	}
	wellFormed(t, filepath.Join(p.report, "timeline.svg"))
}

// TestRoughWeatherHasEveryFault: so many calls as a minute makes meet each kind.
func TestRoughWeatherHasEveryFault(t *testing.T) {
	w := newWeather(1)
	ask := func() {
		for range 2000 {
			w.Decide(fault.Point{Op: "SendMessage"})
		}
	}
	ask()
	if fired, _ := w.counts(); len(fired) > 0 {
		t.Errorf("in calm weather: %v", fired)
	}
	w.set(rough)
	ask()
	fired, lost := w.counts()
	for _, c := range chances {
		if fired[c.V.Kind.String()] == 0 {
			t.Errorf("no call had the fault %q", c.V.Kind)
		}
	}
	if lost == 0 || lost != fired[fault.LoseAnswer.String()] {
		t.Errorf("%d sends with a lost answer, of %v", lost, fired)
	}
}

func giveAway(t *testing.T) func(context.Context, *watch, report) error {
	return func(ctx context.Context, w *watch, r report) error {
		reaper := w.town.keeper.Pid("reap-1") // it would heal what the audit has to see
		if err := syscall.Kill(reaper, syscall.SIGSTOP); err != nil {
			return err
		}
		defer func() { _ = syscall.Kill(reaper, syscall.SIGCONT) }() // it ends with the town
		var sold ledger.Booking
		err := w.house.Store.Scan(ctx, saleID, ledger.Visitor{Booking: func(b ledger.Booking) error {
			if b.State == ledger.Paid {
				sold = b
			}
			return nil
		}})
		if err != nil {
			return err
		}
		undo := admission.Undo{Sale: saleID, BookingID: sold.ID, Candidate: sold.Candidate, Level: sold.Level, Mode: admission.UndoRelease}
		if a, err := w.house.Redis.Undo(ctx, undo); err != nil || a.Outcome != admission.Undone {
			return fmt.Errorf("the sold seat of %s was not given away: %v, %w", sold.ID, a.Outcome, err)
		}
		checks, audit, err := w.judge(ctx, r.Result)
		if err != nil {
			return err
		}
		if load.Passed(checks) || len(audit.Violations) == 0 {
			t.Errorf("a sold seat was given away and the verdict is %+v", checks)
		}
		return nil
	}
}

func wellFormed(t *testing.T, path string) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for d := xml.NewDecoder(f); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

type logWriter struct{ t *testing.T }

func (w *logWriter) Write(p []byte) (int, error) {
	w.t.Log(strings.TrimRight(string(p), "\n"))
	return len(p), nil
}
