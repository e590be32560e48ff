// Command soak runs every proof for as long as it is told, in proportion, and says
// how many passed:
//
//	go run ./torture/soak -duration 30m -seed 1 -report soak-report
//
// A long soak is several rounds, each with other seeds. The output of each proof
// is a file of the report. The exit code is 0 only if all passed.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"
)

func main() {
	duration := flag.Duration("duration", 30*time.Minute, "how long, over all proofs")
	seed := flag.Int("seed", 1, "of the first round")
	report := flag.String("report", "soak-report", "folder for the output of each proof")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	fuzzers, err := countFuzzers(".")
	if err != nil {
		fmt.Fprintln(os.Stderr, "soak:", err)
		os.Exit(1)
	}
	failed, err := soak(ctx, *report, plan(*duration, *seed, fuzzers), os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "soak:", err)
	}
	if err != nil || failed > 0 {
		os.Exit(1)
	}
}

// soak runs the proofs one after the other: each wants the machine for itself.
func soak(ctx context.Context, folder string, proofs []proof, out io.Writer) (failed int, err error) {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return 0, err
	}
	passed := 0
	for _, p := range proofs {
		if ctx.Err() != nil {
			break
		}
		log := filepath.Join(folder, p.name+".log")
		began := time.Now()
		if err := p.run(ctx, log); err != nil {
			failed++
			fmt.Fprintf(out, "FAIL  %-14s %8s  %v: see %s\n", p.name, time.Since(began).Round(time.Second), err, log)
			continue
		}
		passed++
		fmt.Fprintf(out, "ok    %-14s %8s\n", p.name, time.Since(began).Round(time.Second))
	}
	fmt.Fprintf(out, "%d passed, %d failed\n", passed, failed)
	return failed, ctx.Err()
}

// patience bounds a proof that hangs: building and coming to rest take their time
// too, whatever the proof's own share is.
const patience = 15 * time.Minute

// run runs the command with its output in a file. An interrupt reaches the whole
// process group from the terminal; the command has time to take its own down.
func (p proof) run(ctx context.Context, log string) error {
	f, err := os.Create(log)
	if err != nil {
		return err
	}
	defer f.Close()
	ctx, cancel := context.WithTimeout(ctx, 3*p.share+patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, p.command[0], p.command[1:]...)
	cmd.Env = append(os.Environ(), p.env...)
	cmd.Stdout, cmd.Stderr = f, f
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 30 * time.Second
	return cmd.Run()
}
