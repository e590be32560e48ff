package redis

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/admission/redis/resp"
)

func TestRecordRoundTrip(t *testing.T) {
	at := time.UnixMilli(1764500000123).UTC()
	want := admission.Record{BookingID: "b", Candidate: "c", Level: "L-1", Tokens: []string{"x", "y_2"}, Scores: []int64{1, 20},
		Key: "", InputHash: "", EmailHash: "", AdmittedAt: at, DriverAt: at, Stage: admission.StagePaid, Driver: 12,
		PaymentID: "pay:1/2", AmountMinor: 1 << 40, Currency: "BDT", HoldUntil: at.Add(time.Minute), Gen: 3}
	got, err := unpackRecord("b", packRecord(&want))
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Fatalf("%v %s", err, diff)
	}
}

func FuzzRecord(f *testing.F) {
	f.Add("A|1|1|2||c|A|k|i|e|1|5|EUR|7|A-1|1")
	f.Add("P|3|1|2|pay|c|A||||1|5|EUR|7|A-1,A-2|1,2")
	f.Add("|||")
	f.Fuzz(func(t *testing.T, raw string) {
		r, err := unpackRecord("b", raw)
		if err != nil {
			return
		}
		again, err := unpackRecord("b", packRecord(&r))
		if err != nil {
			t.Fatalf("%q: packed again: %v", raw, err)
		}
		if diff := cmp.Diff(r, again); diff != "" {
			t.Fatalf("%q: %s", raw, diff)
		}
	})
}

// FuzzAnswers feeds the decoders lists that no script sends: they must answer
// with an error, never with an admission that nobody made.
func FuzzAnswers(f *testing.F) {
	for _, s := range []string{"OK bid A-1 A 1 5 6 0", "SAME bid A 5 x", "DUP bid A 1 5 A", "CLOSED 12", "TAKEN N1", "GEN", "WAT", ""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var list []any
		for _, w := range strings.Fields(text) {
			n := int64(0)
			digits := len(w) < 18
			for _, c := range w {
				digits = digits && c >= '0' && c <= '9'
				n = n*10 + int64(c-'0')
			}
			if digits {
				list = append(list, n)
			} else {
				list = append(list, w)
			}
		}
		req := &admission.Request{BookingID: "bid"}
		a, err := parseAnswer(req, list)
		if err == nil && a.Outcome == 0 {
			t.Fatalf("%q: no outcome and no error", text)
		}
		if err == nil && a.Outcome == admission.Admitted && (a.BookingID != "bid" || len(list) != 8) {
			t.Fatalf("%q: admitted %+v", text, a)
		}
		parseMany([]*admission.Request{req, req}, flatten(list))
		parseUndo(list)
		parseAttach("p", list)
		parseResume("bid", list)
		parseReseed(list)
		parseCaps(list)
		parseStatus("s", []string{"A"}, list)
		parseStep("x", list)
	})
}

// flatten is a list as the wire reads it.
func flatten(list []any) []resp.Value {
	flat := []resp.Value{{Kind: resp.List, Int: int64(len(list))}}
	for _, v := range list {
		switch v := v.(type) {
		case int64:
			flat = append(flat, resp.Value{Kind: resp.Int, Int: v})
		case string:
			flat = append(flat, resp.Value{Kind: resp.Text, Text: v})
		}
	}
	return flat
}

func TestKeysShareOneHashTag(t *testing.T) {
	k := saleKeys("spring-26")
	all := append(k.all([]string{"A", "B"}), k.was("b1"), k.execute("p1"))
	seen := map[string]bool{}
	for _, key := range append(all, k.admit("A")...) {
		if !strings.HasPrefix(key, "{spring-26}:") {
			t.Errorf("%s is in another slot", key)
		}
		seen[key] = true
	}
	var listed, packed resp.Writer
	for _, key := range k.admit("A") {
		listed.String(key)
	}
	packAdmitKeys(&packed, "spring-26", "A")
	if string(listed.Bytes()) != string(packed.Bytes()) || len(k.admit("A")) != admitKeys {
		t.Errorf("packed keys\n%q, want\n%q", packed.Bytes(), listed.Bytes())
	}
	if len(seen) != len(all) {
		t.Errorf("two names for one key: %d of %d", len(seen), len(all))
	}
}
