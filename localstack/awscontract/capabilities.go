// Package awscontract is the conformance suite of SQS FIFO and DynamoDB endpoints: what production code relies on, row by row, recorded on AWS or taken from its documentation (protocol.md 1.5 and 1.7). The same rows judge the local cloud, LocalStack and AWS itself, by endpoint URL.
package awscontract

import (
	"testing"
	"time"
)

// Capabilities is what the caller knows of an endpoint. The zero value is an endpoint in real time that can do everything but wait for minutes; the local cloud lacks nothing.
type Capabilities struct {
	// Wait lets d of the endpoint's time pass. nil: it passes in real time.
	Wait func(d time.Duration)
	// Parked returns once a poll waits on the queue of this name. nil: after 300 ms, which is long enough for a request to arrive.
	Parked func(queue string)
	// TimeTravel says that the endpoint's time passes by Wait only, so that rows which wait for minutes or days can run, and none fails on a slow machine.
	TimeTravel bool
	// Lacks names rows ("S04") that this endpoint is known to fail, each with the reason. They are not run, and the reason is printed.
	Lacks map[string]string
}

// wait lets the endpoint's time pass.
func (c Capabilities) wait(d time.Duration) {
	if c.Wait != nil {
		c.Wait(d)
		return
	}
	<-time.After(d)
}

func (c Capabilities) parked(queue string) {
	if c.Parked != nil {
		c.Parked(queue)
		return
	}
	<-time.After(300 * time.Millisecond)
}

// lacks reports whether a row is left out, and prints why.
func (c Capabilities) lacks(t *testing.T, id string, minutes bool) bool {
	t.Helper()
	if why, ok := c.Lacks[id]; ok {
		t.Logf("NOT RUN: this endpoint lacks %s: %s", id, why)
		return true
	}
	if minutes && !c.TimeTravel {
		t.Logf("NOT RUN: %s waits for minutes and this endpoint's clock can't be moved", id)
		return true
	}
	return false
}
