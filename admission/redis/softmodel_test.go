package redis

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/admission/admissiontest"
)

// TestSoftHoldsLikeTheModel makes the same random calls to the server and to the
// interpretation in memory: the same answers, and the same seats after each.
func TestSoftHoldsLikeTheModel(t *testing.T) {
	for seed := range uint64(30) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { newTwins(t, seed).run(60) })
	}
}

// twins are the server and the model with one sale each. Their clocks differ:
// times are compared as lengths.
type twins struct {
	b     *bench
	model *admissiontest.Redis
	ahead time.Duration // of the model's clock
	rand  *rand.Rand
	next  int
	ids   map[string][]string // holds and bookings that each candidate asked for: an id is minted for one
}

func newTwins(t *testing.T, seed uint64) *twins {
	tw := &twins{b: bareBench(t, pair, Config{}), rand: rand.New(rand.NewPCG(seed, 1)), ids: map[string][]string{}}
	t.Logf("seed %d", seed)
	tw.model = admissiontest.New(func() time.Time { return time.Now().Add(tw.ahead) })
	plan := tw.b.plan()
	plan.ClosesAt, plan.TotalCap = time.Now().Add(1000*time.Hour), 9
	plan.Levels = []admission.LevelPlan{{Name: "A", Kind: "c", Cap: 2, Next: 3}, {Name: "H", Kind: "s", Cap: 6, Next: 1, Tokens: numbered("H", 6)},
		{Name: "K", Kind: "s", Cap: 4, Next: 1, Tokens: numbered("K", 4)}}
	rows := []admission.RosterEntry{{Candidate: "c1", EmailHash: eh1}, {Candidate: "c2", EmailHash: eh1}, {Candidate: "c3", EmailHash: eh1},
		{Candidate: "c4", EmailHash: eh1, Levels: []string{"K"}}}
	for _, r := range []admission.Loader{tw.b.store, tw.model} {
		if err := r.Install(tw.b.ctx(), plan, nil); err != nil {
			t.Fatal(err)
		}
		if err := r.PutRoster(tw.b.ctx(), tw.b.sale, rows); err != nil {
			t.Fatal(err)
		}
	}
	return tw
}

func (tw *twins) run(steps int) {
	for i := range steps {
		tw.step()
		if tw.b.t.Failed() {
			tw.b.t.Fatalf("after step %d", i)
		}
	}
	tw.b.sound()
}

func (tw *twins) step() {
	switch n := tw.rand.IntN(20); {
	case n < 8:
		q := tw.wish()
		compare(tw, fmt.Sprintf("hold %+v", q), func(r admission.SoftHolder) (admission.HoldAnswer, error) { return r.Hold(tw.b.ctx(), q) })
	case n < 12:
		q := tw.booking()
		hold := tw.someID(q.Candidate)
		if tw.rand.IntN(10) == 0 {
			hold = tw.someID(tw.candidate())
		}
		compare(tw, fmt.Sprintf("promote %s as %+v", hold, q), func(r admission.SoftHolder) (admission.Answer, error) { return r.Promote(tw.b.ctx(), q, hold) })
	case n < 14:
		e := admission.Extension{Sale: tw.b.sale, HoldID: tw.someID(tw.candidate()), Level: tw.level(), Gen: gen, For: 50 * time.Second, Max: time.Duration(tw.rand.IntN(60)+1) * time.Second}
		compare(tw, fmt.Sprintf("extend %+v", e), func(r admission.SoftHolder) (admission.HoldAnswer, error) { return r.Extend(tw.b.ctx(), e) })
	case n < 16:
		c := tw.candidate()
		u := admission.Undo{Sale: tw.b.sale, BookingID: tw.someID(c), Candidate: c, Level: tw.level(), Mode: admission.UndoQuick, Driver: 1}
		if tw.rand.IntN(2) == 0 {
			u.HoldID = tw.someID(u.Candidate)
		}
		compare(tw, fmt.Sprintf("undo %+v", u), func(r admission.SoftHolder) (admission.UndoAnswer, error) {
			return r.(admission.Undoer).Undo(tw.b.ctx(), u)
		})
	case n < 18:
		q := tw.booking()
		if q.Level == "A" {
			q.Count = 1
		} else {
			q.Seats = tw.seats(q.Level)
		}
		compare(tw, fmt.Sprintf("admit %+v", q), func(r admission.SoftHolder) (admission.Answer, error) {
			return r.(admission.Admitter).Admit(tw.b.ctx(), q)
		})
	case n < 19:
		tw.expireAll()
	default:
		level := tw.level()
		type lapsed struct {
			N       int
			Version int64
		}
		compare(tw, "lapse "+level, func(r admission.SoftHolder) (lapsed, error) {
			n, v, err := r.Lapse(tw.b.ctx(), tw.b.sale, level, 2)
			return lapsed{n, v}, err
		})
	}
	compare(tw, "seats", func(r admission.SoftHolder) (admission.SeatMap, error) {
		m, err := r.(admission.SeatReader).Seats(tw.b.ctx(), tw.b.sale, []string{"H", "K"})
		slices.SortFunc(m.Holders, func(x, y admission.Holder) int { return strings.Compare(x.ID, y.ID) })
		return m, err
	})
}

// expireAll lets every hold pass its deadline.
func (tw *twins) expireAll() {
	for _, level := range []string{"H", "K"} {
		for _, id := range tw.b.admin.ZRange(tw.b.ctx(), tw.b.k.soft(level), 0, -1).Val() {
			tw.b.expire(id)
		}
	}
	for _, key := range tw.b.admin.Keys(tw.b.ctx(), string(tw.b.k)+"hold:was:*").Val() {
		tw.b.put("del", key)
	}
	tw.ahead += 61 * time.Second // less than what a dead mark lives, for all of a run
}

func (tw *twins) id(c string) string {
	tw.next++
	id := "id" + itoa(tw.next)
	tw.ids[c] = append(tw.ids[c], id)
	return id
}

// someID is mostly one of the candidate's last ids.
func (tw *twins) someID(c string) string {
	list := tw.ids[c]
	if len(list) == 0 {
		return tw.id(c)
	}
	return list[max(0, len(list)-1-tw.rand.IntN(4))]
}

func (tw *twins) candidate() string { return "c" + itoa(1+tw.rand.IntN(5)) }

func (tw *twins) level() string { return []string{"H", "K", "H", "K", "A"}[tw.rand.IntN(5)] }

func (tw *twins) seats(level string) []string {
	var list []string
	for range 1 + tw.rand.IntN(3) {
		list = append(list, level+itoa(1+tw.rand.IntN(6)))
	}
	slices.Sort(list)
	return slices.Compact(list)
}

func (tw *twins) key() string { return []string{"", "", "k1", "k2"}[tw.rand.IntN(4)] }

func (tw *twins) wish() admission.HoldRequest {
	q := tw.b.wish("", tw.candidate())
	q.Level = tw.level()
	q.Seats = tw.seats(q.Level)
	q.Key, q.InputHash = tw.key(), "i"+itoa(tw.rand.IntN(2))
	if tw.rand.IntN(10) == 0 {
		q.EmailHash = eh2
	}
	q.For, q.Max = 30*time.Second, time.Minute
	if q.Change = tw.rand.IntN(3) == 0; q.Change || tw.rand.IntN(8) == 0 {
		q.HoldID = tw.someID(q.Candidate)
	} else {
		q.HoldID = tw.id(q.Candidate)
	}
	return q
}

func (tw *twins) booking() admission.Request {
	c := tw.candidate()
	q := tw.b.book(tw.id(c), c)
	q.Level, q.Key, q.InputHash = tw.level(), tw.key(), "i"+itoa(tw.rand.IntN(2))
	if tw.rand.IntN(8) == 0 {
		q.BookingID = tw.someID(c)
	}
	if tw.rand.IntN(10) == 0 {
		q.EmailHash = eh2
	}
	return q
}

// compare makes one call to both. Instants become flags: whether there is one.
func compare[T any](tw *twins, what string, call func(admission.SoftHolder) (T, error)) {
	tw.b.t.Helper()
	want, err1 := call(tw.model)
	got, err2 := call(tw.b.store)
	instants := cmp.Transformer("set", func(t time.Time) bool { return !t.IsZero() })
	// What a version is worth is compared between the maps; scores are not answered.
	opts := []cmp.Option{instants, cmpopts.IgnoreFields(admission.UndoAnswer{}, "Acknowledged"), cmpopts.EquateEmpty()}
	if diff := cmp.Diff(want, got, opts...); diff != "" || fmt.Sprint(err1 != nil) != fmt.Sprint(err2 != nil) {
		tw.b.t.Errorf("%s: %v, %v (-model +server):\n%s", what, err1, err2, diff)
	}
}
