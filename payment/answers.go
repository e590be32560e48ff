package payment

import (
	"context"
	"errors"
)

// nobodys is an id that no gateway has given out.
const nobodys = "holdfast-is-anybody-there"

// Answers asks the gateway about a payment that does not exist: "not found" is
// an answer, and it takes our credentials to get it. nil means that the gateway
// is there and knows us; nothing is created or changed.
func Answers(ctx context.Context, g Gateway) error {
	if _, err := g.Query(ctx, nobodys); err != nil && !errors.Is(err, ErrNotFound) {
		return err
	}
	return nil
}
