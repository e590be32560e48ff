package admissiontest_test

import (
	"context"
	"strconv"
	"strings"

	"github.com/google/go-cmp/cmp"
	goredis "github.com/redis/go-redis/v9"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/admission/admissiontest"
)

// compareKeys fails the test unless both sides hold the same.
func (d *duel) compareKeys() {
	want, got := d.model.Dump(d.sale), d.dump()
	near := cmp.FilterPath(func(p cmp.Path) bool {
		f := p.Last().String()
		return f == ".MS" || strings.Contains(p.String(), "Dead") || strings.Contains(p.String(), "Soft")
	}, cmp.Comparer(func(a, b int64) bool { return max(a-b, b-a) < 5000 }))
	if diff := cmp.Diff(want, got, alike, near); diff != "" {
		d.Fatalf("the keys differ: - model, + server:\n%s", diff)
	}
}

// dump reads every key of the sale past the adapter, except for the records and
// the seat map, whose form is the adapter's own.
func (d *duel) dump() admissiontest.Dump {
	r := reader{d, d.Context(), "{" + d.sale + "}:"}
	cfg := r.hash("adm:cfg")
	n := func(s string) int64 { v, _ := strconv.ParseInt(s, 10, 64); return v } // a missing field is 0
	out := admissiontest.Dump{Gen: n(cfg["gen"]), Version: n(cfg["ver"]), Replays: n(cfg["replays"]), Open: cfg["open"] == "1", OpensMS: n(cfg["opens_ms"]),
		ClosesMS: n(cfg["closes_ms"]), HoldMS: n(cfg["hold_ms"]), TotalCap: int(n(cfg["cap"])), RosterVersion: cfg["roster"], Mark: cfg["mark"], Marked: cfg["marked"],
		Edit: n(cfg["edit"]), Levels: map[string]admissiontest.LevelDump{}, Roster: map[string]admission.RosterEntry{}, Seen: r.hash("adm:seen"), Records: map[string]admission.Record{},
		Pending: map[string]admissiontest.PendingDump{}, Dead: r.scores("adm:dead"), Total: int(n(r.text("adm:total"))), Seats: map[string]string{},
		Last: map[string]admissiontest.LastDump{}, Stash: map[string]string{}, Guards: map[string]string{}}
	for ch, text := range r.hash("adm:last") {
		f := strings.Split(text, "|")
		out.Last[ch] = admissiontest.LastDump{BookingID: f[0], Key: f[1], InputHash: f[2]}
	}
	r.must(d.real.ScanRoster(r.ctx, d.sale, func(e admission.RosterEntry) error { out.Roster[e.Candidate] = e; return nil }))
	r.must(d.real.ScanRecords(r.ctx, d.sale, func(rec admission.Record, pending bool) error {
		if out.Records[rec.BookingID] = rec; pending {
			out.Pending[rec.Candidate] = admissiontest.PendingDump{BookingID: rec.BookingID, Level: rec.Level, MS: rec.AdmittedAt.UnixMilli()}
		}
		return nil
	}))
	r.must(d.real.ScanSeats(r.ctx, d.sale, func(token, id string) error { out.Seats[token] = id; return nil }))
	for _, b := range bookings {
		if url, err := d.real.Stash(r.ctx, d.sale, b); err == nil {
			out.Stash[b] = url
		}
	}
	for _, p := range payments {
		if text := r.text("hold:execute:" + p); text != "" {
			out.Guards[p], _, _ = strings.Cut(text, " ")
		}
	}
	for name, kind := range cfg {
		level, ok := strings.CutPrefix(name, "kind:")
		if !ok {
			continue
		}
		l := admissiontest.LevelDump{Kind: kind, Cap: int(n(cfg["cap:"+level])), Next: int(n(cfg["next:"+level])), Used: int(n(r.text("adm:level:" + level))),
			Soft: r.scores("soft:" + level)}
		free, err := d.raw.ZRangeWithScores(r.ctx, r.prefix+"adm:free:"+level, 0, -1).Result()
		r.must(err)
		for _, z := range free {
			l.Free = append(l.Free, admissiontest.TokenDump{Score: int64(z.Score), Name: z.Member.(string)})
		}
		out.Levels[level] = l
	}
	return out
}

// reader reads keys of one sale.
type reader struct {
	*duel
	ctx    context.Context
	prefix string
}

func (r reader) must(err error) {
	if err != nil && err != goredis.Nil {
		r.Fatal(err)
	}
}

func (r reader) hash(key string) map[string]string {
	m, err := r.raw.HGetAll(r.ctx, r.prefix+key).Result()
	r.must(err)
	return m
}

func (r reader) text(key string) string {
	s, err := r.raw.Get(r.ctx, r.prefix+key).Result()
	r.must(err)
	return s
}

func (r reader) scores(key string) map[string]int64 {
	m := map[string]int64{}
	all, err := r.raw.ZRangeWithScores(r.ctx, r.prefix+key, 0, -1).Result()
	r.must(err)
	for _, z := range all {
		m[z.Member.(string)] = int64(z.Score)
	}
	return m
}
