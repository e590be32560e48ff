package limit_test

import (
	"fmt"
	"net/http/httptest"
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/holdfast/holdfast/ingress/limit"
)

var now = time.Date(2026, 5, 1, 9, 0, 0, 0, time.UTC)

func TestBurstThenRate(t *testing.T) {
	b := limit.NewBuckets(2, 10)
	for i := range 10 {
		if ok, _ := b.Allow("a", now); !ok {
			t.Fatalf("request %d of the burst is refused", i+1)
		}
	}
	ok, after := b.Allow("a", now)
	if ok || after != 500*time.Millisecond {
		t.Fatalf("%t, after %v", ok, after)
	}
	if ok, _ := b.Allow("b", now); !ok {
		t.Error("another key is refused")
	}
	if ok, _ := b.Allow("a", now.Add(after)); !ok {
		t.Error("refused at the time that was named")
	}
	if ok, _ := b.Allow("a", now.Add(after)); ok {
		t.Error("twice at the time that was named")
	}
	allowed := 0
	for ms := range 10_000 {
		if ok, _ := b.Allow("c", now.Add(time.Duration(ms)*time.Millisecond)); ok {
			allowed++
		}
	}
	if allowed < 29 || allowed > 30 {
		t.Errorf("%d in ten seconds, want 10 + 20", allowed)
	}
}

func TestNoLimit(t *testing.T) {
	b := limit.NewBuckets(0, 5)
	for range 1000 {
		if ok, _ := b.Allow("a", now); !ok {
			t.Fatal("refused")
		}
	}
	if b.Len() != 0 {
		t.Error("keeps keys")
	}
}

// A flood of keys takes bounded memory and refuses no stranger.
func TestMemoryIsBounded(t *testing.T) {
	b := limit.NewBuckets(1, 2)
	const most = 64 * 4096
	for i := range most + 50_000 {
		if ok, _ := b.Allow(fmt.Sprint(i), now); !ok {
			t.Fatalf("key %d is refused", i)
		}
	}
	if n := b.Len(); n > most {
		t.Errorf("%d keys", n)
	}
	later := now.Add(time.Hour)
	for i := range 64 * 200 {
		b.Allow(fmt.Sprint("late", i), later)
	}
	if ok, _ := b.Allow("late0", later); !ok {
		t.Error("idle keys crowd out busy ones")
	}
}

func TestManyAtOnce(t *testing.T) {
	b := limit.NewBuckets(1, 100)
	var mu sync.Mutex
	var wg sync.WaitGroup
	allowed := 0
	for range 8 {
		wg.Go(func() {
			for range 50 {
				if ok, _ := b.Allow("a", now); ok {
					mu.Lock()
					allowed++
					mu.Unlock()
				}
			}
		})
	}
	wg.Wait()
	if allowed != 100 {
		t.Errorf("%d allowed, want exactly 100", allowed)
	}
}

func TestClientAddress(t *testing.T) {
	trusted := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("fd00::/8")}
	for _, c := range []struct {
		remote string
		xff    []string
		want   string
	}{
		{"198.51.100.7:1234", nil, "198.51.100.7"},
		{"198.51.100.7:1234", []string{"203.0.113.9"}, "198.51.100.7"}, // anybody can send the header
		{"10.0.0.1:1234", []string{"203.0.113.9"}, "203.0.113.9"},
		{"10.0.0.1:1234", []string{"1.1.1.1, 203.0.113.9"}, "203.0.113.9"}, // what stands left is hearsay
		{"10.0.0.1:1234", []string{"1.1.1.1", "203.0.113.9, 10.9.9.9"}, "203.0.113.9"},
		{"10.0.0.1:1234", []string{"203.0.113.9:5555"}, "203.0.113.9"},
		{"10.0.0.1:1234", []string{"203.0.113.9, nonsense"}, "10.0.0.1"},
		{"10.0.0.1:1234", nil, "10.0.0.1"},
		{"10.0.0.1:1234", []string{"10.0.0.2"}, "10.0.0.2"},
		{"[2001:db8:1:2:3:4:5:6]:1", nil, "2001:db8:1:2::/64"},
		{"[2001:db8:1:2:ffff::9]:1", nil, "2001:db8:1:2::/64"},
		{"[::ffff:198.51.100.7]:1", nil, "198.51.100.7"},
		{"[::ffff:10.0.0.1]:1", []string{"203.0.113.9"}, "203.0.113.9"},
		{"[fd00::1]:1", []string{"[2001:db8:1:2:3::4]"}, "2001:db8:1:2::/64"},
		{"[fe80::1%eth0]:1", nil, "fe80::/64"},
		{"pipe", []string{"203.0.113.9"}, "unknown"},
	} {
		r := httptest.NewRequest("GET", "/", nil)
		r.RemoteAddr = c.remote
		for _, x := range c.xff {
			r.Header.Add("X-Forwarded-For", x)
		}
		if got := (limit.Client{Trusted: trusted}).Key(r); got != c.want {
			t.Errorf("%s %v: %s, want %s", c.remote, c.xff, got, c.want)
		}
		if got := (limit.Client{}).Key(r); len(c.xff) > 0 && got == c.want && c.want != "unknown" && c.remote[:3] == "10." {
			if c.want != "10.0.0.1" {
				t.Errorf("%s: the header counts without a trusted hop", c.remote)
			}
		}
	}
}
