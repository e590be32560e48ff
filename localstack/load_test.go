package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	goredis "github.com/redis/go-redis/v9"

	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/load"
)

// TestLoadAndRehearsalBesideARealSale sends a crowd at a sale of the town with
// the command that operators use, then rehearses beside it: the real sale's
// bookings, counts and audit are what they were, and of the rehearsal nothing is
// left in Redis or in the ledger.
func TestLoadAndRehearsalBesideARealSale(t *testing.T) {
	t.Parallel()
	town := newTown(t, townOptions{env: map[string]string{"HOLDFAST_SWEEP_EVERY": "1s", "HOLDFAST_TRUSTED_PROXIES": "127.0.0.1/32"}})
	if _, err := town.openDemo(t.Context(), io.Discard); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	page, result := filepath.Join(dir, "load.html"), filepath.Join(dir, "load.json")

	var out bytes.Buffer
	// Nobody abandons a hold: the demo's holds last ten minutes.
	err := town.holdfast(t.Context(), &out, "load", demoSale, "--roster", filepath.Join(town.dir, "demo.csv"), "--profile", "10..60x2s,60x1s",
		"--paying", "late=0%", "--settle", "5m", "--report", page, "--json", result)
	if err != nil {
		t.Fatalf("%v\n%s\n%s", err, out.String(), town.logTail())
	}
	judged := readResult(t, result)
	for _, want := range []string{"caps held at every sample", "audit: every invariant, Redis = ledger by id"} {
		i := slices.IndexFunc(judged.Checks, func(c load.Check) bool { return c.Name == want })
		if i < 0 || judged.Checks[i].NotJudged || !judged.Checks[i].OK {
			t.Errorf("%s: %+v", want, judged.Checks)
		}
	}
	if html, err := os.ReadFile(page); err != nil || !bytes.Contains(html, []byte("<svg")) || judged.Result.Acked["paid"] == 0 {
		t.Errorf("%v, %+v", err, judged.Result.Acked)
	}

	before := town.items(t, demoSale)
	args := []string{"rehearse", "--people", "80", "--profile", "30x3s", "--hold", "5s", "--grace", "1s", "--id", "rehearsal-t", "--paying", "abandon=5%,fail=3%"}
	out.Reset()
	if err := town.holdfast(t.Context(), &out, args...); err == nil || !strings.Contains(out.String(), "--beside") {
		t.Fatalf("beside an open sale, and nobody said so: %v\n%s", err, out.String())
	}
	out.Reset()
	if err := town.holdfast(t.Context(), &out, append(args, "--beside", "--seats")...); err != nil {
		t.Fatalf("%v\n%s\n%s", err, out.String(), town.logTail())
	}
	if !strings.Contains(out.String(), "rehearsal-t is deleted") || !strings.Contains(out.String(), "no group was ever half held") {
		t.Errorf("%s", out.String())
	}
	if left := town.items(t, "rehearsal-t"); len(left) > 0 {
		t.Errorf("left in the ledger: %v", left)
	}
	if keys := town.keysOf(t, "rehearsal-t"); len(keys) > 0 {
		t.Errorf("left in Redis: %v", keys)
	}
	if after := town.items(t, demoSale); !maps.Equal(before, after) {
		t.Errorf("the real sale had %d items, has %d", len(before), len(after))
	}
	if err := town.holdfast(t.Context(), &out, "audit", demoSale, "--at-rest"); err != nil {
		t.Errorf("%v\n%s", err, out.String())
	}
}

type judged struct {
	Result load.Result  `json:"result"`
	Checks []load.Check `json:"checks"`
}

func readResult(t *testing.T, path string) (j judged) {
	t.Helper()
	body, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(body, &j)
	}
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// items are the bookings, claims, seats and payments of a sale.
func (t *town) items(tb testing.TB, saleID string) map[string]string {
	tb.Helper()
	h, err := t.house(tb.Context())
	if err != nil {
		tb.Fatal(err)
	}
	defer func() { _ = h.Close(context.WithoutCancel(tb.Context())) }() // it only read
	all := map[string]string{}
	err = h.Store.Scan(tb.Context(), saleID, ledger.Visitor{
		Booking:   func(b ledger.Booking) error { all["booking "+b.ID] = string(b.State); return nil },
		Candidate: func(c, id string) error { all["candidate "+c] = id; return nil },
		Seat:      func(s, id string) error { all["seat "+s] = id; return nil },
		Payment:   func(p ledger.PaymentRecord) error { all["payment "+p.Key.String()] = string(p.Resolution); return nil },
		Roster:    func(r ledger.RosterRow) error { all["roster "+r.Candidate] = ""; return nil },
	})
	if err != nil {
		tb.Fatal(err)
	}
	if _, err := h.Store.Control(tb.Context(), saleID); err == nil {
		all["control"] = ""
	}
	return all
}

// keysOf are the keys of a sale in Redis.
func (t *town) keysOf(tb testing.TB, saleID string) []string {
	tb.Helper()
	c := goredis.NewClient(&goredis.Options{Addr: t.cloud.Redis.Primary.Addr()})
	defer c.Close()
	keys, err := c.Keys(tb.Context(), "{"+saleID+"}*").Result()
	if err != nil {
		tb.Fatal(err)
	}
	return keys
}
