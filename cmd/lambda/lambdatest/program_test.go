//go:build lambda

package lambdatest_test

import (
	"archive/zip"
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/holdfast/holdfast/cmd/lambda/lambdatest"
)

// bootstrap is the path of the program out of the zip that pack makes.
var bootstrap string

// TestMain packs the function for this machine, once, and takes the program
// out of the zip.
func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "holdfast-lambda-")
	if err == nil {
		err = unpack(dir)
	}
	if err != nil {
		os.Stderr.WriteString(err.Error() + "\n")
		os.Exit(1)
	}
	code := m.Run()
	_ = os.RemoveAll(dir) // a temporary folder
	os.Exit(code)
}

func unpack(dir string) error {
	cmd := exec.Command("go", "run", "github.com/holdfast/holdfast/cmd/lambda/pack", "-arch", runtime.GOARCH, "-out", dir)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		return err
	}
	zips, err := filepath.Glob(filepath.Join(dir, "lambda-"+runtime.GOARCH+"-*.zip"))
	if err != nil {
		return err
	}
	z, err := zip.OpenReader(zips[0])
	if err != nil {
		return err
	}
	defer z.Close()
	f, err := z.File[0].Open()
	if err != nil {
		return err
	}
	defer f.Close()
	bootstrap = filepath.Join(dir, z.File[0].Name)
	out, err := os.OpenFile(bootstrap, os.O_CREATE|os.O_WRONLY, z.File[0].Mode())
	if err != nil {
		return err
	}
	if _, err := io.Copy(out, f); err != nil {
		return err
	}
	return out.Close()
}

// instance is one running function.
type instance struct {
	*lambdatest.Runtime
	cmd    *exec.Cmd
	ended  chan struct{}
	stdout *output
	cold   time.Duration
}

// output may be read while the process writes.
type output struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.String()
}

// launch starts the function name with env and waits for the end of its cold
// start. It is killed when the test ends, as Lambda kills an instance.
func launch(t *testing.T, name string, env map[string]string) *instance {
	t.Helper()
	r, err := lambdatest.Start()
	if err != nil {
		t.Fatal(err)
	}
	f := &instance{Runtime: r, cmd: exec.Command(bootstrap), ended: make(chan struct{}), stdout: &output{}}
	f.cmd.Env = []string{"AWS_LAMBDA_RUNTIME_API=" + r.Addr(), "AWS_LAMBDA_FUNCTION_NAME=holdfast-" + name, "HOLDFAST_FUNCTION=" + name}
	for k, v := range env {
		f.cmd.Env = append(f.cmd.Env, k+"="+v)
	}
	stderr := &output{}
	f.cmd.Stdout, f.cmd.Stderr = f.stdout, stderr
	began := time.Now()
	if err := f.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = f.cmd.Wait() // it is killed in the end
		close(f.ended)
	}()
	t.Cleanup(func() {
		_ = f.cmd.Process.Signal(syscall.SIGKILL) // it may have ended
		<-f.ended
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		if t.Failed() {
			t.Logf("the function's log:\n%s", stderr.String())
		}
	})
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	if err := r.Warm(ctx); err != nil {
		t.Fatal(err)
	}
	f.cold = time.Since(began)
	return f
}
