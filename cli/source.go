package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"
)

const (
	maxSource = 64 << 20    // a million candidates, not packed
	sourceFor = time.Minute // what a whole file may take
)

// source opens what a command reads: a path, "-" for standard input, or an https
// address. A command that runs as a task in a cloud has no files: it is given a
// presigned address of a bucket. What comes from there is read whole, at most
// maxSource, before anybody acts on a part of it.
func (a *app) source(ctx context.Context, path string) (io.ReadCloser, error) {
	switch {
	case path == "-":
		return io.NopCloser(a.stdin), nil
	case !isAddress(path):
		return os.Open(path)
	}
	content, err := a.fetch(ctx, path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", sourceName(path), err)
	}
	return io.NopCloser(bytes.NewReader(content)), nil
}

func isAddress(path string) bool { return strings.HasPrefix(path, "https://") }

// sourceName is a path for people. What follows the ? of a presigned address lets
// anybody read it, and belongs in no message.
func sourceName(path string) string {
	if isAddress(path) {
		path, _, _ = strings.Cut(path, "?")
	}
	return path
}

func (a *app) fetch(ctx context.Context, address string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, sourceFor)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, errors.New("this is no address")
	}
	resp, err := a.web.Do(r)
	if err != nil {
		var whole *url.Error // repeats the address
		if errors.As(err, &whole) {
			err = whole.Err
		}
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the answer is %s: a presigned address ends after a while, make another one", resp.Status)
	}
	content, err := io.ReadAll(io.LimitReader(resp.Body, maxSource+1))
	if err == nil && len(content) > maxSource {
		err = fmt.Errorf("it is over %d MB", maxSource>>20)
	}
	return content, err
}
