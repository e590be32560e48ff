package events_test

import (
	"errors"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/holdfast/holdfast/events"
)

func TestParkSurvivesWrapping(t *testing.T) {
	err := fmt.Errorf("handle: %w", events.Park("unknown_payment", io.EOF))
	if reason, ok := events.ParkReason(err); !ok || reason != "unknown_payment" {
		t.Errorf("got %q, %v", reason, ok)
	}
	if !errors.Is(err, io.EOF) {
		t.Error("the cause is lost")
	}
	if _, ok := events.ParkReason(io.EOF); ok {
		t.Error("a plain error asks to be retried, not parked")
	}
	if got := events.Park("undecodable", nil).Error(); got != "events: park (undecodable)" {
		t.Error(got)
	}
}

func TestMessageAgeIsNeverNegative(t *testing.T) {
	m := events.Message{Meta: events.Meta{SentAt: noon}}
	if a := m.Age(noon.Add(time.Minute)); a != time.Minute {
		t.Error(a)
	}
	if a := m.Age(noon.Add(-time.Minute)); a != 0 {
		t.Error(a)
	}
	if a := (events.Message{}).Age(noon); a != 0 {
		t.Error(a)
	}
}
