package resp

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func read(t *testing.T, wire string) (any, error) {
	t.Helper()
	flat, err := NewReader(strings.NewReader(wire)).Next()
	if err != nil {
		return nil, err
	}
	v, rest := Any(flat)
	if len(rest) > 0 {
		t.Errorf("%d values left over", len(rest))
	}
	return v, nil
}

func TestReadsReplies(t *testing.T) {
	for wire, want := range map[string]any{
		"+OK\r\n":                       "OK",
		":-12\r\n":                      int64(-12),
		"$5\r\na\r\nbc\r\n":             "a\r\nbc",
		"$0\r\n\r\n":                    "",
		"$-1\r\n":                       nil,
		"*-1\r\n":                       nil,
		"*0\r\n":                        []any{},
		"*2\r\n*1\r\n$1\r\nx\r\n:7\r\n": []any{[]any{"x"}, int64(7)},
		"*1\r\n-ERR no\r\n":             []any{Error("ERR no")},
	} {
		got, err := read(t, wire)
		if err != nil {
			t.Errorf("%q: %v", wire, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q: %s", wire, diff)
		}
	}
}

func TestErrorReplies(t *testing.T) {
	_, err := read(t, "-NOSCRIPT No matching script.\r\n")
	if want := Error("NOSCRIPT No matching script."); !errors.Is(err, want) {
		t.Errorf("%v, want %v", err, want)
	}
}

func TestRefusesWhatIsNoReply(t *testing.T) {
	for _, wire := range []string{"\r\n", "OK\r\n", ":1\n", ":\r\n", ":1x\r\n", "$3\r\nabcd\r\n", "$-2\r\n", "*-2\r\n",
		"*99999999\r\n", "$99999999999\r\n", "$9999999999999999999\r\n", strings.Repeat("*1\r\n", maxDepth+2) + ":1\r\n",
		"+" + strings.Repeat("x", 20<<10) + "\r\n"} {
		if v, err := read(t, wire); !errors.Is(err, ErrProtocol) {
			t.Errorf("%.40q: %v, %v", wire, v, err)
		}
	}
	for _, cut := range []string{"", "+O", "$3\r\nab", "*2\r\n:1\r\n"} {
		if v, err := read(t, cut); !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%q: %v, %v", cut, v, err)
		}
	}
}

// TestRepliesInARow: the strings of a reply outlive the next one.
func TestRepliesInARow(t *testing.T) {
	r := NewReader(strings.NewReader("*1\r\n$3\r\none\r\n$3\r\ntwo\r\n"))
	first, err := r.Next()
	if err != nil {
		t.Fatal(err)
	}
	one := first[1].Text
	if second, err := r.Next(); err != nil || second[0].Text != "two" || one != "one" {
		t.Errorf("%v, %v; the first was %q", second, err, one)
	}
}

func TestPacksCommands(t *testing.T) {
	var w Writer
	w.Command(4)
	w.String("SET")
	w.Joined('|', "a", "", "b")
	w.Concat("x", "", "yz")
	w.Int(-5)
	if got, want := string(w.Bytes()), "*4\r\n$3\r\nSET\r\n$4\r\na||b\r\n$3\r\nxyz\r\n$2\r\n-5\r\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	w.Reset()
	if len(w.Bytes()) != 0 {
		t.Error("Reset left something")
	}
}

func FuzzReader(f *testing.F) {
	f.Add([]byte("*2\r\n*1\r\n$1\r\nx\r\n:7\r\n"))
	f.Add([]byte("-ERR\r\n"))
	f.Add([]byte("$-1\r\n"))
	f.Fuzz(func(t *testing.T, wire []byte) {
		r := NewReader(strings.NewReader(string(wire)))
		for {
			flat, err := r.Next()
			var reply Error
			if err != nil && !errors.As(err, &reply) {
				return
			}
			if err == nil {
				if _, rest := Any(flat); len(rest) != 0 {
					t.Fatalf("%d values left over", len(rest))
				}
			}
		}
	})
}
