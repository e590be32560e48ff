package cli

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestFilesByAddress is an operator's day in a task that has no files: what is
// sold and to whom come from presigned addresses, which no message repeats.
func TestFilesByAddress(t *testing.T) {
	const secret = "X-Amz-Signature=5ec2e7"
	bucket := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		content := map[string]string{"/exam.yaml": examFile, "/roster.csv": examRoster, "/no-sale.yaml": "levels: 3"}[r.URL.Path]
		if content == "" || r.URL.RawQuery != secret {
			http.Error(w, "expired", http.StatusForbidden)
			return
		}
		_, _ = w.Write([]byte(content)) // who went away is seen by the command
	}))
	t.Cleanup(bucket.Close)
	x := newTown(t)
	x.web = bucket.Client()
	at := func(name string) string { return bucket.URL + "/" + name + "?" + secret }
	if out := x.done("sale", "apply", at("exam.yaml")); !strings.Contains(out, "exam") {
		t.Error(out)
	}
	rows := x.run("roster", "import", "exam", at("roster.csv"))
	if rows.code != exitDone || !strings.Contains(rows.out, "2 candidates; 2 added") {
		t.Errorf("%+v", rows)
	}
	if out := x.run("export", "exam", "--roster", at("roster.csv")); out.code != exitDone || !strings.Contains(out.out, "email") {
		t.Errorf("%+v", out)
	}
	gone := strings.TrimPrefix(bucket.URL, "https://")
	for address, want := range map[string]string{
		at("gone.yaml"):                     "403 Forbidden: a presigned address ends after a while",
		at("no-sale.yaml"):                  "/no-sale.yaml: ",
		"https://" + gone + "%zz?" + secret: "no address",
		"https://127.0.0.1:1/x?" + secret:   "/x: ",
	} {
		for _, act := range [][]string{{"sale", "apply", address}, {"roster", "import", "exam", address, "--dry-run"}} {
			if act[0] == "roster" && strings.Contains(address, "no-sale") {
				continue
			}
			if text := x.fails(exitRefused, act...); !strings.Contains(text, want) || strings.Contains(text, secret) {
				t.Errorf("%v: %s", act[:2], text)
			}
		}
	}
}

// TestFilesByAddressAreWhole: of a file that is too large nothing is used.
func TestFilesByAddressAreWhole(t *testing.T) {
	bucket := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		line := []byte(strings.Repeat("#", 1<<20))
		for range maxSource>>20 + 1 {
			if _, err := w.Write(line); err != nil {
				return
			}
		}
	}))
	t.Cleanup(bucket.Close)
	x := newTown(t)
	x.web = bucket.Client()
	if text := x.fails(exitRefused, "sale", "apply", bucket.URL+"/large.yaml"); !strings.Contains(text, "over 64 MB") {
		t.Error(text)
	}
}
