package operator_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/examples"
	"github.com/holdfast/holdfast/operator"
	"github.com/holdfast/holdfast/sale"
	"github.com/holdfast/holdfast/sale/roster"
	"github.com/holdfast/holdfast/sale/salefile"
)

func (b *bench) imports(o operator.ImportOptions, rows ...sale.Row) operator.ImportResult {
	b.t.Helper()
	r, err := b.ImportRoster(b.ctx, exam, file(rows...), o, nil, ann)
	b.must(err)
	return r
}

// counts are added, changed, removed, unchanged, size.
func counts(r operator.ImportResult) [5]int {
	return [5]int{r.Added, r.Changed, r.Removed, r.Unchanged, r.Size}
}

func TestImportMakesTheFileTheRoster(t *testing.T) {
	b := applied(t)
	first := b.imports(operator.ImportOptions{}, person(1, "N1"), person(2), person(3))
	if counts(first) != [5]int{3, 0, 0, 0, 3} || first.Version == "" {
		t.Errorf("first import %+v", first)
	}
	changed := person(2)
	changed.Email = "new@example.org"
	second := b.imports(operator.ImportOptions{}, person(1, "N1", "N2"), changed, person(4))
	if counts(second) != [5]int{1, 2, 1, 0, 3} {
		t.Errorf("second import %+v", second)
	}
	e := b.end()
	if e.Control.RosterVersion != second.Version || e.Redis.RosterVersion != second.Version || e.Control.RosterSize != 3 {
		t.Errorf("control %+v, Redis %+v", e.Control, e.Redis)
	}
	if len(e.Ledger) != 3 || len(e.Roster) != 3 || !slices.Equal(e.Roster[b.hash(1)].Levels, []string{"N1", "N2"}) ||
		e.Ledger[b.hash(2)].EmailHash != string(b.Hasher.Email("new@example.org")) {
		t.Errorf("rosters %+v", e)
	}
	if acts := b.trail(); !strings.Contains(strings.Join(acts, "\n"), "roster import: 3 candidates -> 3 candidates: 1 added, 2 changed, 1 removed (operator:ann, because)") {
		t.Errorf("trail %q", acts)
	}
}

func TestImportTwiceIsOneImport(t *testing.T) {
	b := applied(t)
	first := b.imports(operator.ImportOptions{}, people(50)...)
	before, acts := b.end(), len(b.trail())
	again := people(50)
	slices.Reverse(again)
	second := b.imports(operator.ImportOptions{}, again...)
	if second.Version != first.Version || second.Written != 0 || counts(second) != [5]int{0, 0, 0, 50, 50} {
		t.Errorf("second import %+v", second)
	}
	if diff := diffEnds(before, b.end()); diff != "" || len(b.trail()) != acts {
		t.Errorf("the second import changed something:\n%s", diff)
	}
}

// The version is a function of the candidates: not of their order, and not of
// how the roster came to be.
func TestRosterVersionFollowsTheCandidates(t *testing.T) {
	b := applied(t)
	v := func(o operator.ImportOptions, rows ...sale.Row) string { return b.imports(o, rows...).Version }
	both := v(operator.ImportOptions{}, person(1), person(2))
	one := v(operator.ImportOptions{}, person(1))
	if one == both {
		t.Error("a removed candidate has no effect")
	}
	if got := v(operator.ImportOptions{Add: true}, person(2)); got != both {
		t.Error("the same candidates have another version")
	}
	if got := v(operator.ImportOptions{}, person(1), person(2, "N1")); got == both {
		t.Error("other levels have no effect")
	}
	if !sale.ValidName(both) {
		t.Errorf("%q is no version that a script takes", both)
	}
}

func TestAddKeepsWhoIsNotNamed(t *testing.T) {
	b := applied(t)
	b.imports(operator.ImportOptions{}, person(1), person(2))
	r := b.imports(operator.ImportOptions{Add: true}, person(2, "N1"), person(3))
	if counts(r) != [5]int{1, 1, 0, 1, 3} {
		t.Errorf("result %+v", r)
	}
	if e := b.end(); len(e.Roster) != 3 || len(e.Ledger) != 3 {
		t.Errorf("end %+v", e)
	}
}

func TestDryRunWritesNothing(t *testing.T) {
	b := applied(t)
	b.imports(operator.ImportOptions{}, person(1), person(2))
	before, acts := b.end(), len(b.trail())
	writes := map[string]int{}
	for op, n := range b.World.Store.Calls() {
		writes[op] = n
	}
	r := b.imports(operator.ImportOptions{DryRun: true}, person(2, "N1"), person(3))
	if counts(r) != [5]int{1, 1, 1, 0, 2} || r.Written != 0 {
		t.Errorf("result %+v", r)
	}
	if diff := diffEnds(before, b.end()); diff != "" || len(b.trail()) != acts {
		t.Errorf("(-before +after):\n%s", diff)
	}
	for _, op := range []string{"PutRoster", "DropRoster", "UpdateControl", "AppendAudit"} {
		if n := b.World.Store.Calls()[op]; n != writes[op] {
			t.Errorf("a dry run calls %s", op)
		}
	}
}

func TestImportOfNobodyIsRefused(t *testing.T) {
	b := applied(t)
	b.imports(operator.ImportOptions{}, person(1))
	before := b.end()
	refused(t, b.load(), operator.CodeRosterEmpty)
	if diff := diffEnds(before, b.end()); diff != "" {
		t.Errorf("(-before +after):\n%s", diff)
	}
	_, err := b.ImportRoster(b.ctx, "nowhere", file(person(1)), operator.ImportOptions{}, nil, ann)
	refused(t, err, operator.CodeUnknownSale)
}

// A file that breaks after 3,000 rows has changed nothing.
func TestABrokenFileChangesNothing(t *testing.T) {
	b := applied(t)
	b.imports(operator.ImportOptions{}, person(1))
	before := b.end()
	torn := errors.New("unexpected EOF")
	rows := func() (iter.Seq2[sale.Row, error], error) {
		return func(yield func(sale.Row, error) bool) {
			for _, r := range people(3000) {
				if !yield(r, nil) {
					return
				}
			}
			yield(sale.Row{}, torn)
		}, nil
	}
	if _, err := b.ImportRoster(b.ctx, exam, rows, operator.ImportOptions{}, nil, ann); !errors.Is(err, torn) {
		t.Errorf("got %v", err)
	}
	missing := errors.New("no such file")
	if _, err := b.ImportRoster(b.ctx, exam, func() (iter.Seq2[sale.Row, error], error) { return nil, missing }, operator.ImportOptions{}, nil, ann); !errors.Is(err, missing) {
		t.Errorf("got %v", err)
	}
	if diff := diffEnds(before, b.end()); diff != "" {
		t.Errorf("(-before +after):\n%s", diff)
	}
}

func TestAFileThatChangesMeanwhileIsNoticed(t *testing.T) {
	for name, second := range map[string][]sale.Row{
		"one more": people(4), "one fewer": people(2), "another": {person(1), person(2), person(3, "N1")},
	} {
		t.Run(name, func(t *testing.T) {
			b := applied(t)
			reads := 0
			rows := func() (iter.Seq2[sale.Row, error], error) {
				if reads++; reads == 1 {
					return file(people(3)...)()
				}
				return file(second...)()
			}
			_, err := b.ImportRoster(b.ctx, exam, rows, operator.ImportOptions{}, nil, ann)
			if err == nil || !strings.Contains(err.Error(), "changed while it was being imported") {
				t.Errorf("got %v", err)
			}
			if v := b.control().RosterVersion; v != "" {
				t.Errorf("version %q was raised", v)
			}
			b.must(b.load(second...)) // and importing it again mends everything
			if e := b.end(); len(e.Ledger) != len(second) || len(e.Roster) != len(second) {
				t.Errorf("end %+v", e)
			}
		})
	}
}

func TestImportCrashedAtEveryStep(t *testing.T) {
	ready := func(t *testing.T) *bench {
		b := applied(t)
		b.RosterBatch = 4
		b.must(b.load(people(12)...))
		return b
	}
	t.Run("replace", func(t *testing.T) {
		rows := append(people(8), person(5001), person(5002, "N1"))
		rows[0], rows[7] = person(1, "N1"), person(8, "N2")
		atEveryStep(t, ready, func(b *bench) error { return b.load(rows...) }, versionTellsTheTruth)
	})
	t.Run("add", func(t *testing.T) {
		atEveryStep(t, ready, func(b *bench) error {
			_, err := b.ImportRoster(b.ctx, exam, file(person(30), person(1, "N2")), operator.ImportOptions{Add: true}, nil, ann)
			return err
		}, versionTellsTheTruth)
	})
	t.Run("first, in batches", func(t *testing.T) {
		atEveryStep(t, func(t *testing.T) *bench {
			b := applied(t)
			b.RosterBatch = 4
			return b
		}, func(b *bench) error { return b.load(people(10)...) }, versionTellsTheTruth)
	})
}

// versionTellsTheTruth: who is told by Redis that the roster is of the ledger's
// version finds the ledger's rows in Redis.
func versionTellsTheTruth(b *bench) {
	e := b.end()
	if e.Control.RosterVersion == "" || e.Control.RosterVersion != e.Redis.RosterVersion || len(e.Ledger) != e.Control.RosterSize {
		return // under way
	}
	for ch, row := range e.Ledger {
		if _, ok := e.Roster[ch]; !ok {
			b.t.Fatalf("candidate %s is in the ledger under version %s and not in Redis: %+v", ch, e.Redis.RosterVersion, row)
		}
	}
}

// Removing a row with a live booking keeps the booking (protocol.md 3.4).
func TestRemovedCandidateKeepsTheBooking(t *testing.T) {
	b := selling(t)
	b.book("N1", 1, 1)
	b.imports(operator.ImportOptions{}, person(2))
	id, err := b.World.Redis.CandidateBooking(b.ctx, exam, b.hash(1))
	if err != nil || id != "X1" {
		t.Errorf("booking %q, %v", id, err)
	}
	a, err := b.World.Redis.Admit(b.ctx, admission.Request{Sale: exam, BookingID: "Y", Candidate: b.hash(3), Level: "N1", Gen: 1, InputHash: "in", Currency: "BDT", Count: 1})
	if err != nil || a.Outcome != admission.UnknownCode {
		t.Errorf("a removed code is answered %v, %v", a.Outcome, err)
	}
}

// The real thing: 40,245 rows as offices send them, imported twice.
func TestMessyRosterEndToEnd(t *testing.T) {
	b := newBench(t)
	plan, err := salefile.Parse(bytes.NewReader(examples.SpringYAML))
	b.must(err)
	plan.ID = exam
	b.must(b.apply(plan))
	var first *roster.Reader
	rows := func() (iter.Seq2[sale.Row, error], error) {
		rd, err := roster.NewReader(bytes.NewReader(examples.MessyRoster), plan.LevelNames(), roster.Options{})
		if err != nil {
			return nil, err
		}
		if first == nil {
			first = rd
		}
		return rd.Rows(), nil
	}
	phases := map[operator.Phase]int{}
	r, err := b.ImportRoster(b.ctx, exam, rows, operator.ImportOptions{}, func(p operator.Progress) { phases[p.Phase] = p.Done }, ann)
	b.must(err)
	if counts(r) != [5]int{40000, 0, 0, 0, 40000} || r.Written != 40000 {
		t.Errorf("result %+v", r)
	}
	if phases[operator.PhaseCompare] != 40000 || phases[operator.PhaseWrite] != 40000 {
		t.Errorf("progress ended at %v", phases)
	}
	var want, got map[string]int
	b.must(json.Unmarshal(examples.MessyRosterReport, &want))
	report := first.Report()
	report.Problems = nil
	data, err := json.Marshal(report)
	b.must(err)
	b.must(json.Unmarshal(data, &got))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("report (-want +got):\n%s", diff)
	}
	before := b.end()
	again, err := b.ImportRoster(b.ctx, exam, rows, operator.ImportOptions{}, nil, ann)
	b.must(err)
	if again.Version != r.Version || again.Written != 0 || counts(again) != [5]int{0, 0, 0, 40000, 40000} {
		t.Errorf("again %+v", again)
	}
	if diff := diffEnds(before, b.end()); diff != "" {
		t.Error("the second import changed something")
	}
	if len(before.Roster) != 40000 || len(before.Ledger) != 40000 {
		t.Errorf("%d rows in Redis, %d in the ledger", len(before.Roster), len(before.Ledger))
	}
	for ch, row := range before.Ledger {
		if len(ch) != 43 || len(row.EmailHash) != 16 || strings.Contains(ch+row.EmailHash, "@") {
			t.Fatalf("row %q %+v is not only hashes", ch, row)
		}
	}
}
