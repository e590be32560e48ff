package wire

import (
	"crypto/md5" // SQS checks attributes by it
	"encoding/binary"
	"encoding/hex"
	"hash"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/holdfast/holdfast/localstack/fifo"
)

// messageAttribute is a message attribute on the wire. SQS reserves lists of values and does not take them either.
type messageAttribute struct {
	DataType    string
	StringValue *string `json:",omitempty"`
	BinaryValue []byte  `json:",omitempty"`
}

var attributeName = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,256}$`)

func parseMessageAttributes(in map[string]messageAttribute) (map[string]fifo.Attribute, error) {
	if len(in) > 10 {
		return nil, invalid("a message has at most 10 attributes, not %d", len(in))
	}
	if len(in) == 0 {
		return nil, nil
	}
	out := make(map[string]fifo.Attribute, len(in))
	for _, name := range slices.Sorted(maps.Keys(in)) { // so that the same faults give the same error
		a := in[name]
		kind, _, _ := strings.Cut(a.DataType, ".") // "Number.cents" is a Number
		switch {
		case !attributeName.MatchString(name) || strings.HasPrefix(name, ".") || strings.HasSuffix(name, ".") || strings.Contains(name, ".."):
			return nil, invalid("message attribute name %s: use letters, digits, '_', '-' and single inner '.'", quoted(name))
		case (kind == "String" || kind == "Number") && a.StringValue != nil && *a.StringValue != "" && len(a.BinaryValue) == 0:
			out[name] = fifo.Attribute{Type: a.DataType, String: *a.StringValue}
		case kind == "Binary" && len(a.BinaryValue) > 0 && a.StringValue == nil:
			out[name] = fifo.Attribute{Type: a.DataType, Binary: a.BinaryValue}
		default:
			return nil, invalid("message attribute %s must have DataType String, Number or Binary and exactly the value of that type, not empty", quoted(name))
		}
	}
	return out, nil
}

// selectAttributes returns those attributes that a receive asked for: All, .*, a name, or a prefix with .* behind it.
func selectAttributes(attrs map[string]fifo.Attribute, names []string) map[string]fifo.Attribute {
	out := map[string]fifo.Attribute{}
	for name, a := range attrs {
		for _, want := range names {
			prefix, isPrefix := strings.CutSuffix(want, ".*")
			if want == "All" || want == name || isPrefix && strings.HasPrefix(name, prefix) {
				out[name] = a
			}
		}
	}
	return out
}

func formatMessageAttributes(attrs map[string]fifo.Attribute) map[string]messageAttribute {
	out := make(map[string]messageAttribute, len(attrs))
	for name, a := range attrs {
		if a.Binary != nil {
			out[name] = messageAttribute{DataType: a.Type, BinaryValue: a.Binary}
		} else {
			out[name] = messageAttribute{DataType: a.Type, StringValue: &a.String}
		}
	}
	return out
}

// md5OfAttributes is SQS's checksum: names in order, each part with its length, values with a byte for their kind. "" without attributes.
func md5OfAttributes(attrs map[string]fifo.Attribute) string {
	if len(attrs) == 0 {
		return ""
	}
	const stringValue, binaryValue = 1, 2
	h := md5.New()
	for _, name := range slices.Sorted(maps.Keys(attrs)) {
		a := attrs[name]
		writeCounted(h, []byte(name))
		writeCounted(h, []byte(a.Type))
		if a.Binary != nil {
			h.Write([]byte{binaryValue})
			writeCounted(h, a.Binary)
		} else {
			h.Write([]byte{stringValue})
			writeCounted(h, []byte(a.String))
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}

func writeCounted(h hash.Hash, b []byte) {
	var n [4]byte
	binary.BigEndian.PutUint32(n[:], uint32(len(b)))
	h.Write(n[:])
	h.Write(b)
}
