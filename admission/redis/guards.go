package redis

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/holdfast/holdfast/admission"
)

// AcquireExecute gives one caller the right to execute a payment (protocol.md
// 2.2.4). False: somebody has it, ask the gateway what came of it. A second call
// of the same holder is another caller. The right is worth nothing unless the
// replicas have it: then it is ErrUnacknowledged, and the guard is let go.
func (s *Store) AcquireExecute(ctx context.Context, sale, paymentID, holder string, ttl time.Duration) (bool, error) {
	var c check
	c.names(sale, holder)
	c.ok(validPayment(paymentID), "payment id", paymentID)
	c.ok(ttl >= time.Millisecond, "life", ttl.String())
	if c.err != nil {
		return false, c.err
	}
	key, caller := saleKeys(sale).execute(paymentID), rand.Text()
	var got bool
	err := s.retry(ctx, key, func(ctx context.Context, conn *goredis.Conn) error {
		var err error
		if got, err = yes(executeAcquireScript.run(ctx, conn, []string{key}, holder, caller, ttl.Milliseconds())); err != nil || !got {
			return err
		}
		return s.mustAcknowledge(ctx, conn)
	})
	if err != nil && got {
		ctx, cancel := detached(ctx)
		defer cancel()
		_, end := s.endExecute(ctx, sale, paymentID, holder, 0)
		return false, errors.Join(err, end)
	}
	return got && err == nil, err
}

// ExtendExecute gives the guard of this holder a new life. False: it is not its
// guard any more.
func (s *Store) ExtendExecute(ctx context.Context, sale, paymentID, holder string, ttl time.Duration) (bool, error) {
	if ttl < time.Millisecond {
		return false, fmt.Errorf("%w: life %v", admission.ErrInvalid, ttl)
	}
	return s.endExecute(ctx, sale, paymentID, holder, ttl)
}

// ReleaseExecute lets the guard go, once it is known what came of the payment.
// A guard that is gone, or another holder's, is left alone.
func (s *Store) ReleaseExecute(ctx context.Context, sale, paymentID, holder string) error {
	_, err := s.endExecute(ctx, sale, paymentID, holder, 0)
	return err
}

func (s *Store) endExecute(ctx context.Context, sale, paymentID, holder string, ttl time.Duration) (done bool, err error) {
	var c check
	c.names(sale, holder)
	c.ok(validPayment(paymentID), "payment id", paymentID)
	if c.err != nil {
		return false, c.err
	}
	key := saleKeys(sale).execute(paymentID)
	err = s.retry(ctx, key, func(ctx context.Context, conn *goredis.Conn) error {
		var err error
		done, err = yes(executeEndScript.run(ctx, conn, []string{key}, holder, ttl.Milliseconds()))
		return err
	})
	return done, err
}

// yes reads an answer of 1 or 0.
func yes(raw any, err error) (bool, error) {
	if err != nil {
		return false, err
	}
	n, ok := raw.(int64)
	if !ok || n < 0 || n > 1 {
		return false, malformed("unknown answer %v, want 0 or 1", raw)
	}
	return n == 1, nil
}
