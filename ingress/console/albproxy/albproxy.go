// Package albproxy knows operators whom an AWS Application Load Balancer has
// authenticated against an OpenID Connect provider. The load balancer puts what
// it learnt into a header, as a JWT that it signs with a key of its own; anybody
// else can send such a header, and is refused for want of that signature.
package albproxy

import (
	"crypto/ecdsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

// Header carries the load balancer's word.
const Header = "X-Amzn-Oidc-Data"

const (
	maxKey   = 4 << 10
	keysKept = 16 // load balancers change theirs rarely
	slack    = 30 * time.Second
)

// Proxy checks that word. Signer and KeysURL are required.
type Proxy struct {
	Signer  string // ARN of the load balancer: the keys are those of everybody's in the region
	KeysURL string // https://public-keys.auth.elb.REGION.amazonaws.com
	Client  *http.Client
	Now     func() time.Time

	mu   sync.Mutex
	keys map[string]*ecdsa.PublicKey
}

// errRefused is every reason for which a header says nothing.
var errRefused = errors.New("albproxy: not signed by the load balancer")

// Operator implements console.Authenticator: the name is the e-mail, or the
// subject, in the letters of a trail.
func (p *Proxy) Operator(r *http.Request) (name string, ok bool) {
	word := r.Header.Get(Header)
	if word == "" || len(r.Header.Values(Header)) != 1 {
		return "", false
	}
	c, err := p.read(word)
	if err != nil {
		return "", false
	}
	name = trailName(c.Email)
	if name == "" {
		name = trailName(c.Subject)
	}
	return name, name != ""
}

type claims struct {
	Email   string `json:"email"`
	Subject string `json:"sub"`
	Until   int64  `json:"exp"`
}

func (p *Proxy) read(word string) (claims, error) {
	var c claims
	parts := strings.Split(word, ".")
	if len(parts) != 3 {
		return c, errRefused
	}
	var head struct {
		Alg    string `json:"alg"`
		KeyID  string `json:"kid"`
		Signer string `json:"signer"`
		Until  int64  `json:"exp"`
	}
	if err := part(parts[0], &head); err != nil || head.Alg != "ES256" || head.Signer != p.Signer || head.KeyID == "" {
		return c, errRefused
	}
	key, err := p.key(head.KeyID)
	if err != nil {
		return c, err
	}
	sig, err := decode(parts[2])
	if err != nil || len(sig) != 64 {
		return c, errRefused
	}
	sum := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	if !ecdsa.Verify(key, sum[:], new(big.Int).SetBytes(sig[:32]), new(big.Int).SetBytes(sig[32:])) {
		return c, errRefused
	}
	if err := part(parts[1], &c); err != nil {
		return c, err
	}
	until := c.Until
	if until == 0 {
		until = head.Until
	}
	if p.Now().After(time.Unix(until, 0).Add(slack)) {
		return c, errRefused
	}
	return c, nil
}

// key is one of the load balancer's, asked for once.
func (p *Proxy) key(id string) (*ecdsa.PublicKey, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if k := p.keys[id]; k != nil {
		return k, nil
	}
	resp, err := p.Client.Get(p.KeysURL + "/" + url.PathEscape(id))
	if err != nil {
		return nil, fmt.Errorf("albproxy: ask for the load balancer's key: %w", err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxKey))
	if err != nil || resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("albproxy: ask for the load balancer's key: %s, %w", resp.Status, errors.Join(err, errRefused))
	}
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, errRefused
	}
	parsed, err := x509.ParsePKIXPublicKey(block.Bytes)
	if err != nil {
		return nil, errRefused
	}
	k, ok := parsed.(*ecdsa.PublicKey)
	if !ok {
		return nil, errRefused
	}
	if p.keys == nil || len(p.keys) >= keysKept {
		p.keys = map[string]*ecdsa.PublicKey{}
	}
	p.keys[id] = k
	return k, nil
}

func part(text string, into any) error {
	raw, err := decode(text)
	if err != nil {
		return errRefused
	}
	if json.Unmarshal(raw, into) != nil {
		return errRefused
	}
	return nil
}

// decode takes base64 with and without padding: the load balancer pads.
func decode(text string) ([]byte, error) {
	return base64.RawURLEncoding.DecodeString(strings.TrimRight(text, "="))
}

const maxName = 40

// trailName is a name in the letters that a trail allows.
func trailName(s string) string {
	name := strings.Map(func(c rune) rune {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '_', c == '-':
			return c
		}
		return '-'
	}, s)
	return name[:min(maxName, len(name))]
}
