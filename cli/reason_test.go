package cli

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/ledger/ledgertest"
)

// changes are the commands that change a sale, each as an operator may type it.
var changes = map[string]string{
	"sale apply": "-", "sale open": "spring", "sale close": "spring", "sale times": "spring --closes 2027-03-01T23:30:00+06:00", "sale caps": "spring N1 30",
	"roster import": "spring -", "hold release": "B1", "booking cancel": "B1", "inbox accept": "spring page:p1", "inbox resolve": "spring i1",
	"repair": "spring", "rebuild": "spring", "dlq redrive": "", "purge": "spring --yes",
}

// looks are those that change nothing, or do what any process does on its own;
// a rehearsal is of a sale that does not exist outside it.
var looks = strings.Fields(`serve work reap audit load rehearse capacity preflight version export report report/key report/keygen report/verify config/check sale/check
	sale/status sale/totals sale/trail sale/list hold/list booking/show booking/find inbox/list dlq/list`)

// TestEveryChangeWantsAReason: without one nothing is opened and nothing is
// done. A new command has to be in one of the two lists.
func TestEveryChangeWantsAReason(t *testing.T) {
	x := newTown(t)
	x.stdin = examFile
	for name, args := range changes {
		line := append(strings.Fields(name), strings.Fields(args)...)
		for _, reason := range []string{"", "  ", "a\nb", "\x1b[2J", strings.Repeat("x", maxReason+1)} {
			x.env = map[string]string{"USER": "ann"}
			if text := x.fails(exitUsage, append(line, "--reason", reason)...); !strings.Contains(text, "reason") || !strings.Contains(text, "Nothing was changed") {
				t.Errorf("%s with reason %q: %s", name, reason, text)
			}
		}
	}
	if x.opened != 0 {
		t.Errorf("%d of them opened the house", x.opened)
	}
	for _, line := range []string{"repair spring --dry-run", "sale status spring", "hold list spring"} { // looking needs none
		x.done(strings.Fields(line)...)
	}
	var walk func(path []string, cmd *cobra.Command)
	walk = func(path []string, cmd *cobra.Command) {
		_, changes := changes[strings.Join(path, " ")]
		if !cmd.HasSubCommands() && !changes && !slices.Contains(looks, strings.Join(path, "/")) {
			t.Errorf("does %v change something?", path)
		}
		for _, sub := range cmd.Commands() {
			walk(append(slices.Clone(path), sub.Name()), sub)
		}
	}
	walk(nil, (&app{}).root())
}

// TestHandsOnRepairsAreInTheTrail: repair, rebuild and redrive are no acts of the
// desk, and still somebody did them.
func TestHandsOnRepairsAreInTheTrail(t *testing.T) {
	x := newTown(t)
	acts := func() (list []string) {
		t.Helper()
		err := x.Store.Audit(t.Context(), "spring", func(e ledger.AuditEntry) error {
			if e.Actor == "operator:ann" {
				list = append(list, e.Action+", "+e.After+": "+e.Reason)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	x.done("repair", "spring", "--dry-run")
	if list := acts(); list != nil {
		t.Errorf("a dry run is in the trail: %q", list)
	}
	x.done("repair", "spring")
	x.run("rebuild", "spring", "--reason", "Redis was replaced")
	x.done("dlq", "redrive", "--limit", "5", "--reason", "the table is back")
	if list, want := acts(), []string{"repair, : as agreed", "rebuild, : Redis was replaced", "redrive of dead letters, at most 5: the table is back"}; !slices.Equal(list, want) {
		t.Errorf("%q, want %q", list, want)
	}
	for _, name := range []string{"repair", "rebuild"} {
		x.fails(exitRefused, name, "nowhere")
	}
	if err := x.Store.Audit(t.Context(), "nowhere", func(e ledger.AuditEntry) error { t.Errorf("a sale that there is not has a trail: %+v", e); return nil }); err != nil {
		t.Fatal(err)
	}
	moved := x.dead.limit
	x.Store.Fault = func(op string) ledgertest.Fault {
		if op == "AppendAudit" {
			return ledgertest.FailBefore
		}
		return ledgertest.NoFault
	}
	if text := x.fails(exitRefused, "dlq", "redrive"); !strings.Contains(text, "nothing was done") || x.dead.limit != moved {
		t.Errorf("an act without a trail: %s", text)
	}
}
