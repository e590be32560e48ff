package wiring

import (
	"os"
	"runtime/debug"
)

// ingressGCPercent is GOGC for an ingress. It keeps little and throws away a lot:
// with Go's 100 it collects a dozen times in each second of a crowd, and every time
// the stacks of its connections shrink, to grow again with the next request. A
// tenth of all bookings went into that. The price is a heap of up to five times
// what is alive, which is some tens of megabytes.
const ingressGCPercent = 400

// RelaxGC sets the collector as an ingress wants it, unless GOGC says otherwise. It
// is for the whole process. Safe to call again.
func RelaxGC() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(ingressGCPercent)
	}
}
