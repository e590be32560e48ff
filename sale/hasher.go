package sale

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"strings"
	"sync"
)

// MinSecret is the least length of the deployment secret, in bytes.
const MinSecret = 32

// Hasher makes the keyed hashes of a deployment. A plain hash of a short code can be enumerated, so everything hangs on the secret (protocol.md 3A row 42); with another secret every candidate is unknown. It is safe for concurrent use.
type Hasher struct {
	// states holds keyed *macState: keying one costs more than hashing a code with it, and a booking needs five hashes.
	states sync.Pool
}

// macState is one keyed HMAC with the space that it works in.
type macState struct {
	mac hash.Hash
	in  []byte
	out [sha256.Size]byte
	id  [16]byte // of a booking, while it is minted
}

// NewHasher takes the deployment secret, at least MinSecret bytes, and keeps a copy of it.
func NewHasher(secret []byte) (*Hasher, error) {
	if len(secret) < MinSecret {
		return nil, fmt.Errorf("the hash secret has %d bytes and needs at least %d: make one with `openssl rand -base64 32`, keep it for as long as the sale's data, give the same one to every process", len(secret), MinSecret)
	}
	secret = append([]byte(nil), secret...)
	h := &Hasher{}
	h.states.New = func() any { return &macState{mac: hmac.New(sha256.New, secret), in: make([]byte, 0, 512)} }
	return h, nil
}

// Code is HMAC-SHA-256 of the code, whole.
func (h *Hasher) Code(code Code) CodeHash {
	var text [43]byte
	return CodeHash(h.AppendCode(text[:0], code))
}

// AppendCode appends what Code returns. The appending forms are for the hot path: the hashes of a request share one string.
func (h *Hasher) AppendCode(dst []byte, code Code) []byte {
	sum := h.sum("holdfast code v1", string(code))
	return base64.RawURLEncoding.AppendEncode(dst, sum[:])
}

// Email is the first 8 bytes of the HMAC-SHA-256 of the folded e-mail, in hexadecimal.
func (h *Hasher) Email(e Email) EmailHash {
	var text [16]byte
	return EmailHash(h.AppendEmail(text[:0], e))
}

// AppendEmail appends what Email returns.
func (h *Hasher) AppendEmail(dst []byte, e Email) []byte {
	sum := h.sum("holdfast e-mail v1", e.Folded())
	return hex.AppendEncode(dst, sum[:8])
}

// Input is the hash of a request's input, by which a repeated idempotency key is told from a reused one (protocol.md 3.5 MISMATCH): 22 characters. The parts and their number are encoded without ambiguity; the caller passes normal forms in a fixed order.
func (h *Hasher) Input(parts ...string) string {
	var text [22]byte
	return string(h.AppendInput(text[:0], parts...))
}

// AppendInput appends what Input returns.
func (h *Hasher) AppendInput(dst []byte, parts ...string) []byte {
	sum := h.sum("holdfast input v1", parts...)
	return base64.RawURLEncoding.AppendEncode(dst, sum[:16])
}

// A booking id is 16 bytes: so many are random, the rest is a keyed hash of them.
const randomBytes = 12

// BookingID mints the id of one booking attempt (protocol.md R2): 26 characters, of the form of NewBookingID. 96 bits of it are random, 32 are a keyed hash of those, so that Minted can tell an id that nobody was ever given without asking ledger or Redis. rand must be crypto/rand.Reader outside of tests: the id is all that one needs to see a booking.
func (h *Hasher) BookingID(rand io.Reader) (string, error) {
	s := h.states.Get().(*macState) // lends its bytes: what a reader is given escapes to the heap
	defer h.states.Put(s)
	if _, err := io.ReadFull(rand, s.id[:randomBytes]); err != nil {
		return "", fmt.Errorf("mint a booking id: random source: %w", err)
	}
	sum := h.proof(s.id[:randomBytes])
	copy(s.id[randomBytes:], sum[:])
	var text [26]byte
	crockford.Encode(text[:], s.id[:])
	clear(s.id[:])
	return string(text[:]), nil
}

// Minted says whether BookingID of a Hasher with the same secret made this id, or made the one that it is a late re-admission of ("L-"). Of invented ids one in 2^32 passes; it says nothing about whether the booking still exists.
func (h *Hasher) Minted(bookingID string) bool {
	for strings.HasPrefix(bookingID, "L-") {
		bookingID = bookingID[len("L-"):]
	}
	var id [17]byte // 26 characters decode to 16 bytes and two bits
	if len(bookingID) != crockford.EncodedLen(16) {
		return false
	}
	if n, err := crockford.Decode(id[:], []byte(bookingID)); err != nil || n != 16 {
		return false
	}
	if crockford.EncodeToString(id[:16]) != bookingID { // another spelling of the last two bits
		return false
	}
	sum := h.proof(id[:randomBytes])
	return subtle.ConstantTimeCompare(id[randomBytes:16], sum[:]) == 1
}

func (h *Hasher) proof(random []byte) (p [16 - randomBytes]byte) {
	sum := h.sum("holdfast booking id v1", string(random))
	copy(p[:], sum[:])
	return p
}

// sum hashes the domain and the parts, each behind its length, so that no two lists of parts give the same bytes.
func (h *Hasher) sum(domain string, parts ...string) [sha256.Size]byte {
	s := h.states.Get().(*macState)
	s.in = appendPart(s.in[:0], domain)
	for _, part := range parts {
		s.in = appendPart(s.in, part)
	}
	s.mac.Reset()
	s.mac.Write(s.in)
	s.mac.Sum(s.out[:0])
	out := s.out
	clear(s.in) // codes and e-mails are not left lying in a pool
	h.states.Put(s)
	return out
}

func appendPart(b []byte, part string) []byte {
	b = binary.BigEndian.AppendUint64(b, uint64(len(part)))
	return append(b, part...)
}
