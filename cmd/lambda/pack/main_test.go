package main

import (
	"archive/zip"
	"bytes"
	"io"
	"testing"
)

func TestZipIsTheSameEachTimeAndRuns(t *testing.T) {
	program := bytes.Repeat([]byte("program"), 1000)
	var first, second bytes.Buffer
	for _, w := range []io.Writer{&first, &second} {
		if err := pack(w, program); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(first.Bytes(), second.Bytes()) {
		t.Error("two zips of one program differ")
	}
	z, err := zip.NewReader(bytes.NewReader(first.Bytes()), int64(first.Len()))
	if err != nil {
		t.Fatal(err)
	}
	if len(z.File) != 1 || z.File[0].Name != "bootstrap" || z.File[0].Mode().Perm() != 0o755 {
		t.Fatalf("the zip holds %+v", z.File)
	}
	f, err := z.File[0].Open()
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if got, err := io.ReadAll(f); err != nil || !bytes.Equal(got, program) {
		t.Fatalf("another program came out: %v", err)
	}
}
