package ingress

import (
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/holdfast/holdfast/ingress/limit"
)

// overLimit takes a token of a limit.
func (in *Ingress) overLimit(b *limit.Buckets, name, key string, now time.Time) (after time.Duration, limited bool) {
	ok, after := b.Allow(key, now)
	if !ok {
		in.metrics.limited.WithLabelValues(name).Inc()
	}
	return after, !ok
}

// overClientLimit takes a token of the client's limit. The address is written
// into the caller's stack: it is needed for this one question.
func (in *Ingress) overClientLimit(r *http.Request, now time.Time) (after time.Duration, limited bool) {
	var text [48]byte
	return in.overLimit(in.byIP, "client", string(in.client.AppendKey(text[:0], r)), now)
}

// limitClient is for the other endpoints that cost a read somewhere.
func (in *Ingress) limitClient(c echo.Context) error {
	if after, limited := in.overLimit(in.reads, "reads", in.client.Key(c.Request()), in.Now()); limited {
		return tooMany(after)
	}
	return nil
}
