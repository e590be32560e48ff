package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// cpuTimes are ticks since the machine started: all work, ours, and all time.
type cpuTimes struct{ busy, own, all float64 }

// readCPU reads /proc; where there is none everything is 0.
func readCPU() (t cpuTimes) {
	stat, err := os.ReadFile("/proc/stat")
	if err != nil {
		return t
	}
	line, _, _ := strings.Cut(string(stat), "\n")
	for i, f := range strings.Fields(line)[1:] {
		n, _ := strconv.ParseFloat(f, 64)
		if i > 7 { // guest time is in user time already
			break
		}
		t.all += n
		if i != 3 && i != 4 { // idle, iowait
			t.busy += n
		}
	}
	t.own = familyTicks(os.Getpid())
	return t
}

// familyTicks sums the ticks of a process and all that descend from it, those
// that have ended and been waited for included.
func familyTicks(root int) (sum float64) {
	type process struct {
		parent int
		ticks  float64
	}
	all := map[int]process{}
	files, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			continue // it has ended
		}
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		f := strings.Fields(string(raw[strings.LastIndexByte(string(raw), ')')+1:]))
		if len(f) < 15 {
			continue
		}
		parent, _ := strconv.Atoi(f[1])
		p := process{parent: parent}
		for _, i := range []int{11, 12, 13, 14} { // user, system, and those of children waited for
			n, _ := strconv.ParseFloat(f[i], 64)
			p.ticks += n
		}
		all[pid] = p
	}
	for pid, p := range all {
		for up := pid; up > 1; up = all[up].parent {
			if up == root {
				sum += p.ticks
				break
			}
		}
	}
	return sum
}

// foreignShare is the part of the machine that processes which are not ours used
// between two readings; 0 where it can't be known.
func foreignShare(from, to cpuTimes) float64 {
	if to.all <= from.all {
		return 0
	}
	return max(0, (to.busy-from.busy-(to.own-from.own))/(to.all-from.all))
}
