package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
)

// verdicts are by row, such as "S02 a group is blocked by its message in flight".
type verdicts map[string]verdict

// verdict is one of pass, fail, not run; why is the first line of the reason.
type verdict struct{ result, why string }

// column is a server and what came out.
type column struct {
	name string
	verdicts
}

// event is a line of go test -json.
type event struct {
	Action, Test, Output string
}

// judge runs the suite; sqs or dynamo may be empty.
func judge(ctx context.Context, sqs, dynamo string) (verdicts, error) {
	cmd := exec.CommandContext(ctx, "go", "test", "-json", "-count=1", "-timeout", "20m", "-tags", "compat", "-run", "^TestEndpoint$", "./localstack/compat")
	cmd.Env = append(os.Environ(), envSQS+"="+sqs, envDynamoDB+"="+dynamo)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("run the suite, from the root of the module: %w", err)
	}
	v, err := read(out)
	var exit *exec.ExitError
	if e := cmd.Wait(); e != nil && !errors.As(e, &exit) {
		return nil, e // a failed row ends go test with 1, which is a finding
	}
	if err == nil && len(v) == 0 {
		err = fmt.Errorf("no row was judged: does the suite build?")
	}
	return v, err
}

func read(r io.Reader) (verdicts, error) {
	v, why := verdicts{}, map[string]string{}
	for lines := bufio.NewScanner(r); ; {
		if !lines.Scan() {
			return v, lines.Err()
		}
		var e event
		if json.Unmarshal(lines.Bytes(), &e) != nil {
			continue // the build's own lines
		}
		_, row, isRow := strings.Cut(e.Test, "/")
		if !isRow {
			continue
		}
		row = strings.ReplaceAll(row, "_", " ")
		switch e.Action {
		case "output":
			why[row] = firstReason(why[row], e.Output)
		case "pass", "fail":
			result := e.Action
			if strings.Contains(why[row], "NOT RUN") {
				result = "not run"
			}
			v[row] = verdict{result, why[row]}
		}
	}
}

// requestID is what the SDK says of every failed call, another one each time.
var requestID = regexp.MustCompile(`https response error StatusCode: \d+, RequestID: [^,]*, `)

// firstReason keeps the first line that a row printed of its own.
func firstReason(had, line string) string {
	line = strings.TrimSpace(line)
	if had != "" || line == "" || strings.HasPrefix(line, "=== ") || strings.HasPrefix(line, "--- ") {
		return had
	}
	if _, text, ok := strings.Cut(line, ".go:"); ok {
		_, line, _ = strings.Cut(text, ": ")
	}
	return requestID.ReplaceAllString(line, "")
}

// report writes the table, and under it every difference with its reason.
func report(w io.Writer, columns []column) {
	rows := map[string]bool{}
	fmt.Fprint(w, "| row |")
	for _, c := range columns {
		fmt.Fprintf(w, " %s |", c.name)
		for row := range c.verdicts {
			rows[row] = true
		}
	}
	fmt.Fprintf(w, "\n|---|%s\n", strings.Repeat("---|", len(columns)))
	sorted := slices.Sorted(maps.Keys(rows))
	for _, row := range sorted {
		fmt.Fprintf(w, "| %s |", row)
		for _, c := range columns {
			fmt.Fprintf(w, " %s |", orDash(c.verdicts[row].result))
		}
		fmt.Fprintln(w)
	}
	for _, c := range columns {
		fmt.Fprintf(w, "\n%s:\n", c.name)
		for _, row := range sorted {
			if v := c.verdicts[row]; v.result == "fail" {
				id, _, _ := strings.Cut(row, " ")
				fmt.Fprintf(w, "* %s: %s\n", id, v.why)
			}
		}
	}
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
