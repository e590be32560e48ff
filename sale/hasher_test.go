package sale_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/holdfast/holdfast/sale"
)

func newHasher(t *testing.T, secret string) *sale.Hasher {
	t.Helper()
	h, err := sale.NewHasher([]byte(secret))
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// The hashes are stored for the life of a sale, so their values are part of the contract: a change of these lines loses every candidate.
func TestHashesAreWhatIsStored(t *testing.T) {
	h := newHasher(t, strings.Repeat("k", 32))
	for _, c := range []struct{ name, got, want string }{
		{"code", string(h.Code("QTHR313910")), "g8CQzrt9Pnfu8hMmzUu1NrTOmQYcLCfnTXFPBBn_pPA"},
		{"e-mail", string(h.Email("Ann+exam@Example.org")), "6f9af303f5971e25"},
		{"input", h.Input("a", "b"), "vFf1LJWYRjkuWKlVCNffLA"},
	} {
		if c.got != c.want {
			t.Errorf("%s: %q, want %q", c.name, c.got, c.want)
		}
	}
}

func TestHashesHaveTheirShape(t *testing.T) {
	h := newHasher(t, strings.Repeat("k", 32))
	if n := len(h.Code("AB12")); n != 43 {
		t.Errorf("a code hash has %d characters, want 43", n)
	}
	if s := string(h.Email("a@x.org")); len(s) != 16 || strings.Trim(s, "0123456789abcdef") != "" {
		t.Errorf("an e-mail hash is %q, want 16 hexadecimal characters", s)
	}
	if n := len(h.Input()); n != 22 {
		t.Errorf("an input hash has %d characters, want 22", n)
	}
	if h.Email("a.b+x@gmail.com") != h.Email("AB@googlemail.com") {
		t.Error("two spellings of one mailbox have two hashes")
	}
}

func TestHashesKeepApart(t *testing.T) {
	h, other := newHasher(t, strings.Repeat("k", 32)), newHasher(t, strings.Repeat("l", 32))
	if h.Code("AB12") == other.Code("AB12") {
		t.Error("the hash of a code does not depend on the secret")
	}
	seen := make(map[string]bool)
	for _, parts := range [][]string{{}, {""}, {"", ""}, {"ab"}, {"a", "b"}, {"a", "", "b"}, {"", "ab"}, {"ab", ""}, {"a\x00b"}} {
		sum := h.Input(parts...)
		if seen[sum] {
			t.Errorf("the input %q has the hash of another", parts)
		}
		seen[sum] = true
	}
	if seen[string(h.Code("ab"))[:22]] {
		t.Error("a code and an input of the same text share a hash")
	}
}

func TestNewHasherWantsALongSecretAndKeepsIt(t *testing.T) {
	if _, err := sale.NewHasher(make([]byte, 31)); err == nil || !strings.Contains(err.Error(), "openssl rand -base64 32") {
		t.Errorf("31 bytes: %v, want an error that says how to make a secret", err)
	}
	secret := bytes.Repeat([]byte("k"), 32)
	h, err := sale.NewHasher(secret)
	if err != nil {
		t.Fatal(err)
	}
	before := h.Code("AB12")
	clear(secret)
	if h.Code("AB12") != before {
		t.Error("the hasher shares the caller's bytes")
	}
}

func TestLogsHoldNoCandidates(t *testing.T) {
	var out bytes.Buffer
	slog.New(slog.NewTextHandler(&out, nil)).Info("x", "code", sale.Code("SECRET12"), "email", sale.Email("secret@x.org"))
	if strings.Contains(strings.ToLower(out.String()), "secret") {
		t.Errorf("the log has %s", out.String())
	}
}
