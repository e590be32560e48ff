package report

import (
	"bytes"
	"crypto/ed25519"
)

// SealAgain signs a page as it is, for tests of what only the key's holder can do.
func SealAgain(page []byte, key ed25519.PrivateKey) []byte {
	before, _, _, err := split(page)
	if err != nil {
		panic(err)
	}
	before = bytes.Clone(before)
	return append(append(before, coding.EncodeToString(ed25519.Sign(key, message(before, []byte(sealEnd))))...), sealEnd...)
}
