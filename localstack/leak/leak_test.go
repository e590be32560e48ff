package leak

import (
	"strings"
	"testing"
	"time"
)

// TestFind: who ends late is waited for, and who does not end is found.
func TestFind(t *testing.T) {
	late := make(chan struct{})
	go func() { <-time.After(2 * time.Second); close(late) }()
	if err := Find(); err != nil {
		t.Errorf("a goroutine that ended: %v", err)
	}
	select {
	case <-late:
	default:
		t.Error("nobody waited for it")
	}
	stuck := make(chan struct{})
	go leaking(stuck)
	if err := find(time.Second); err == nil || !strings.Contains(err.Error(), "leak.leaking") {
		t.Errorf("a goroutine that hangs: %v", err)
	}
	close(stuck)
}

func leaking(until chan struct{}) { <-until }
