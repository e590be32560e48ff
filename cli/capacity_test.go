package cli

import (
	"os"
	"strings"
	"testing"
)

// TestCapacityDocumentIsWhatIsPrinted: every line of both sizes stands in
// docs/capacity.md.
func TestCapacityDocumentIsWhatIsPrinted(t *testing.T) {
	doc, err := os.ReadFile("../docs/capacity.md")
	if err != nil {
		t.Fatal(err)
	}
	x := newTown(t)
	for _, size := range []string{"small", "large"} {
		for _, line := range strings.Split(strings.TrimSpace(x.done("capacity", "--size", size)), "\n") {
			if !strings.Contains(string(doc), line) {
				t.Errorf("docs/capacity.md does not have %q: run holdfast capacity --size %s", line, size)
			}
		}
	}
}
