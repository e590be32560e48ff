// Command pack builds the Lambda function of one architecture and writes it as
// a zip whose bytes depend on the source and the toolchain alone, so that a
// build that changed nothing changes no key and deploys nothing.
//
//	go run ./cmd/lambda/pack [-arch arm64] [-out dist]
package main

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"context"
	"crypto/sha256"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "pack:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("pack", flag.ContinueOnError)
	arch := flags.String("arch", "arm64", "arm64, which the stack deploys, or amd64")
	dir := flags.String("out", "dist", "folder of the zip")
	if err := flags.Parse(args); err != nil {
		return err
	}
	binary, err := build(ctx, *arch)
	if err != nil {
		return err
	}
	var packed bytes.Buffer
	if err := pack(&packed, binary); err != nil {
		return err
	}
	if err := os.MkdirAll(*dir, 0o755); err != nil {
		return err
	}
	sum := sha256.Sum256(packed.Bytes())
	path := filepath.Join(*dir, fmt.Sprintf("lambda-%s-%x.zip", *arch, sum[:6]))
	if err := os.WriteFile(path, packed.Bytes(), 0o644); err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "%s  %.1f MB zipped, %.1f MB unzipped\n", path, mb(packed.Len()), mb(len(binary)))
	return err
}

// build returns the program as Lambda starts it. The RPC mode of the old Go
// runtime is left out, and so are symbols: start-up reads the whole file.
func build(ctx context.Context, arch string) ([]byte, error) {
	dir, err := os.MkdirTemp("", "holdfast-lambda-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "bootstrap")
	cmd := exec.CommandContext(ctx, "go", "build", "-tags", "lambda.norpc", "-trimpath", "-ldflags", "-s -w -buildid=", "-o", path, "github.com/holdfast/holdfast/cmd/lambda")
	cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH="+arch, "CGO_ENABLED=0")
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("build the function for %s: %w", arch, err)
	}
	return os.ReadFile(path)
}

// pack writes the zip: one file named bootstrap, which anybody may run, from
// the first day that the format knows.
func pack(w io.Writer, binary []byte) error {
	z := zip.NewWriter(w)
	z.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) { return flate.NewWriter(w, flate.BestCompression) })
	h := &zip.FileHeader{Name: "bootstrap", Method: zip.Deflate, Modified: time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)}
	h.SetMode(0o755)
	f, err := z.CreateHeader(h)
	if err != nil {
		return err
	}
	if _, err := f.Write(binary); err != nil {
		return err
	}
	return z.Close()
}

func mb(n int) float64 { return float64(n) / (1 << 20) }
