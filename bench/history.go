package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// Report is one run, one line of the history.
type Report struct {
	At      string   `json:"at"` // RFC 3339, UTC
	CPU     string   `json:"cpu"`
	Cores   int      `json:"cores"`
	Go      string   `json:"go"`
	Rounds  int      `json:"rounds"`
	Results []Result `json:"results"`
	Races   []Race   `json:"races"`
	Checks  []Check  `json:"checks,omitempty"`
	Curves  []Curve  `json:"curves,omitempty"`
}

func newReport(rounds int) *Report {
	return &Report{At: time.Now().UTC().Format(time.RFC3339), CPU: cpuName(), Cores: runtime.NumCPU(), Go: runtime.Version(), Rounds: rounds}
}

// ok says that nothing failed, that no floor was missed and that our own race was fair.
func (r *Report) ok() bool {
	for _, c := range r.Results {
		if c.Verdict == "missed" || c.Verdict == "failed" {
			return false
		}
	}
	for _, c := range r.Races {
		if c.Name == "group commit" && c.Verdict != "held" {
			return false
		}
		if c.Name == "INCR-check-DECR" && c.Verdict == "held" { // the race has lost its teeth
			return false
		}
	}
	for _, c := range r.Checks {
		if c.Verdict != "held" {
			return false
		}
	}
	return true
}

// append adds the run to the history.
func (r *Report) append(path string) error {
	line, err := json.Marshal(r)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(f, "%s\n", line); err != nil {
		_ = f.Close() // the write's error says more
		return err
	}
	return f.Close()
}

func cpuName() string {
	raw, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return runtime.GOARCH
	}
	_, rest, _ := strings.Cut(string(raw), "model name")
	line, _, _ := strings.Cut(rest, "\n")
	if name := strings.Trim(line, "\t: "); name != "" {
		return name
	}
	return runtime.GOARCH
}
