package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/holdfast/holdfast/load"
)

// heapEvery is how often each process is asked for its heap.
const heapEvery = time.Second

// heapSample is the heap of a process, garbage included.
type heapSample struct {
	at time.Duration // since the beginning
	mb float64
}

// heaps watches the heaps of the processes while a crowd is there.
type heaps struct {
	stop    context.CancelFunc
	done    sync.WaitGroup
	mu      sync.Mutex
	samples map[string][]heapSample
}

// watchHeaps asks until judge is called. metrics are base addresses by the names
// of the processes.
func watchHeaps(ctx context.Context, metrics map[string]string) *heaps {
	ctx, stop := context.WithCancel(ctx)
	h := &heaps{stop: stop, samples: map[string][]heapSample{}}
	began := time.Now()
	for name, base := range metrics {
		h.done.Go(func() {
			tick := time.NewTicker(heapEvery)
			defer tick.Stop()
			for {
				if mb, err := heapOf(ctx, base); err == nil {
					h.mu.Lock()
					h.samples[name] = append(h.samples[name], heapSample{time.Since(began), mb})
					h.mu.Unlock()
				}
				select {
				case <-tick.C:
				case <-ctx.Done():
					return
				}
			}
		})
	}
	return h
}

// heapOf reads one figure of a process's metrics.
func heapOf(ctx context.Context, base string) (float64, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/metrics", nil)
	if err != nil {
		return 0, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	for lines := bufio.NewScanner(io.LimitReader(resp.Body, 8<<20)); lines.Scan(); {
		if text, ok := strings.CutPrefix(lines.Text(), "go_memstats_heap_alloc_bytes "); ok {
			bytes, err := strconv.ParseFloat(text, 64)
			return bytes / (1 << 20), err
		}
	}
	return 0, fmt.Errorf("%s says nothing of its heap", base)
}

// Of the judgement of heaps.
const (
	warmUp     = .25 // of the time: caches and connections come to their size
	stretches  = 6   // whose floors are compared
	mayGrowMB  = 8.
	mayGrowBy  = .25
	fewSamples = 4 * stretches
)

// judge stops watching and says of each process whether what is left after
// collections grew while the crowd was there.
func (h *heaps) judge(crowd time.Duration) []load.Check {
	h.stop()
	h.done.Wait()
	var checks []load.Check
	for _, name := range slices.Sorted(maps.Keys(h.samples)) {
		checks = append(checks, flat(name, h.samples[name], crowd))
	}
	return checks
}

// flat compares floors: the lowest heap in a stretch of time is about what a
// collection left.
func flat(name string, samples []heapSample, crowd time.Duration) load.Check {
	c := load.Check{Name: "the heap of " + name + " is flat"}
	from := time.Duration(warmUp * float64(crowd))
	var floors [stretches]float64
	n := 0
	for _, s := range samples {
		if s.at < from || s.at >= crowd {
			continue
		}
		n++
		i := int(float64(s.at-from) / float64(crowd-from) * stretches)
		if floors[i] == 0 || s.mb < floors[i] {
			floors[i] = s.mb
		}
	}
	if n < fewSamples || slices.Contains(floors[:], 0) {
		c.Detail = fmt.Sprintf("%d samples are too few: let the crowd be there for longer", n)
		return c
	}
	first, last := slices.Min(floors[:stretches/2]), slices.Min(floors[stretches/2:])
	hours := (crowd - from).Hours() / 2
	c.OK = last-first <= max(mayGrowMB, mayGrowBy*first)
	c.Detail = fmt.Sprintf("%.1f MB in the first half after the warm-up, %.1f MB in the second, %+.1f MB an hour; floors %.1f", first, last, (last-first)/hours, floors)
	return c
}
