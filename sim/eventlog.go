package sim

import (
	"fmt"
	"strings"
	"sync"
	"time"
)

// eventLog is what happened, as a hash over everything and as text of the last
// events. Two runs of one seed have the same hash.
type eventLog struct {
	mu    sync.Mutex
	began time.Time
	sum   uint64
	last  []string // a ring
	next  int
	count int
	line  func(string) // told of each line; may be nil
}

// remembered is how many events a failure shows.
const remembered = 60

func newEventLog(line func(string)) *eventLog {
	return &eventLog{began: time.Now(), sum: 14695981039346656037, last: make([]string, remembered), line: line}
}

func (l *eventLog) add(t *turn, v verdict) {
	l.printf("%s %s %s%s", t.proc.name, t.op, t.id, v)
}

func (l *eventLog) printf(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	text := fmt.Sprintf("%12.6fs ", time.Since(l.began).Seconds()) + fmt.Sprintf(format, args...)
	for i := range len(text) { // FNV-1a, going on from line to line
		l.sum = (l.sum ^ uint64(text[i])) * 1099511628211
	}
	l.last[l.next] = text
	l.next = (l.next + 1) % remembered
	l.count++
	if l.line != nil {
		l.line(text)
	}
}

// tail is the last events, oldest first.
func (l *eventLog) tail() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	lines := append(append([]string{}, l.last[l.next:]...), l.last[:l.next]...)
	return strings.TrimLeft(strings.Join(lines, "\n"), "\n")
}
