package cli

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/holdfast/holdfast/capacity"
	"github.com/holdfast/holdfast/lifecycle/lifecycletest"
	"github.com/holdfast/holdfast/operator"
)

// TestPreflightExitsWithOneIfALineFails: it is made to stand in a script before
// an opening.
func TestPreflightExitsWithOneIfALineFails(t *testing.T) {
	x := newTown(t)
	r := x.run("preflight", "spring", "--json")
	var checks []operator.Check
	if err := json.Unmarshal([]byte(r.out), &checks); err != nil {
		t.Fatalf("%v: %s", err, r.out)
	}
	if r.code != exitRefused || !operator.Failed(checks) { // nobody has swept this sale yet
		t.Errorf("exit code %d for %+v", r.code, checks)
	}
	x.done("reap", "--once", "--sale", lifecycletest.Sale)
	out := x.done("preflight", "spring", "--rate", "100")
	if !strings.Contains(out, "reaper") || !strings.Contains(out, "for 100 requests and") {
		t.Errorf("%s", out)
	}
	x.fails(exitUsage, "preflight", "spring", "--rate", "-1")
	x.fails(exitRefused, "preflight", "nowhere")
}

func TestCapacityNeedsNoDeployment(t *testing.T) {
	x := newTown(t)
	out := x.done("capacity", "--rate", "30000", "--size", "small")
	if x.opened != 0 || !strings.Contains(out, "too little: a faster node") || !strings.Contains(out, "(small)") {
		t.Errorf("opened %d: %s", x.opened, out)
	}
	var doc struct {
		Limits []capacity.Limit `json:"limits"`
	}
	if err := json.Unmarshal([]byte(x.done("capacity", "--json")), &doc); err != nil || len(doc.Limits) < 6 || doc.Limits[0].Verdict != capacity.Enough {
		t.Errorf("%v: %+v", err, doc)
	}
	x.fails(exitUsage, "capacity", "--size", "huge")
	x.fails(exitUsage, "capacity", "--rate", "0")
}
