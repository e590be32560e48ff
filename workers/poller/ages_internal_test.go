package poller

import (
	"testing"
	"time"

	"github.com/holdfast/holdfast/events"
)

func TestAgesAreForgottenWithoutPolls(t *testing.T) {
	var a ages
	now := time.Unix(1772366400, 0)
	a.note([]events.Message{{Meta: events.Meta{SentAt: now.Add(-time.Hour)}}}, now)
	a.note([]events.Message{{Meta: events.Meta{SentAt: now.Add(-time.Minute)}}, {}}, now)
	for after, want := range map[time.Duration]time.Duration{0: time.Hour, 110 * time.Second: time.Hour, 2 * time.Minute: 0, time.Hour: 0} {
		if got := a.oldest(now.Add(after)); got != want {
			t.Errorf("after %v: %v, want %v", after, got, want)
		}
	}
	a.note(nil, now.Add(2*time.Minute)) // the same slot, one round later
	if got := a.oldest(now.Add(2 * time.Minute)); got != 0 {
		t.Errorf("a slot kept %v of its last round", got)
	}
}
