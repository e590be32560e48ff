package fifo_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/holdfast/holdfast/localstack/fifo"
)

func TestMessagesThatAreRefused(t *testing.T) {
	ok := fifo.SendInput{Group: "A", DedupID: "d", Body: "b"}
	for name, c := range map[string]struct {
		spoil func(*fifo.SendInput)
		want  error
	}{
		"fine":               {func(*fifo.SendInput) {}, nil},
		"no group":           {func(m *fifo.SendInput) { m.Group = "" }, fifo.ErrMissing},
		"no body":            {func(m *fifo.SendInput) { m.Body = "" }, fifo.ErrMissing},
		"no dedup id":        {func(m *fifo.SendInput) { m.DedupID = "" }, fifo.ErrInvalid},
		"space in group":     {func(m *fifo.SendInput) { m.Group = "has space" }, fifo.ErrInvalid},
		"long group":         {func(m *fifo.SendInput) { m.Group = strings.Repeat("g", 129) }, fifo.ErrInvalid},
		"accent in dedup id": {func(m *fifo.SendInput) { m.DedupID = "é" }, fifo.ErrInvalid},
		"control character":  {func(m *fifo.SendInput) { m.Body = "a\x01" }, fifo.ErrContents},
		"not UTF-8":          {func(m *fifo.SendInput) { m.Body = "a\xff" }, fifo.ErrContents},
		"noncharacter":       {func(m *fifo.SendInput) { m.Body = "\uffff" }, fifo.ErrContents},
		"tab and newline":    {func(m *fifo.SendInput) { m.Body = "a\t\r\n✓" }, nil},
		"largest":            {func(m *fifo.SendInput) { m.Body = strings.Repeat("x", fifo.MaxMessageBytes) }, nil},
		"too large with its attributes": {func(m *fifo.SendInput) {
			m.Body = strings.Repeat("x", fifo.MaxMessageBytes-9)
			m.Attributes = map[string]fifo.Attribute{"n": {Type: "String", String: "123"}}
		}, fifo.ErrInvalid},
	} {
		t.Run(name, func(t *testing.T) {
			k := newKit(t, nil)
			in := ok
			c.spoil(&in)
			if _, err := k.Send(q, in); !errors.Is(err, c.want) {
				t.Fatalf("%v, want %v", err, c.want)
			}
			if st, err := k.Stats(q); err != nil || (st.Visible == 1) != (c.want == nil) {
				t.Fatalf("stored %d, %v", st.Visible, err)
			}
		})
	}
}

func TestBatchesThatAreRefusedStoreNothing(t *testing.T) {
	k := newKit(t, nil)
	entries := func(n, size int) []fifo.SendInput {
		out := make([]fifo.SendInput, n)
		for i := range out {
			out[i] = fifo.SendInput{Group: "A", DedupID: k.dedupID(), Body: strings.Repeat("x", size)}
		}
		return out
	}
	spoilt := entries(3, 1)
	spoilt[1].Group = ""
	nameless := entries(3, 1)
	nameless[2].DedupID = ""
	for name, c := range map[string]struct {
		in   []fifo.SendInput
		want error
	}{
		"empty":       {nil, fifo.ErrBatchEmpty},
		"eleven":      {entries(11, 1), fifo.ErrBatchTooMany},
		"2 MB":        {entries(10, 200<<10), fifo.ErrBatchTooLong},
		"no group":    {spoilt, fifo.ErrInvalid},
		"no dedup id": {nameless, fifo.ErrInvalid},
	} {
		if _, err := k.SendBatch(q, c.in); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	k.expect(10, "")
	bad := entries(3, 1)
	bad[1].Body = "\x01"
	out, err := k.SendBatch(q, bad)
	k.must(err)
	if out[0].Err != nil || !errors.Is(out[1].Err, fifo.ErrContents) || out[2].Err != nil {
		t.Errorf("one bad entry: %+v", out)
	}
	k.expect(10, "x x")
}

func TestReceivesThatAreRefused(t *testing.T) {
	k := newKit(t, nil)
	for name, in := range map[string]fifo.ReceiveInput{
		"none":                {Max: 0},
		"eleven":              {Max: 11},
		"negative visibility": {Max: 1, Visibility: ptr(-time.Second)},
		"13 hours":            {Max: 1, Visibility: ptr(13 * time.Hour)},
		"21 seconds":          {Max: 1, Wait: ptr(21 * time.Second)},
		"attempt":             {Max: 1, AttemptID: "a b"},
	} {
		if _, err := k.Receive(q, in).Answer(); !errors.Is(err, fifo.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	k.send("A", "1")
	m := k.expect(1, "1")
	for _, d := range []time.Duration{-1, 12*time.Hour + 1} {
		if err := k.ChangeVisibility(q, m[0].Receipt, d); !errors.Is(err, fifo.ErrInvalid) {
			t.Errorf("change to %v: %v", d, err)
		}
	}
}

func TestQueuesThatAreRefused(t *testing.T) {
	k := newKit(t, nil)
	for name, change := range map[string]func(*fifo.Config){
		"plain": nil, ".fifo": nil, strings.Repeat("x", 76) + ".fifo": nil, "a b.fifo": nil,
		"v.fifo":  visibility(13 * time.Hour),
		"d.fifo":  func(c *fifo.Config) { c.Delay = 16 * time.Minute },
		"r.fifo":  func(c *fifo.Config) { c.Retention = time.Second },
		"w.fifo":  func(c *fifo.Config) { c.ReceiveWait = -1 },
		"m.fifo":  func(c *fifo.Config) { c.MaxMessageBytes = 1 },
		"t.fifo":  func(c *fifo.Config) { c.GroupThroughput = true },
		"rp.fifo": func(c *fifo.Config) { c.Redrive = fifo.RedrivePolicy{Target: "none.fifo", MaxReceives: 1} },
		"me.fifo": func(c *fifo.Config) { c.Redrive = fifo.RedrivePolicy{Target: "me.fifo", MaxReceives: 1} },
		"mr.fifo": func(c *fifo.Config) { c.Redrive = fifo.RedrivePolicy{Target: q, MaxReceives: 1001} },
	} {
		if err := k.CreateQueue(name, change); !errors.Is(err, fifo.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got, err := k.Queues(""); err != nil || !cmp.Equal(got, []string{q}) {
		t.Errorf("queues %v %v", got, err)
	}
	if err := k.Configure(q, visibility(13*time.Hour)); !errors.Is(err, fifo.ErrInvalid) {
		t.Errorf("configure: %v", err)
	}
}

func TestCreatingAgain(t *testing.T) {
	k := newKit(t, visibility(7*time.Second))
	k.must(k.CreateQueue(q, nil)) // says nothing that differs
	k.must(k.CreateQueue(q, visibility(7*time.Second)))
	if err := k.CreateQueue(q, visibility(8*time.Second)); !errors.Is(err, fifo.ErrQueueExists) {
		t.Fatalf("other settings: %v", err)
	}
	for name, err := range map[string]error{
		"find": k.Find("none.fifo"), "purge": k.Purge("none.fifo"), "delete": k.Delete("none.fifo", "x"),
	} {
		if !errors.Is(err, fifo.ErrNoQueue) {
			t.Errorf("%s of no queue: %v", name, err)
		}
	}
}
