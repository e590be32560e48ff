// Package leak fails a package's tests if they leave a goroutine behind, as goleak
// does, with patience for a busy machine: what has been told to end needs a share
// of it to do so, and half a second is not always enough for that.
package leak

import (
	"fmt"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// patience is how long goroutines may take to end after the last test.
const patience = 15 * time.Second

// Main runs the tests and ends the process; it is called by TestMain.
func Main(m *testing.M) {
	code := m.Run()
	if code == 0 {
		if err := Find(); err != nil {
			fmt.Fprintln(os.Stderr, "goroutines are left after a successful run:", err)
			code = 1
		}
	}
	os.Exit(code)
}

// Find returns an error that shows the goroutines which are left, or nil as soon
// as none is.
func Find() error { return find(patience) }

func find(within time.Duration) error {
	for end := time.Now().Add(within); ; {
		err := goleak.Find() // which takes its time itself
		if err == nil || time.Now().After(end) {
			return err
		}
	}
}
