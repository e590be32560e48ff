package cli

import (
	"strings"
	"testing"
	"time"

	"github.com/holdfast/holdfast/lifecycle/lifecycletest"
)

func TestPurgeAsksTwiceAndAuditStillPasses(t *testing.T) {
	x := newTown(t)
	k := x.paid("c1", "N2")
	x.fails(exitUsage, "purge", "spring")
	x.fails(exitUsage, "purge", "spring", "--yes", "--dry-run")
	if err := x.fails(exitRefused, "purge", "spring", "--yes"); !strings.Contains(err, "sale spring is open until") {
		t.Errorf("%s", err)
	}
	x.done("sale", "close", "spring")
	if out := x.done("purge", "spring", "--dry-run"); !strings.Contains(out, "9 roster rows, the people of 1 bookings and the details of 0 inbox items would be forgotten") {
		t.Errorf("%s", out)
	}
	if x.Booking(k.ID).Candidate != "c1" {
		t.Error("a dry run forgot somebody")
	}
	x.Advance(time.Minute)
	r := x.run("purge", "spring", "--yes", "--reason", "retention is over")
	if b := x.Booking(k.ID); r.code != exitDone || b.Personal() || !strings.Contains(r.out, "forgotten") {
		t.Errorf("%+v: %+v", r, b)
	}
	x.done("audit", lifecycletest.Sale)
	if out := x.done("sale", "trail", "spring"); !strings.Contains(out, "retention is over") {
		t.Errorf("%s", out)
	}
	if out := x.done("purge", "spring", "--yes"); !strings.Contains(out, "nobody is known") {
		t.Errorf("%s", out)
	}
}
