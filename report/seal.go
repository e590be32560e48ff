package report

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
)

// What a page is sealed as: no other thing that the key may ever sign begins so.
const sealed = "holdfast report\n"

// The end of every page: the data it was drawn from, and the seal. Nothing in
// the data can end the element, because JSON is written with <, > and & escaped.
const (
	dataStart = "<script type=\"application/json\" id=\"report\">"
	sealStart = "</script>\n<script type=\"application/json\" id=\"seal\">{\"alg\":\"Ed25519\",\"key\":\""
	signStart = "\",\"signature\":\""
	sealEnd   = "\"}</script>\n</body>\n</html>\n"
)

// Errors of Verify.
var (
	ErrNoReport = errors.New("this is no report of Holdfast, or its end is missing")
	ErrUnsigned = errors.New("the report is not signed: the deployment has no HOLDFAST_REPORT_KEY")
	ErrOtherKey = errors.New("the report is signed with another key")
	ErrChanged  = errors.New("the signature does not fit: the report was changed after it was signed")
	ErrNotShown = errors.New("the page does not show its own data")
	ErrLater    = errors.New("the report is of another format: verify it with the Holdfast that made it")
)

var coding = base64.StdEncoding.Strict()

// Page draws a document and seals it; with a nil key it stays unsigned. The same
// document and key are the same bytes.
func Page(d Document, key ed25519.PrivateKey) ([]byte, error) {
	data, err := json.Marshal(d)
	if err != nil {
		return nil, fmt.Errorf("report: write the data of sale %s: %w", d.Sale, err)
	}
	var b bytes.Buffer
	public := ""
	if key != nil {
		public = coding.EncodeToString(key.Public().(ed25519.PublicKey))
	}
	if err := draw(&b, d, public); err != nil {
		return nil, err
	}
	b.WriteString(dataStart)
	b.Write(data)
	b.WriteString(sealStart + public + signStart)
	signature := ""
	if key != nil {
		signature = coding.EncodeToString(ed25519.Sign(key, message(b.Bytes(), []byte(sealEnd))))
	}
	b.WriteString(signature + sealEnd)
	return b.Bytes(), nil
}

func message(before, after []byte) []byte {
	return bytes.Join([][]byte{[]byte(sealed), before, after}, nil)
}

// Verify checks that a page is, to the byte, what the holder of the key has
// sealed, and that what it shows is drawn from the data in it. It returns the
// data, which is worth something only without an error.
func Verify(page []byte, key ed25519.PublicKey) (Document, error) {
	before, public, signature, err := split(page)
	if err != nil {
		return Document{}, err
	}
	switch {
	case signature == "":
		return Document{}, ErrUnsigned
	case public != coding.EncodeToString(key):
		return Document{}, fmt.Errorf("%w: %s", ErrOtherKey, public)
	}
	sig, err := coding.DecodeString(signature)
	if err != nil || !ed25519.Verify(key, message(before, []byte(sealEnd)), sig) {
		return Document{}, ErrChanged
	}
	_, data, ok := bytes.Cut(before, []byte(dataStart))
	if !ok {
		return Document{}, ErrNoReport
	}
	data, _, _ = bytes.Cut(data, []byte(sealStart))
	return shown(before, data, public)
}

// shown draws the data again and compares.
func shown(before, data []byte, public string) (Document, error) {
	var head struct{ Format int }
	if err := json.Unmarshal(data, &head); err != nil {
		return Document{}, fmt.Errorf("%w: %w", ErrNoReport, err)
	}
	if head.Format != Format {
		return Document{}, fmt.Errorf("%w: it has format %d, this is format %d; its signature is good", ErrLater, head.Format, Format)
	}
	var d Document
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&d); err != nil {
		return Document{}, fmt.Errorf("%w: %w", ErrNotShown, err)
	}
	again, err := Page(d, nil)
	if err != nil {
		return d, err
	}
	var b bytes.Buffer
	if err := draw(&b, d, public); err != nil {
		return d, err
	}
	canonical, _, _ := bytes.Cut(again[bytes.Index(again, []byte(dataStart)):], []byte(sealStart))
	want := b.String() + string(canonical) + sealStart + public + signStart
	if want != string(before) {
		return d, ErrNotShown
	}
	return d, nil
}

// split takes a page apart: what is before the signature, the key, the signature.
func split(page []byte) (before []byte, public, signature string, err error) {
	rest, ok := bytes.CutSuffix(page, []byte(sealEnd))
	at := bytes.LastIndex(rest, []byte(sealStart))
	if !ok || at < 0 {
		return nil, "", "", ErrNoReport
	}
	public, signature, ok = strings.Cut(string(rest[at+len(sealStart):]), signStart)
	if !ok {
		return nil, "", "", ErrNoReport
	}
	return page[:len(rest)-len(signature)], public, signature, nil
}

// NewKey makes a signing key: its seed, which is the secret, and its public half,
// which auditors need, both in base64.
func NewKey() (seed, public string, err error) {
	pub, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return "", "", fmt.Errorf("report: make a key: %w", err)
	}
	return coding.EncodeToString(key.Seed()), coding.EncodeToString(pub), nil
}

// PublicText is the public half as ReadPublicKey takes it.
func PublicText(key ed25519.PublicKey) string { return coding.EncodeToString(key) }

// ReadKey reads a signing key: its seed in base64 or in 64 hex digits, which is
// what secret stores make by themselves, or "file:" and the path of a file that
// holds it.
func ReadKey(text string) (ed25519.PrivateKey, error) {
	seed, err := keyBytes(text, ed25519.SeedSize)
	if err != nil {
		return nil, err
	}
	return ed25519.NewKeyFromSeed(seed), nil
}

// ReadPublicKey reads the public half in the same forms.
func ReadPublicKey(text string) (ed25519.PublicKey, error) {
	return keyBytes(text, ed25519.PublicKeySize)
}

func keyBytes(text string, size int) ([]byte, error) {
	if path, ok := strings.CutPrefix(text, "file:"); ok {
		content, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		text = string(content)
	}
	text = strings.TrimSpace(text)
	raw, err := coding.DecodeString(text)
	if err != nil || len(raw) != size { // the digits are base64, too, of more bytes
		raw, err = hex.DecodeString(text)
	}
	if err != nil || len(raw) != size {
		return nil, fmt.Errorf("a key is %d bytes in base64 or hex, or file: and the path of a file with them; make one with 'holdfast report keygen'", size)
	}
	return raw, nil
}
