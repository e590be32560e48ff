package console

import (
	"errors"
	"io"
	"net/http"
	"os"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/holdfast/holdfast/sale"
)

const (
	maxRoster = 64 << 20
	importFor = 10 * time.Minute
)

// importRoster is POST .../roster with the file as the body, as it is. It is
// kept in a private file while it is imported, because an import reads it twice.
func (c *Console) importRoster(e echo.Context) error {
	id, q := e.Param("sale"), e.QueryParams()
	if !sale.ValidName(id) {
		return echo.ErrNotFound
	}
	o := ImportOptions{DryRun: q.Get("dry_run") == "true", Add: q.Get("add") == "true"}
	reason := q.Get("reason")
	if o.DryRun {
		reason = "dry run"
	}
	who, err := by(e.Request(), reason)
	if err != nil {
		return err
	}
	patient(e.Response(), importFor)
	path, err := spool(e.Response(), e.Request())
	if err != nil {
		return err
	}
	defer os.Remove(path)
	ctx, cancel := within(e, importFor)
	defer cancel()
	report, err := c.Desk.ImportRoster(ctx, id, func() (io.ReadCloser, error) { return os.Open(path) }, o, who)
	if err != nil {
		return err
	}
	return e.JSON(http.StatusOK, report)
}

func spool(w http.ResponseWriter, r *http.Request) (string, error) {
	f, err := os.CreateTemp("", "holdfast-roster-") // readable by this user alone
	if err != nil {
		return "", err
	}
	_, err = io.Copy(f, http.MaxBytesReader(w, r.Body, maxRoster))
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		return f.Name(), nil
	}
	_ = os.Remove(f.Name()) // the first error tells more
	var large *http.MaxBytesError
	if errors.As(err, &large) {
		err = invalid("the file is larger than 64 MB: import it with the command line")
	}
	return "", err
}
