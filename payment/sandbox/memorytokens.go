package sandbox

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/holdfast/holdfast/payment"
)

// DefaultGrantsPerHour is the budget of a token store (protocol.md 2.1).
const DefaultGrantsPerHour = 2

// ErrLeaseLost is StoreToken's answer to a holder whose lease has run out or
// went to another.
var ErrLeaseLost = errors.New("sandbox gateway: the token lease was lost; read the shared token again")

// MemoryTokens is a payment.TokenStore for tests and for a fleet of one process.
type MemoryTokens struct {
	now    func() time.Time
	budget int

	mu       sync.Mutex
	gateways map[string]*memoryToken
}

type memoryToken struct {
	token               string
	issuedAt, expiresAt time.Time
	holder              string
	leaseUntil          time.Time
	grants              []time.Time // of the last hour
}

var _ payment.TokenStore = (*MemoryTokens)(nil)

// NewMemoryTokens returns an empty store. now may be nil (time.Now);
// grantsPerHour may be zero (DefaultGrantsPerHour).
func NewMemoryTokens(now func() time.Time, grantsPerHour int) *MemoryTokens {
	if now == nil {
		now = time.Now
	}
	if grantsPerHour <= 0 {
		grantsPerHour = DefaultGrantsPerHour
	}
	return &MemoryTokens{now: now, budget: grantsPerHour, gateways: map[string]*memoryToken{}}
}

func (m *MemoryTokens) gateway(name string) *memoryToken {
	g := m.gateways[name]
	if g == nil {
		g = &memoryToken{}
		m.gateways[name] = g
	}
	return g
}

// Token returns the shared token, or payment.ErrNotFound.
func (m *MemoryTokens) Token(_ context.Context, gateway string) (string, time.Time, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	g := m.gateway(gateway)
	if g.token == "" || !m.now().Before(g.expiresAt) {
		return "", time.Time{}, payment.ErrNotFound
	}
	return g.token, g.issuedAt, nil
}

// AcquireTokenLease gives the lease to one holder and charges the budget. The
// lease ends by time only.
func (m *MemoryTokens) AcquireTokenLease(_ context.Context, gateway, holder string, lease time.Duration) (bool, int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now, g := m.now(), m.gateway(gateway)
	for len(g.grants) > 0 && now.Sub(g.grants[0]) >= time.Hour {
		g.grants = g.grants[1:]
	}
	left := m.budget - len(g.grants)
	if left <= 0 || (now.Before(g.leaseUntil)) {
		return false, left, nil
	}
	g.grants = append(g.grants, now)
	g.holder, g.leaseUntil = holder, now.Add(lease)
	return true, left - 1, nil
}

// StoreToken shares the holder's new token; ErrLeaseLost if its lease is over.
// The lease goes on: whoever looked before this must not get it and be charged.
func (m *MemoryTokens) StoreToken(_ context.Context, gateway, holder, token string, ttl time.Duration) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	now, g := m.now(), m.gateway(gateway)
	if g.holder != holder || !now.Before(g.leaseUntil) {
		return ErrLeaseLost
	}
	g.token, g.issuedAt, g.expiresAt = token, now, now.Add(ttl)
	return nil
}
