package albproxy_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/holdfast/holdfast/ingress/console/albproxy"
)

const arn = "arn:aws:elasticloadbalancing:ap-south-1:1:loadbalancer/app/desk/1"

var now = time.Date(2026, 5, 1, 8, 0, 0, 0, time.UTC)

type doc = map[string]any

// word is what a load balancer with that key says, padded as it pads.
func word(t *testing.T, key *ecdsa.PrivateKey, head, claims doc) string {
	t.Helper()
	text := ""
	for _, d := range []doc{head, claims} {
		raw, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		text += base64.URLEncoding.EncodeToString(raw) + "."
	}
	text = strings.TrimSuffix(text, ".")
	sum := sha256.Sum256([]byte(text))
	r, s, err := ecdsa.Sign(rand.Reader, key, sum[:])
	if err != nil {
		t.Fatal(err)
	}
	return text + "." + base64.URLEncoding.EncodeToString(append(r.FillBytes(make([]byte, 32)), s.FillBytes(make([]byte, 32))...))
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func TestOnlyTheLoadBalancersWordCounts(t *testing.T) {
	key, forger := newKey(t), newKey(t)
	public, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	asked := 0
	keys := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		if r.URL.Path != "/k1" {
			http.NotFound(w, r)
			return
		}
		_ = pem.Encode(w, &pem.Block{Type: "PUBLIC KEY", Bytes: public})
	}))
	defer keys.Close()
	p := &albproxy.Proxy{Signer: arn, KeysURL: keys.URL, Client: keys.Client(), Now: func() time.Time { return now }}
	head := func(changes doc) doc {
		d := doc{"alg": "ES256", "kid": "k1", "signer": arn, "exp": now.Add(time.Minute).Unix()}
		for k, v := range changes {
			d[k] = v
		}
		return d
	}
	rina := doc{"sub": "s-1", "email": "rina.b@example.org", "exp": now.Add(time.Minute).Unix()}
	good := word(t, key, head(nil), rina)
	parts := strings.Split(good, ".")
	for name, c := range map[string]struct {
		header []string
		want   string
	}{
		"its word":             {[]string{good}, "rina-b-example-org"},
		"without an e-mail":    {[]string{word(t, key, head(nil), doc{"sub": "s-1"})}, "s-1"},
		"nothing":              {nil, ""},
		"two words":            {[]string{good, good}, ""},
		"another key":          {[]string{word(t, forger, head(nil), rina)}, ""},
		"another balancer":     {[]string{word(t, key, head(doc{"signer": arn + "x"}), rina)}, ""},
		"a key that is none":   {[]string{word(t, key, head(doc{"kid": "k2"}), rina)}, ""},
		"no signature":         {[]string{parts[0] + "." + parts[1] + "."}, ""},
		"another algorithm":    {[]string{word(t, key, head(doc{"alg": "none"}), rina)}, ""},
		"it is over":           {[]string{word(t, key, head(nil), doc{"sub": "s-1", "exp": now.Add(-time.Minute).Unix()})}, ""},
		"over, by the header":  {[]string{word(t, key, head(doc{"exp": now.Add(-time.Hour).Unix()}), doc{"sub": "s-1"})}, ""},
		"nobody's name":        {[]string{word(t, key, head(nil), doc{"exp": now.Add(time.Minute).Unix()})}, ""},
		"other claims":         {[]string{parts[0] + "." + strings.Split(word(t, key, head(nil), doc{"sub": "root"}), ".")[1] + "." + parts[2]}, ""},
		"something else":       {[]string{"a.b"}, ""},
		"three parts of noise": {[]string{"%.%.%"}, ""},
	} {
		r := httptest.NewRequest("GET", "/console", nil)
		r.Header[albproxy.Header] = c.header
		if got, ok := p.Operator(r); got != c.want || ok != (c.want != "") {
			t.Errorf("%s: %q, %v; want %q", name, got, ok, c.want)
		}
	}
	if asked != 2 { // k1 once, k2 once
		t.Errorf("the keys were asked for %d times", asked)
	}
}
