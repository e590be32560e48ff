package wiring

import (
	"os"
	"runtime/debug"
)

// gcPercent is GOGC for the long-running roles. They keep little and throw away a
// lot: with Go's 100 an ingress collects a dozen times in each second of a crowd,
// and every time the stacks of its connections shrink, to grow again with the next
// request. A tenth of all bookings went into that, and a sixth of what a worker
// does. The price is a heap of up to five times what is alive, which is some tens
// of megabytes.
const gcPercent = 400

// RelaxGC sets the collector as a long-running role wants it, unless GOGC says
// otherwise. It is for the whole process. Safe to call again.
func RelaxGC() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
}
