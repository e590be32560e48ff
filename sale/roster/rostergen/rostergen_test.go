package rostergen_test

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/holdfast/holdfast/sale"
	"github.com/holdfast/holdfast/sale/roster"
	"github.com/holdfast/holdfast/sale/roster/rostergen"
)

func read(t *testing.T, file []byte, levels []string) ([]sale.Row, roster.Report) {
	t.Helper()
	rd, err := roster.NewReader(bytes.NewReader(file), levels, roster.Options{MaxProblems: -1})
	if err != nil {
		t.Fatal(err)
	}
	var rows []sale.Row
	for row, err := range rd.Rows() {
		if err != nil {
			t.Fatal(err)
		}
		row.Email = sale.Email(row.Email.Folded())
		rows = append(rows, row)
	}
	report := rd.Report()
	report.Omitted = 0
	return rows, report
}

func TestBothFilesHoldTheSameCandidates(t *testing.T) {
	for _, spec := range []rostergen.Spec{
		{Size: 1, Seed: 1, Levels: []string{"N1"}},
		{Size: 500, Seed: 2, Levels: []string{"N1", "N2"}},
		{Size: 20000, Seed: 3, Levels: []string{"A", "b", "C-1", "D_2", "E"}},
	} {
		g, err := rostergen.New(spec)
		if err != nil {
			t.Fatal(err)
		}
		var clean, messy, again bytes.Buffer
		for _, err := range []error{g.WriteClean(&clean), g.WriteMessy(&messy), g.WriteMessy(&again)} {
			if err != nil {
				t.Fatal(err)
			}
		}
		if !bytes.Equal(messy.Bytes(), again.Bytes()) {
			t.Errorf("%+v: two runs differ", spec)
		}
		want := make([]sale.Row, g.Len())
		for i := range want {
			want[i] = g.Row(i)
		}
		got, report := read(t, clean.Bytes(), spec.Levels)
		if diff := cmp.Diff(want, got); diff != "" || report.Rejected() != 0 {
			t.Errorf("%+v: clean file, %d rejected (-want +got):\n%s", spec, report.Rejected(), diff)
		}
		got, report = read(t, messy.Bytes(), spec.Levels)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%+v: messy file (-want +got):\n%s", spec, diff)
		}
		if diff := cmp.Diff(g.Expect(), report); diff != "" {
			t.Errorf("%+v: messy report (-want +got):\n%s", spec, diff)
		}
	}
}

func TestCodesAreUniqueAtTheLargestSize(t *testing.T) {
	g, err := rostergen.New(rostergen.Spec{Size: rostergen.MaxSize, Seed: 4, Levels: []string{"N1"}})
	if err != nil {
		t.Fatal(err)
	}
	var digits [rostergen.MaxSize]bool
	for i := 0; i < g.Len(); i += 7 {
		n := 0
		for _, c := range string(g.Row(i).Code[4:]) {
			n = 10*n + int(c-'0')
		}
		if digits[n] {
			t.Fatalf("row %d has the number %d of a row before", i, n)
		}
		digits[n] = true
	}
}

func TestNewRefusesWhatItCannotMake(t *testing.T) {
	for _, spec := range []rostergen.Spec{{Size: 0, Levels: []string{"N1"}}, {Size: rostergen.MaxSize + 1, Levels: []string{"N1"}}, {Size: 1}} {
		if _, err := rostergen.New(spec); err == nil {
			t.Errorf("%+v: no error", spec)
		}
	}
}
