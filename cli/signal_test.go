package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/holdfast/holdfast/config"
)

// childVariable makes this test binary a role: orderly ends at the first signal,
// stubborn hangs in its shutdown.
const childVariable = "HOLDFAST_CLI_TEST_CHILD"

func TestMain(m *testing.M) {
	if kind := os.Getenv(childVariable); kind != "" {
		os.Exit(child(kind))
	}
	os.Exit(m.Run())
}

func child(kind string) int {
	role := func(ctx context.Context) error {
		fmt.Println("running")
		<-ctx.Done()
		fmt.Println("stopping")
		if kind == "stubborn" {
			<-time.NewTimer(time.Hour).C // hangs, and is no deadlock to the runtime
		}
		return nil
	}
	open := func(context.Context, func(string) string, func(config.Config) *slog.Logger) (*house, error) {
		return &house{work: role, close: func(context.Context) error { fmt.Println("closed"); return nil }}, nil
	}
	a := &app{env: os.Getenv, stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, open: open}
	return a.main([]string{"work"})
}

// startChild starts the role and returns its lines.
func startChild(t *testing.T, kind string) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), childVariable+"="+kind)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	expect(t, lines, "running")
	return cmd, lines
}

func expect(t *testing.T, lines *bufio.Scanner, want string) {
	t.Helper()
	if !lines.Scan() || lines.Text() != want {
		t.Fatalf("the role says %q, want %q (%v)", lines.Text(), want, lines.Err())
	}
}

func send(t *testing.T, cmd *exec.Cmd, sig syscall.Signal) {
	t.Helper()
	if err := cmd.Process.Signal(sig); err != nil {
		t.Fatal(err)
	}
}

func TestTheFirstSignalEndsARoleInOrder(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		cmd, lines := startChild(t, "orderly")
		send(t, cmd, sig)
		expect(t, lines, "stopping")
		expect(t, lines, "closed")
		if err := cmd.Wait(); err != nil {
			t.Errorf("%v: %v", sig, err)
		}
	}
}

func TestTheSecondSignalKills(t *testing.T) {
	cmd, lines := startChild(t, "stubborn")
	send(t, cmd, syscall.SIGTERM)
	expect(t, lines, "stopping")
	// The second one counts from when the first was understood; it may have to
	// be sent again while the process gives signals back to the system.
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	again := time.NewTicker(5 * time.Millisecond)
	defer again.Stop()
	for {
		select {
		case err := <-done:
			var exit *exec.ExitError
			if !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGTERM {
				t.Errorf("ended with %v, want a kill by the signal", err)
			}
			return
		case <-again.C:
			if err := cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
				t.Fatal(err)
			}
		}
	}
}
