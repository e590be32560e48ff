package redis

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/localstack/leak"
	"github.com/holdfast/holdfast/localstack/redisproc"
)

// pair is a primary with its replica that every test of this package shares; a
// test that breaks a server starts its own.
var pair *redisproc.Pair

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	var err error
	if pair, err = redisproc.StartPair(ctx, redisproc.Options{}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	code := m.Run()
	if err := pair.Stop(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if code == 0 {
		if err := leak.Find(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	return code
}

// bench is one sale on a pair of servers, and the adapter under test.
type bench struct {
	t     *testing.T
	sale  string
	store *Store
	admin *goredis.Client // looks at the keys, and breaks them
	pair  *redisproc.Pair
	k     keys
}

const (
	gen    = int64(7)
	eh1    = "aaaaaaaaaaaaaaa1"
	eh2    = "aaaaaaaaaaaaaaa2"
	idk1   = "key-1"
	inh1   = "input-1"
	saleID = "S"
)

// newBench installs a sale on the shared pair: level A with 5 counted seats, B
// with 3 counted, N with seats N1..N4 by name; 9 in total; a roster of c1..c9.
func newBench(t *testing.T) *bench {
	t.Helper()
	b := bareBench(t, pair, Config{})
	b.install(func(*admission.Plan) {})
	b.roster("c1", "c2", "c3", "c4", "c5", "c6", "c7", "c8", "c9")
	return b
}

// ownBench is newBench on servers of its own.
func ownBench(t *testing.T) *bench {
	t.Helper()
	b := bareBench(t, redisproc.TestPair(t), Config{})
	b.install(func(*admission.Plan) {})
	b.roster("c1", "c2", "c3", "c4", "c5", "c6", "c7", "c8", "c9")
	return b
}

func bareBench(t *testing.T, p *redisproc.Pair, cfg Config) *bench {
	t.Helper()
	if cfg.Addrs == nil {
		cfg.Addrs = []string{p.Primary.Addr()}
	}
	if cfg.Replicas == 0 && !cfg.AllowUnacknowledged {
		cfg.Replicas = 1
	}
	if cfg.WaitTimeout == 0 {
		// A busy machine must not look like a lost replica where none is meant.
		cfg.WaitTimeout = 1500 * time.Millisecond
	}
	store, err := Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	admin := goredis.NewClient(&goredis.Options{Addr: p.Primary.Addr(), MaxRetries: -1})
	t.Cleanup(func() { store.Close(); admin.Close() })
	id := saleID + strings.ToLower(rand.Text())[:12]
	return &bench{t: t, sale: id, store: store, admin: admin, pair: p, k: saleKeys(id)}
}

func (b *bench) plan() admission.Plan {
	now := time.Now()
	return admission.Plan{
		Sale: b.sale, Gen: gen, OpensAt: now.Add(-time.Hour), ClosesAt: now.Add(time.Hour), Hold: 10 * time.Minute,
		TotalCap: 9, Open: true, RosterVersion: "v1",
		Levels: []admission.LevelPlan{
			{Name: "A", Kind: "c", Cap: 5, Next: 6}, {Name: "B", Kind: "c", Cap: 3, Next: 4},
			{Name: "N", Kind: "s", Cap: 4, Next: 1, Tokens: []string{"N1", "N2", "N3", "N4"}},
		},
	}
}

func (b *bench) install(change func(*admission.Plan)) {
	b.t.Helper()
	p := b.plan()
	change(&p)
	if err := b.store.Install(b.ctx(), p, nil); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) roster(candidates ...string) {
	b.t.Helper()
	rows := make([]admission.RosterEntry, len(candidates))
	for i, c := range candidates {
		rows[i] = admission.RosterEntry{Candidate: c, EmailHash: eh1}
	}
	if err := b.store.PutRoster(b.ctx(), b.sale, rows); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) ctx() context.Context {
	ctx, cancel := context.WithTimeout(b.t.Context(), 2*time.Minute)
	b.t.Cleanup(cancel)
	return ctx
}

// req is a good request of candidate c with booking id bid for one seat of A.
func (b *bench) req(bid, c string) admission.Request {
	return admission.Request{Sale: b.sale, BookingID: bid, Candidate: c, Level: "A", Gen: gen, Key: idk1, InputHash: inh1,
		EmailHash: eh1, AmountMinor: 2500, Currency: "EUR", Count: 1}
}

// put runs a command that prepares the state.
func (b *bench) put(args ...any) {
	b.t.Helper()
	if err := b.admin.Do(b.ctx(), args...).Err(); err != nil {
		b.t.Fatalf("%v: %v", args, err)
	}
}

// dump is every key of the sale with its value, for comparisons. Times in
// records and pending entries are replaced: two runs are never in one millisecond.
func (b *bench) dump() map[string]string {
	b.t.Helper()
	ctx := b.ctx()
	names, err := b.admin.Keys(ctx, string(b.k)+"*").Result()
	if err != nil {
		b.t.Fatal(err)
	}
	out := map[string]string{}
	for _, name := range names {
		short := strings.TrimPrefix(name, string(b.k))
		kind, err := b.admin.Type(ctx, name).Result()
		if err != nil {
			b.t.Fatal(err)
		}
		switch kind {
		case "hash":
			m, err := b.admin.HGetAll(ctx, name).Result()
			if err != nil {
				b.t.Fatal(err)
			}
			for f, v := range m {
				out[short+" "+f] = timeless(short, f, v)
			}
		case "zset":
			z, err := b.admin.ZRangeWithScores(ctx, name, 0, -1).Result()
			if err != nil {
				b.t.Fatal(err)
			}
			for _, m := range z {
				score := fmt.Sprint(m.Score)
				if short == "adm:dead" {
					score = "t"
				}
				out[short+" "+m.Member.(string)] = score
			}
		case "string":
			v, err := b.admin.Get(ctx, name).Result()
			if err != nil {
				b.t.Fatal(err)
			}
			if level, found := strings.CutPrefix(short, "adm:owner:"); found {
				for i := 0; i+ownerSlot <= len(v); i += ownerSlot {
					if id := strings.TrimRight(v[i:i+ownerSlot], "\x00"); id != "" {
						out[fmt.Sprintf("adm:owner %s-%d", level, i/ownerSlot)] = id
					}
				}
				break
			}
			out[short] = v
		default:
			b.t.Fatalf("%s is a %s", name, kind)
		}
	}
	return out
}

func timeless(key, field, v string) string {
	f := strings.Split(v, "|")
	switch {
	case (key == "adm:bk" || key == "adm:pending") && len(f) == recordFields:
		if f[0] != "S" {
			f[2], f[3], f[10] = "v", "h", "t"
			if pid, rest, found := strings.Cut(f[4], " "); found {
				_, url, _ := strings.Cut(rest, " ")
				f[4] = pid + " u " + url
			}
		}
	case key == "adm:cfg" && (field == "opens_ms" || field == "closes_ms" || field == "installed"):
		return "t"
	}
	return strings.Join(f, "|")
}

// conserved fails the test unless used + free = cap in every level, and the
// seats that are owned, counted and recorded are the same.
func (b *bench) conserved() {
	b.t.Helper()
	st, err := b.store.Status(b.ctx(), b.sale, []string{"A", "B", "N"})
	if err != nil {
		b.t.Fatal(err)
	}
	sum := 0
	for _, l := range st.Levels {
		if l.Used+l.Free != l.Cap {
			b.t.Errorf("level %s: used %d + free %d, cap %d", l.Name, l.Used, l.Free, l.Cap)
		}
		sum += l.Used
	}
	owners := b.owners()
	recorded := 0
	err = b.store.ScanRecords(b.ctx(), b.sale, func(r admission.Record, _ bool) error {
		recorded += len(r.Tokens)
		for _, token := range r.Tokens {
			if owner := owners[token]; owner != r.BookingID {
				b.t.Errorf("token %s of %s is owned by %q", token, r.BookingID, owner)
			}
		}
		return nil
	})
	if err != nil {
		b.t.Fatal(err)
	}
	if sum != st.Used || sum != len(owners) || sum != recorded {
		b.t.Errorf("levels have %d used seats, total says %d, seat %d, records %d", sum, st.Used, len(owners), recorded)
	}
}

// pending says whether the booking is.
func (b *bench) pending(bid string) bool { return b.admin.HExists(b.ctx(), b.k.pending(), bid).Val() }

// own puts an owner into a counted level's table by hand.
func (b *bench) own(level string, number int, bid string) {
	b.t.Helper()
	b.put("setrange", b.k.owner(level), number*ownerSlot, bid+strings.Repeat("\x00", ownerSlot-len(bid)))
}

// owners is the seat map.
func (b *bench) owners() map[string]string {
	b.t.Helper()
	m := map[string]string{}
	if err := b.store.ScanSeats(b.ctx(), b.sale, func(token, id string) error { m[token] = id; return nil }); err != nil {
		b.t.Fatal(err)
	}
	return m
}

// form is one way to send an admission: every rule holds for each.
type form struct {
	name  string
	admit func(b *bench, r admission.Request) (admission.Answer, error)
}

// forms are the single form, and the vector form with a rider that is refused
// without reading anything, before or behind the request.
var forms = []form{
	{"single", func(b *bench, r admission.Request) (admission.Answer, error) { return b.store.Admit(b.ctx(), r) }},
	{"vector first", func(b *bench, r admission.Request) (admission.Answer, error) { return b.vector(r, 0) }},
	{"vector last", func(b *bench, r admission.Request) (admission.Answer, error) { return b.vector(r, 1) }},
}

func (b *bench) vector(r admission.Request, at int) (a admission.Answer, err error) {
	if err := validRequest(&r); err != nil {
		return admission.Answer{Outcome: admission.BadArgument, BookingID: r.BookingID}, nil
	}
	rider := b.req("rider", "rider")
	rider.Count = 0
	reqs := []*admission.Request{&r, &rider}
	if at == 1 {
		reqs = []*admission.Request{&rider, &r}
	}
	delivered := 0
	b.store.commit(b.ctx(), reqs, func(i int, got admission.Answer, e error) bool {
		delivered++
		if i == at {
			a, err = got, e
		} else if e == nil && got.Outcome != admission.BadArgument {
			b.t.Errorf("the rider got %v", got.Outcome)
		}
		return true
	})
	if delivered != 2 {
		b.t.Errorf("%d answers for 2 requests", delivered)
	}
	return a, err
}

// inEachForm runs the test once per form, on a fresh sale each.
func inEachForm(t *testing.T, test func(t *testing.T, b *bench, admit func(admission.Request) admission.Answer)) {
	t.Helper()
	for _, f := range forms {
		t.Run(f.name, func(t *testing.T) {
			b := newBench(t)
			test(t, b, func(r admission.Request) admission.Answer {
				t.Helper()
				a, err := f.admit(b, r)
				if err != nil {
					t.Fatalf("admit %s: %v", r.BookingID, err)
				}
				return a
			})
		})
	}
}

// must fails unless the outcome is the wanted one.
func must(t *testing.T, a admission.Answer, want admission.Outcome) admission.Answer {
	t.Helper()
	if a.Outcome != want {
		t.Fatalf("outcome %v, want %v (%+v)", a.Outcome, want, a)
	}
	return a
}
