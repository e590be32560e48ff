package roster_test

import (
	"compress/gzip"
	"encoding/csv"
	"encoding/json"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/holdfast/holdfast/sale/roster"
)

var springLevels = []string{"N1", "N2", "N3", "N4", "N5"}

func open(t testing.TB, name string) io.Reader {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// readAll imports a whole roster: code -> folded e-mail and levels, in one text.
func readAll(t testing.TB, r io.Reader) (map[string]string, roster.Report) {
	t.Helper()
	rd, err := roster.NewReader(r, springLevels, roster.Options{})
	if err != nil {
		t.Fatal(err)
	}
	rows := make(map[string]string)
	for row, err := range rd.Rows() {
		if err != nil {
			t.Fatal(err)
		}
		if _, twice := rows[string(row.Code)]; twice {
			t.Fatalf("code %s was imported twice", row.Code)
		}
		rows[string(row.Code)] = row.Email.Folded() + " " + strings.Join(row.Levels, "|")
	}
	return rows, rd.Report()
}

// readNaively is an independent reading of the clean file, which needs no leniency: encoding/csv and no code of this module.
func readNaively(t *testing.T) map[string]string {
	t.Helper()
	plain, err := gzip.NewReader(open(t, "testdata/roster-40k.csv.gz"))
	if err != nil {
		t.Fatal(err)
	}
	records, err := csv.NewReader(plain).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	rows := make(map[string]string)
	for _, r := range records[1:] {
		var levels []string
		for _, name := range springLevels {
			if strings.Contains("|"+r[2]+"|", "|"+name+"|") {
				levels = append(levels, name)
			}
		}
		rows[r[0]] = r[1] + " " + strings.Join(levels, "|")
	}
	return rows
}

func TestMessyRosterGivesTheExpectedCounts(t *testing.T) {
	_, report := readAll(t, open(t, "../../examples/roster-messy.csv.gz"))
	expected, err := os.ReadFile("../../examples/roster-messy.expected.json")
	if err != nil {
		t.Fatal(err)
	}
	report.Problems = nil
	got, err := json.Marshal(report)
	if err != nil {
		t.Fatal(err)
	}
	var want, have map[string]int
	if err := json.Unmarshal(expected, &want); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(got, &have); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, have); diff != "" {
		t.Errorf("counts (-want +got):\n%s", diff)
	}
}

func TestMessyRosterHoldsTheCandidatesOfTheCleanOne(t *testing.T) {
	want := readNaively(t)
	if len(want) != 40000 {
		t.Fatalf("the clean roster has %d candidates, want 40000", len(want))
	}
	messy, _ := readAll(t, open(t, "../../examples/roster-messy.csv.gz"))
	if diff := cmp.Diff(want, messy); diff != "" {
		t.Errorf("messy roster (-want +got):\n%s", diff)
	}
	clean, report := readAll(t, open(t, "testdata/roster-40k.csv.gz"))
	if diff := cmp.Diff(want, clean); diff != "" {
		t.Errorf("clean roster (-want +got):\n%s", diff)
	}
	if report.Rows != 40000 || report.Rejected() != 0 {
		t.Errorf("clean roster: %d rows, %d rejected", report.Rows, report.Rejected())
	}
}

func TestMessyRosterProblemsTellWhereAndWhy(t *testing.T) {
	_, report := readAll(t, open(t, "../../examples/roster-messy.csv.gz"))
	if len(report.Problems) != 125 || report.Rejected() != 125 || report.Omitted != 0 {
		t.Fatalf("%d problems, %d rejected, %d omitted; want 125, 125, 0", len(report.Problems), report.Rejected(), report.Omitted)
	}
	byLine := make(map[int]roster.Problem)
	for _, p := range report.Problems {
		byLine[p.Line] = p
	}
	for _, want := range []roster.Problem{
		{Line: 1840, Verdict: roster.MissingCode, Field: "code", Reason: "the code is missing"},
		{Line: 17501, Verdict: roster.InvalidCode, Field: "code", Reason: "the code has white space inside", Shown: "CX***"},
		{Line: 15054, Verdict: roster.InvalidEmail, Field: "email", Reason: "the e-mail has more than one @", Shown: "t***@@example.org"},
		{Line: 4429, Verdict: roster.UnknownLevel, Field: "levels", Reason: "the sale has no such level", Shown: "N9"},
	} {
		if diff := cmp.Diff(want, byLine[want.Line]); diff != "" {
			t.Errorf("line %d (-want +got):\n%s", want.Line, diff)
		}
	}
	conflict := byLine[40224]
	if conflict.Verdict != roster.ConflictingEmail || conflict.FirstLine < 2 || conflict.FirstLine >= 40104 {
		t.Errorf("line 40224: %+v, want a conflict with a line before 40104", conflict)
	}
}

func TestReadingStopsAtATruncatedArchive(t *testing.T) {
	whole, err := os.ReadFile("../../examples/roster-messy.csv.gz")
	if err != nil {
		t.Fatal(err)
	}
	rd, err := roster.NewReader(strings.NewReader(string(whole[:len(whole)/2])), springLevels, roster.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err = rd.Next(); err != nil {
			break
		}
	}
	if err == io.EOF || !strings.Contains(err.Error(), "unexpected EOF") {
		t.Errorf("reading half an archive ended with %v, want an unexpected EOF", err)
	}
	if _, again := rd.Next(); again != err {
		t.Errorf("reading on gives %v, want the same error again", again)
	}
}

func BenchmarkReader(b *testing.B) {
	archive, err := gzip.NewReader(open(b, "../../examples/roster-messy.csv.gz"))
	if err != nil {
		b.Fatal(err)
	}
	plain, err := io.ReadAll(archive)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(plain)))
	b.ReportAllocs()
	for b.Loop() {
		readAll(b, strings.NewReader(string(plain)))
	}
}
