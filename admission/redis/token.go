package redis

import (
	"context"
	"errors"
	"fmt"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/holdfast/holdfast/admission"
)

// A gateway allows two grants an hour and then shuts us out for one (protocol.md
// 2.1); the budget is kept in the script that gives the lease.
const (
	grantBudget = 2
	grantWindow = time.Hour
)

// ErrLeaseLost says that the token's lease is not this holder's (any more).
var ErrLeaseLost = errors.New("redis: the token lease is not held: read the token again")

// Token returns the fleet's token for the gateway and when it was issued. None,
// or one whose life has passed by Redis TIME, is admission.ErrNotFound.
func (s *Store) Token(ctx context.Context, gateway string) (token string, issuedAt time.Time, err error) {
	if !word(gateway, maxName) {
		return "", time.Time{}, fmt.Errorf("%w: gateway %q", admission.ErrInvalid, gateway)
	}
	key := tokenKey(gateway)
	err = s.retry(ctx, key, func(ctx context.Context, c *goredis.Conn) error {
		raw, err := tokenGetScript.run(ctx, c, []string{key})
		if err != nil {
			return err
		}
		p := newReply("token_get", raw)
		token, issuedAt = p.str(), fromMillis(p.num())
		return p.end()
	})
	if errors.Is(err, goredis.Nil) {
		return "", time.Time{}, admission.ErrNotFound
	}
	return token, issuedAt, err
}

// AcquireTokenLease asks to be the one who gets a new token. Granted counts as
// one of the grants that the gateway allows, and grantsLeft are those that remain
// in the running hour. Asked again by the holder of a running lease, it is granted
// and not counted again. It waits for the replicas: a budget that a failover
// forgets would be no budget.
func (s *Store) AcquireTokenLease(ctx context.Context, gateway, holder string, lease time.Duration) (granted bool, grantsLeft int, err error) {
	var c check
	c.ok(word(gateway, maxName), "gateway", gateway)
	c.ok(word(holder, maxHash), "holder", holder)
	c.ok(lease >= time.Millisecond, "lease", lease.String())
	if c.err != nil {
		return false, 0, c.err
	}
	key := tokenKey(gateway)
	err = s.retry(ctx, key, func(ctx context.Context, conn *goredis.Conn) error {
		raw, err := tokenLeaseScript.run(ctx, conn, []string{key}, holder, lease.Milliseconds(), grantBudget, grantWindow.Milliseconds())
		if err != nil {
			return err
		}
		p := newReply("token_lease", raw)
		granted, grantsLeft = p.num() == 1, int(p.num())
		if err := p.end(); err != nil || !granted {
			return err
		}
		return s.mustAcknowledge(ctx, conn)
	})
	if err != nil {
		return false, 0, err
	}
	return granted, grantsLeft, nil
}

// StoreToken puts the holder's new token where the whole fleet reads it, for
// ttl, and gives the lease back. Without the lease it is ErrLeaseLost.
func (s *Store) StoreToken(ctx context.Context, gateway, holder, token string, ttl time.Duration) error {
	var c check
	c.ok(word(gateway, maxName), "gateway", gateway)
	c.ok(word(holder, maxHash), "holder", holder)
	c.ok(ttl >= time.Millisecond, "life", ttl.String())
	c.ok(token != "", "token", "")
	if c.err != nil {
		return c.err
	}
	key := tokenKey(gateway)
	var stored bool
	err := s.retry(ctx, key, func(ctx context.Context, conn *goredis.Conn) error {
		var err error
		stored, err = yes(tokenStoreScript.run(ctx, conn, []string{key}, holder, token, ttl.Milliseconds()))
		return err
	})
	if err == nil && !stored {
		return ErrLeaseLost
	}
	return err
}
