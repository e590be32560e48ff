package api

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strconv"
	"strings"
	"time"
)

// SignatureTolerance is how far a signature's time may be from the receiver's
// clock, in either direction (protocol.md 2.1).
const SignatureTolerance = 5 * time.Minute

// maxSignatureBytes bounds the header before anything is computed of it.
const maxSignatureBytes = 512

// ErrSignature tells that a signature is missing, malformed, false, or from
// another time. It says no more, so that a forger learns nothing from it.
var ErrSignature = errors.New("sandbox: webhook signature does not verify; check the webhook secret and this host's clock")

// Sign returns the signature header of a body: "t=<unix seconds>,v1=<hex of
// HMAC-SHA-256 over t.body>". Every attempt is signed with its own time.
func Sign(secret string, at time.Time, body []byte) string {
	t := strconv.FormatInt(at.Unix(), 10)
	return "t=" + t + ",v1=" + hex.EncodeToString(mac(secret, t, body))
}

// Verify checks a signature header. The digest is compared in constant time and
// before the window, so that only the sender learns that its clock is wrong.
func Verify(secret, header string, body []byte, now time.Time) error {
	if secret == "" || len(header) > maxSignatureBytes {
		return ErrSignature
	}
	stamp, digest, ok := strings.Cut(header, ",v1=")
	stamp, hasTime := strings.CutPrefix(stamp, "t=")
	if !ok || !hasTime {
		return ErrSignature
	}
	sum, err := hex.DecodeString(digest)
	if err != nil || !hmac.Equal(sum, mac(secret, stamp, body)) {
		return ErrSignature
	}
	seconds, err := strconv.ParseInt(stamp, 10, 64)
	if err != nil {
		return ErrSignature
	}
	if age := now.Sub(time.Unix(seconds, 0)); age > SignatureTolerance || age < -SignatureTolerance {
		return ErrSignature
	}
	return nil
}

func mac(secret, stamp string, body []byte) []byte {
	h := hmac.New(sha256.New, []byte(secret))
	h.Write([]byte(stamp))
	h.Write([]byte{'.'})
	h.Write(body)
	return h.Sum(nil)
}
