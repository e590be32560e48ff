package web

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"path"
	"strings"
)

//go:embed files
var files embed.FS

// served are the kinds of files that pages may ask for.
var served = map[string]string{".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml"}

// ErrNoAsset: no page asks for a file of that name. Nothing was written.
var ErrNoAsset = errors.New("web: no such file")

// asset is a file as it is sent: packed once, and named by what is in it.
type asset struct {
	kind, version string
	plain, packed []byte
}

var assets = func() map[string]asset {
	list, err := files.ReadDir("files")
	if err != nil {
		panic(err) // at start, and only if nothing was embedded
	}
	m := make(map[string]asset)
	for _, f := range list {
		if kind := served[path.Ext(f.Name())]; kind != "" {
			body, err := files.ReadFile("files/" + f.Name())
			if err != nil {
				panic(err) // it was listed
			}
			m[f.Name()] = newAsset(kind, body)
		}
	}
	return m
}()

func newAsset(kind string, body []byte) asset {
	var b bytes.Buffer
	z, _ := gzip.NewWriterLevel(&b, gzip.BestCompression) // the level is one of its own
	_, _ = z.Write(body)                                  // into memory
	_ = z.Close()
	sum := sha256.Sum256(body)
	return asset{kind: kind, version: hex.EncodeToString(sum[:6]), plain: body, packed: b.Bytes()}
}

// address is where pages find a file. It changes with the file, so that browsers
// and edges may keep it for ever.
func address(name string) (string, error) {
	a, ok := assets[name]
	if !ok {
		return "", fmt.Errorf("%w: %s", ErrNoAsset, name)
	}
	return "/assets/" + name + "?v=" + a.version, nil
}

// Asset answers with an embedded file, packed where the client takes that, or
// returns ErrNoAsset.
func Asset(w http.ResponseWriter, r *http.Request, name string) error {
	a, ok := assets[name]
	if !ok {
		return ErrNoAsset
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
	if takesGzip(r) {
		h.Set("Content-Encoding", "gzip")
		body = a.packed
	}
	_, err := w.Write(body)
	return err
}

// takesGzip reads Accept-Encoding; a client that gives gzip the weight 0 does
// not want it.
func takesGzip(r *http.Request) bool {
	for _, part := range strings.Split(r.Header.Get("Accept-Encoding"), ",") {
		coding, params, err := mime.ParseMediaType("x/" + strings.TrimSpace(part))
		if err == nil && coding == "x/gzip" {
			return strings.Trim(params["q"], "0.") != "" || params["q"] == ""
		}
	}
	return false
}
