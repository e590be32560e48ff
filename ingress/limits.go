package ingress

import (
	"time"

	"github.com/labstack/echo/v4"

	"github.com/holdfast/holdfast/ingress/limit"
)

// overLimit takes a token of a limit.
func (in *Ingress) overLimit(b *limit.Buckets, name, key string) (after time.Duration, limited bool) {
	ok, after := b.Allow(key, in.Now())
	if !ok {
		in.metrics.limited.WithLabelValues(name).Inc()
	}
	return after, !ok
}

// limitClient is for the other endpoints that cost a read somewhere.
func (in *Ingress) limitClient(c echo.Context) error {
	if after, limited := in.overLimit(in.reads, "reads", in.client.Key(c.Request())); limited {
		return tooMany(after)
	}
	return nil
}
