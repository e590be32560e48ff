package web

import (
	"embed"
	"net/http"

	"github.com/holdfast/holdfast/ingress/static"
)

//go:embed files
var files embed.FS

var assets = static.Must(files, "/assets/")

// ErrNoAsset: no page asks for a file of that name. Nothing was written.
var ErrNoAsset = static.ErrNotFound

// Asset answers with an embedded file, or returns ErrNoAsset.
func Asset(w http.ResponseWriter, r *http.Request, name string) error {
	return assets.Serve(w, r, name)
}
