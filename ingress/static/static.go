// Package static serves embedded files: packed once, and named by what is in
// them, so that browsers and edges may keep them for ever.
package static

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strings"
)

// kinds are the files that pages may ask for; others are never served.
var kinds = map[string]string{".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml"}

// ErrNotFound: no page asks for a file of that name. Nothing was written.
var ErrNotFound = errors.New("static: no such file")

type file struct {
	kind, version string
	plain, packed []byte
}

// Files are served under one address. They never change, so any number of
// goroutines may use them.
type Files struct {
	base string // such as /assets/
	all  map[string]file
}

// New reads the styles, scripts and pictures in the folder files of fsys.
func New(fsys fs.FS, base string) (*Files, error) {
	list, err := fs.ReadDir(fsys, "files")
	if err != nil {
		return nil, fmt.Errorf("static: %w", err)
	}
	f := &Files{base: base, all: make(map[string]file)}
	for _, entry := range list {
		kind := kinds[path.Ext(entry.Name())]
		if kind == "" {
			continue
		}
		body, err := fs.ReadFile(fsys, "files/"+entry.Name())
		if err != nil {
			return nil, fmt.Errorf("static: %w", err)
		}
		f.all[entry.Name()] = pack(kind, body)
	}
	return f, nil
}

// Must is New for files that are embedded.
func Must(fsys fs.FS, base string) *Files {
	f, err := New(fsys, base)
	if err != nil {
		panic(err) // at start, and only if nothing was embedded
	}
	return f
}

func pack(kind string, body []byte) file {
	var b bytes.Buffer
	z, _ := gzip.NewWriterLevel(&b, gzip.BestCompression) // the level is one of its own
	_, _ = z.Write(body)                                  // into memory
	_ = z.Close()
	sum := sha256.Sum256(body)
	return file{kind: kind, version: hex.EncodeToString(sum[:6]), plain: body, packed: b.Bytes()}
}

// Address is where pages find a file. It changes with the file.
func (f *Files) Address(name string) (string, error) {
	a, ok := f.all[name]
	if !ok {
		return "", fmt.Errorf("%w: %s", ErrNotFound, name)
	}
	return f.base + name + "?v=" + a.version, nil
}

// Serve answers with a file, packed where the client takes that, or returns
// ErrNotFound.
func (f *Files) Serve(w http.ResponseWriter, r *http.Request, name string) error {
	a, ok := f.all[name]
	if !ok {
		return ErrNotFound
	}
	h := w.Header()
	h.Set("Content-Type", a.kind)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Vary", "Accept-Encoding")
	h.Set("Cache-Control", "public, max-age=300")
	if r.URL.Query().Get("v") == a.version {
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	body := a.plain
	if TakesGzip(r) {
		h.Set("Content-Encoding", "gzip")
		body = a.packed
	}
	_, err := w.Write(body)
	return err
}

// TakesGzip reads Accept-Encoding; a client that gives gzip the weight 0 does
// not want it.
func TakesGzip(r *http.Request) bool {
	for _, part := range strings.Split(r.Header.Get("Accept-Encoding"), ",") {
		coding, params, err := mime.ParseMediaType("x/" + strings.TrimSpace(part))
		if err == nil && coding == "x/gzip" {
			return params["q"] == "" || strings.Trim(params["q"], "0.") != ""
		}
	}
	return false
}
