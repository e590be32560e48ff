package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestReport writes a signed report and verifies it as an auditor does, who has
// the public key and nothing else.
func TestReport(t *testing.T) {
	x := newTown(t)
	x.paid("c1", "N2")
	words := strings.Fields(x.done("report", "keygen"))
	seed, public := words[1], ""
	for i, w := range words {
		if w == "public" {
			public = words[i+1]
		}
	}
	path := filepath.Join(t.TempDir(), "spring.html")
	unsigned := x.run("report", "spring", "--out", path)
	if unsigned.code != exitDone || !strings.Contains(unsigned.err, "not signed: set HOLDFAST_REPORT_KEY") {
		t.Errorf("%+v", unsigned)
	}
	x.fails(exitRefused, "report", "verify", path, "--key", public)

	x.env["HOLDFAST_REPORT_KEY"] = seed
	x.done("report", "spring", "--out", path, "--as", "rina")
	if out := x.done("report", "key"); strings.TrimSpace(out) != public {
		t.Errorf("the key's public half is %q, not %q", out, public)
	}
	delete(x.env, "HOLDFAST_REPORT_KEY")
	if out := x.done("report", "verify", path, "--key", public); !strings.Contains(out, "genuine: sale spring") || !strings.Contains(out, "by rina; 1 seats paid; everything holds") {
		t.Errorf("%s", out)
	}
	if r := x.fails(exitUsage, "report", "verify", path); !strings.Contains(r, "--key is missing") {
		t.Error(r)
	}
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	x.stdin = strings.Replace(string(page), "by rina", "by nina", 1)
	if r := x.fails(exitRefused, "report", "verify", "-", "--key", public); !strings.Contains(r, "changed after it was signed") {
		t.Error(r)
	}
	if out := x.done("report", "spring", "--json"); !strings.Contains(out, `"paid": 1`) {
		t.Errorf("%s", out)
	}
	x.broken = true
	if r := x.run("report", "spring", "--json"); r.code != exitRefused || !strings.Contains(r.err, "not everything holds") {
		t.Errorf("%+v", r)
	}
}
