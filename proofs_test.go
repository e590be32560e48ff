package holdfast_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// proofs are the documents whose tables name tests, and what their rows have to
// be about.
var proofs = map[string]struct {
	sections map[string]int // rows "| 1 |" to "| n |" under a heading
	ids      string         // what has to be the first cells of rows, in order
	tests    int            // how many tests are named at least: the form of a table may change
}{
	"docs/scenarios.md":      {sections: map[string]int{"## The crash table": 28, "## The forty scenarios": 40}, tests: 100},
	"docs/cases.md":          {ids: caseIDs, tests: 150},
	"docs/guards.md":         {tests: 100},
	"docs/security-tests.md": {tests: 30},
	"docs/reliability.md":    {tests: 15},
	"docs/torture.md":        {tests: 5},
	"README.md":              {tests: 15},
}

// caseIDs are the cases that Holdfast was held against.
const caseIDs = "A01 A02 A03 A04 A05 A07 A10 A13 A16 A18 A20 A22 A23 A27 A29 A31 " +
	"B01 B03 B04 B05 B06 B07 B08 B10 B11 B12 B13 B16 B18 B21 B22 B23 B25 B28 B29 B31 B33 " +
	"C01 C04 C05 C06 C07 C08 C10 C11 C13 C14 C15 C17 C18 C20 C21 C22 C24 C26 " +
	"D03 D04 D06 D09 D10 D12 D13 D14 D15 D18 D19 " +
	"E01 E03 E04 E05 E06 E07 " +
	"F02 F05 F06 F07 F08 F09 F10 F11 " +
	"G03 G04 G05 G06 G07 G11 G12 " +
	"H01 H02 H04 H11 H12 H13 H14 H15 H17 H18 H19 H20 H21 " +
	"I01 I04 I05 I06 I07 I08 I11 I13 " +
	"J01 J02 J03 J04 J05 J07 J08 J09 J10 J12 J13 J14 J15 J19 J21 " +
	"K01 K03 K04 K06 K07 K08 K09 K10 K13 K14"

// declared are the test functions of the tree, by folder ("" is the root), and
// by name.
type declared struct {
	inDir  map[string]map[string]bool
	named  map[string][]string
	skips  []string
	parsed int
}

// TestProofsAreListedAndExist: a table that names a test which is gone proves
// nothing, and neither does one with a missing row.
func TestProofsAreListedAndExist(t *testing.T) {
	have := testsOfTheTree(t)
	for file, want := range proofs {
		t.Run(file, func(t *testing.T) {
			text, err := os.ReadFile(filepath.FromSlash(file))
			if err != nil {
				t.Fatal(err)
			}
			if n := have.check(t, string(text)); n < want.tests {
				t.Errorf("only %d tests are named: has the table another form?", n)
			}
			for heading, rows := range want.sections {
				checkNumbers(t, section(t, string(text), heading), rows)
			}
			if want.ids != "" {
				checkIDs(t, string(text), strings.Fields(want.ids))
			}
		})
	}
}

// TestNothingIsSkipped: a test that skips itself is red somewhere, and nobody
// sees it.
func TestNothingIsSkipped(t *testing.T) {
	have := testsOfTheTree(t)
	for _, at := range have.skips {
		t.Errorf("%s skips a test", at)
	}
	if have.parsed < 100 {
		t.Errorf("only %d test files were read", have.parsed)
	}
}

var (
	named  = regexp.MustCompile("`(?:([a-z][a-z0-9/]*)\\.)?((?:Test|Fuzz)[A-Za-z0-9_]+)(…?)`")
	skippy = map[string]bool{"Skip": true, "Skipf": true, "SkipNow": true}
)

// check looks every named test up and returns how many there are. A name that
// ends in "…" stands for every test that begins so.
func (d *declared) check(t *testing.T, text string) int {
	t.Helper()
	found := named.FindAllStringSubmatch(text, -1)
	for _, m := range found {
		dir, test := m[1], m[2]
		known := func(name string) bool { return len(d.named[name]) > 0 }
		if dir != "" {
			known = func(name string) bool { return d.inDir[dir][name] }
		}
		ok := known(test)
		for name := range d.named {
			ok = ok || m[3] != "" && strings.HasPrefix(name, test) && known(name)
		}
		if !ok {
			t.Errorf("%s does not exist", strings.Trim(m[0], "`"))
		}
	}
	return len(found)
}

// section is the part of a document under a heading.
func section(t *testing.T, text, heading string) string {
	t.Helper()
	_, rest, ok := strings.Cut(text, "\n"+heading+"\n")
	if !ok {
		t.Fatalf("there is no %q", heading)
	}
	part, _, _ := strings.Cut(rest, "\n## ")
	return part
}

// checkNumbers holds a table to the rows 1 to n, in order, each with a test.
func checkNumbers(t *testing.T, table string, n int) {
	t.Helper()
	rows := regexp.MustCompile(`(?m)^\| (\d+) \|(.*)$`).FindAllStringSubmatch(table, -1)
	if len(rows) != n {
		t.Errorf("%d rows, want %d", len(rows), n)
	}
	for i, row := range rows {
		if row[1] != strconv.Itoa(i+1) || !named.MatchString(row[2]) {
			t.Errorf("row %d is row %s, or names no test", i+1, row[1])
		}
	}
}

// checkIDs holds the tables of a document to these rows, in order, each with a
// test or a reason.
func checkIDs(t *testing.T, text string, ids []string) {
	t.Helper()
	var have []string
	for _, row := range regexp.MustCompile(`(?m)^\| ([A-Z]\d+) \| .+ \| (.*) \|$`).FindAllStringSubmatch(text, -1) {
		if strings.TrimSpace(row[2]) != "" {
			have = append(have, row[1])
		}
	}
	for _, id := range ids {
		if !slices.Contains(have, id) {
			t.Errorf("%s has no row, or no test and no reason", id)
		}
	}
	if len(have) != len(ids) {
		t.Errorf("%d rows for %d cases", len(have), len(ids))
	}
}

// testsOfTheTree parses every file, whatever its build tags. Suites that are no
// test files could skip as well.
func testsOfTheTree(t *testing.T) *declared {
	t.Helper()
	d := &declared{inDir: map[string]map[string]bool{}, named: map[string][]string{}}
	err := filepath.WalkDir(".", func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() && (strings.HasPrefix(e.Name(), ".") && path != "." || e.Name() == "testdata" || e.Name() == "node_modules") {
			return filepath.SkipDir
		}
		if strings.HasSuffix(path, ".go") {
			return d.read(path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func (d *declared) read(path string) error {
	files := token.NewFileSet()
	f, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	if strings.HasSuffix(path, "_test.go") {
		d.parsed++
		d.declares(filepath.ToSlash(filepath.Dir(path)), f)
	}
	ast.Inspect(f, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			if sel, ok := call.Fun.(*ast.SelectorExpr); ok && skippy[sel.Sel.Name] {
				d.skips = append(d.skips, files.Position(call.Pos()).String())
			}
		}
		return true
	})
	return nil
}

func (d *declared) declares(dir string, f *ast.File) {
	if d.inDir[dir] == nil {
		d.inDir[dir] = map[string]bool{}
	}
	for _, decl := range f.Decls {
		fn, ok := decl.(*ast.FuncDecl)
		if ok && fn.Recv == nil && (strings.HasPrefix(fn.Name.Name, "Test") || strings.HasPrefix(fn.Name.Name, "Fuzz")) {
			d.inDir[dir][fn.Name.Name] = true
			d.named[fn.Name.Name] = append(d.named[fn.Name.Name], dir)
		}
	}
}

// TestGuardsCoverEveryAmendment: the index of protocol.md is the list.
func TestGuardsCoverEveryAmendment(t *testing.T) {
	amendments := regexp.MustCompile(`(?m)^\| 3B\.(\d+) `)
	numbers := func(name string) (list []string) {
		text, err := os.ReadFile(filepath.Join("docs", name))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range amendments.FindAllStringSubmatch(string(text), -1) {
			list = append(list, m[1])
		}
		return list
	}
	index, guarded := numbers("protocol.md"), numbers("guards.md")
	if len(index) < 27 {
		t.Fatalf("the index has only %d amendments", len(index))
	}
	for i, n := range index {
		if n != strconv.Itoa(i+1) || !slices.Contains(guarded, n) {
			t.Errorf("3B.%s is out of order, or no test of guards.md guards it", n)
		}
	}
}
