package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// nextBuild begins to make Holdfast, and returns what waits for the program. It
// is Holdfast as it would be after a change of every script and of
// the envelope of events: other hashes in Redis, and events that the present
// build does not read. It is this very source, with these files overlaid.
func nextBuild(t *testing.T) (wait func() string) {
	t.Helper()
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	dir, replace := t.TempDir(), map[string]string{}
	change := func(path string, edit func([]byte) []byte) {
		t.Helper()
		before, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		after := edit(before)
		if bytes.Equal(before, after) {
			t.Fatalf("%s is the same in the next build: this test would prove nothing", path)
		}
		replace[path] = filepath.Join(dir, filepath.Base(path))
		if err := os.WriteFile(replace[path], after, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	scripts, err := filepath.Glob(filepath.Join(root, "admission/redis/lua/*.lua"))
	if err != nil || len(scripts) < 10 {
		t.Fatalf("%d scripts, %v", len(scripts), err)
	}
	for _, s := range scripts {
		change(s, func(b []byte) []byte { return append(b, "\n-- the next build\n"...) })
	}
	change(filepath.Join(root, "events/events.go"), func(b []byte) []byte {
		return bytes.Replace(b, []byte("\nconst Version = 1\n"), []byte("\nconst Version = 2\n"), 1)
	})
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "overlay.json"), overlay, 0o600); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "holdfast-next")
	args := append([]string{"build", "-overlay", filepath.Join(dir, "overlay.json"), "-o", program}, buildFlags...)
	cmd := exec.CommandContext(t.Context(), "go", append(args, "./cmd/holdfast")...)
	cmd.Dir = root
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	return func() string {
		t.Helper()
		if err := <-done; err != nil {
			t.Fatalf("build the next version: %v\n%s", err, said.String())
		}
		return program
	}
}
