package sale

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"fmt"
)

// MinSecret is the least length of the deployment secret, in bytes.
const MinSecret = 32

// Hasher makes the keyed hashes of a deployment. A plain hash of a short code can be enumerated, so everything hangs on the secret (protocol.md 3A row 42); with another secret every candidate is unknown. It is safe for concurrent use.
type Hasher struct {
	secret []byte
}

// NewHasher takes the deployment secret, at least MinSecret bytes, and keeps a copy of it.
func NewHasher(secret []byte) (*Hasher, error) {
	if len(secret) < MinSecret {
		return nil, fmt.Errorf("the hash secret has %d bytes and needs at least %d: make one with `openssl rand -base64 32`, keep it for as long as the sale's data, give the same one to every process", len(secret), MinSecret)
	}
	return &Hasher{secret: append([]byte(nil), secret...)}, nil
}

// Code is HMAC-SHA-256 of the code, whole.
func (h *Hasher) Code(code Code) CodeHash {
	return CodeHash(base64.RawURLEncoding.EncodeToString(h.sum("holdfast code v1", string(code))))
}

// Email is the first 8 bytes of the HMAC-SHA-256 of the folded e-mail, in hexadecimal.
func (h *Hasher) Email(e Email) EmailHash {
	return EmailHash(hex.EncodeToString(h.sum("holdfast e-mail v1", e.Folded())[:8]))
}

// Input is the hash of a request's input, by which a repeated idempotency key is told from a reused one (protocol.md 3.5 MISMATCH): 22 characters. The parts and their number are encoded without ambiguity; the caller passes normal forms in a fixed order.
func (h *Hasher) Input(parts ...string) string {
	return base64.RawURLEncoding.EncodeToString(h.sum("holdfast input v1", parts...)[:16])
}

// sum hashes the domain and the parts, each behind its length, so that no two lists of parts give the same bytes.
func (h *Hasher) sum(domain string, parts ...string) []byte {
	mac := hmac.New(sha256.New, h.secret)
	var size [8]byte
	for _, part := range append([]string{domain}, parts...) {
		binary.BigEndian.PutUint64(size[:], uint64(len(part)))
		mac.Write(size[:])
		mac.Write([]byte(part))
	}
	return mac.Sum(nil)
}
