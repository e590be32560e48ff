package holdfast_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// A table that names a test which is gone guards nothing.
func TestGuardsNameTestsThatExist(t *testing.T) {
	table, err := os.ReadFile(filepath.Join("docs", "guards.md"))
	if err != nil {
		t.Fatal(err)
	}
	sources := map[string]string{}
	named := regexp.MustCompile("`([a-z/]+)\\.(Test[A-Za-z0-9_]+)`").FindAllStringSubmatch(string(table), -1)
	if len(named) < 100 {
		t.Fatalf("only %d tests are named: has the table another form?", len(named))
	}
	for _, n := range named {
		dir, test := n[1], n[2]
		if _, read := sources[dir]; !read {
			sources[dir] = testsOf(t, dir)
		}
		if !strings.Contains(sources[dir], "\nfunc "+test+"(t *testing.T)") {
			t.Errorf("guards.md names %s.%s, which does not exist", dir, test)
		}
	}
}

func TestGuardsCoverEveryAmendment(t *testing.T) {
	table, err := os.ReadFile(filepath.Join("docs", "guards.md"))
	if err != nil {
		t.Fatal(err)
	}
	protocol, err := os.ReadFile(filepath.Join("docs", "protocol.md"))
	if err != nil {
		t.Fatal(err)
	}
	amendments := regexp.MustCompile(`(?m)^\| 3B\.(\d+) `)
	guarded := map[string]bool{}
	for _, m := range amendments.FindAllStringSubmatch(string(table), -1) {
		guarded[m[1]] = true
	}
	index := amendments.FindAllStringSubmatch(string(protocol), -1)
	if len(index) < 27 {
		t.Fatalf("the index has only %d amendments", len(index))
	}
	for i, m := range index {
		if m[1] != strconv.Itoa(i+1) || !guarded[m[1]] {
			t.Errorf("3B.%s is out of order, or no test of guards.md guards it", m[1])
		}
	}
}

// testsOf is the text of a folder's test files.
func testsOf(t *testing.T, dir string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(filepath.FromSlash(dir), "*_test.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s has no tests: %v", dir, err)
	}
	var all strings.Builder
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(data)
	}
	return all.String()
}
