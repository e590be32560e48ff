package admissiontest_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	goredis "github.com/redis/go-redis/v9"
	"pgregory.net/rapid"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/admission/admissiontest"
	admredis "github.com/holdfast/holdfast/admission/redis"
	"github.com/holdfast/holdfast/localstack/redisproc"
)

// port is what both sides are asked.
type port interface {
	admission.Admitter
	admission.Undoer
	admission.Settler
	admission.Attacher
	admission.Resumer
	admission.Reseeder
	admission.Capper
	admission.StatusReader
	admission.Lookup
	admission.Sweepable
	admission.Loader
	admission.SoftHolder
	admission.SeatReader
	admission.SeatEditor
	admission.FreeScanner
	admission.Marker
	AcquireExecute(ctx context.Context, sale, paymentID, bookingID string, ttl time.Duration) (bool, error)
	ReleaseExecute(ctx context.Context, sale, paymentID, bookingID string) error
}

var (
	_ port = (*admissiontest.Redis)(nil)
	_ port = (*admredis.Store)(nil)
)

// TestDifferential asks the interpretation in Go and a real server with its
// replica the same random questions, one after the other: the answers are the
// same, and so is everything that the keys hold, after every call.
func TestDifferential(t *testing.T) {
	pair := redisproc.TestPair(t)
	store, err := admredis.Open(admredis.Config{Addrs: []string{pair.Primary.Addr()}, Replicas: 1, WaitTimeout: 2 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	raw := goredis.NewClient(&goredis.Options{Addr: pair.Primary.Addr(), MaxRetries: -1})
	t.Cleanup(func() {
		if err := errors.Join(store.Close(), raw.Close()); err != nil {
			t.Error(err)
		}
	})
	kinds := map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		d := &duel{T: t, sale: "S" + strings.ToLower(rand.Text())[:12], model: admissiontest.New(time.Now), real: store, raw: raw, kinds: kinds}
		d.begin()
		for range rapid.IntRange(30, 70).Draw(t, "calls") {
			d.ask()
			d.compareKeys()
		}
	})
	t.Logf("answers: %v", kinds)
	for _, want := range []string{"Admit Admitted", "Admit Replayed", "Admit Same", "Admit Mismatch", "Admit Duplicate", "Admit Dead", "Admit LevelFull", "Admit UnknownCode",
		"Admit EmailMismatch", "Admit NotAllowed", "Admit Closed", "Admit StaleGen", "Admit UnknownLevel", "Admit BadArgument", "Undo 1", "Undo 2", "Undo 3",
		"Attach 1", "Attach 2", "Attach 3", "Attach 4", "Resume 1", "Resume 3", "Resume 4", "Resume 5", "Reseed 1", "Reseed 2", "Reseed 3", "Reseed 4", "Reseed 5",
		"SetCap 1", "SetCap 2", "Hold Admitted", "Hold Duplicate", "Hold Dead", "Hold HoldGone", "Extend HoldGone", "Promote Replayed", "Promote HoldGone",
		"EditSeats late", "EditSeats held", "EditSeats missing", "EditSeats changed"} {
		if kinds[strings.ToLower(want)] == 0 {
			t.Errorf("no call was answered %q: the comparison does not reach it", want)
		}
	}
}

// duel is one sale on both sides.
type duel struct {
	*rapid.T
	sale  string
	model *admissiontest.Redis
	real  *admredis.Store
	raw   *goredis.Client
	kinds map[string]int // of answers
}

// Small worlds collide.
var (
	candidates = []string{"c1", "c2", "c3", "c4"}
	bookings   = []string{"B1", "B2", "B3", "B4", "B5", "B6", "B7", "B8"}
	holds      = []string{"H1", "H2", "H3", "H4"}
	keysOfIdem = []string{"", "k1", "k2"}
	inputs     = []string{"i1", "i2"}
	emails     = []string{"", "aaaaaaaaaaaaaaa1", "aaaaaaaaaaaaaaa2"}
	rosters    = []string{"v1", "v2", "", admission.ProvenRoster}
	payments   = []string{"gw:p1", "gw:p2"}
	marks      = []string{"", "m1", "m2", "m3"}
	levels     = []string{"A", "A", "A", "N", "Z"}
)

// owner is whose attempt an id is: ids are minted for each request, so none is
// ever used for two candidates (protocol.md R2).
func owner(id string) string {
	n := int(id[1] - '1')
	return candidates[n%len(candidates)]
}

const theGen = 7

func (d *duel) begin() {
	now := time.Now()
	p := admission.Plan{Sale: d.sale, Gen: theGen, OpensAt: now.Add(-time.Hour), ClosesAt: now.Add(time.Hour), Hold: 10 * time.Minute,
		TotalCap: 4, Open: true, RosterVersion: "v1", Levels: []admission.LevelPlan{
			{Name: "A", Kind: "c", Cap: 3, Next: 4}, {Name: "N", Kind: "s", Cap: 3, Next: 1, Tokens: []string{"N1", "N2", "N3"}}}}
	d.both("Install", func(p2 port) (any, error) { return nil, p2.Install(d.ctx(), p, nil) })
	d.both("PutRoster", func(p port) (any, error) {
		return nil, p.PutRoster(d.ctx(), d.sale, []admission.RosterEntry{{Candidate: "c1", EmailHash: emails[1]}, {Candidate: "c2", EmailHash: emails[1]},
			{Candidate: "c3", EmailHash: emails[1], Levels: []string{"N"}}})
	})
	d.compareKeys()
}

func (d *duel) ctx() context.Context { return d.Context() }

func pick[T any](d *duel, name string, from []T) T { return rapid.SampledFrom(from).Draw(d.T, name) }

// known is a booking or hold that is there, as often as not; else one by chance.
func (d *duel) known() admission.Record {
	have := d.model.Dump(d.sale).Records
	ids := slices.Sorted(maps.Keys(have))
	if len(ids) > 0 && rapid.IntRange(0, 3).Draw(d.T, "known") > 0 {
		return have[pick(d, "which", ids)]
	}
	none := admission.Record{BookingID: pick(d, "booking", append(holds, bookings...)), Level: pick(d, "level", []string{"A", "N"}),
		Key: pick(d, "key", keysOfIdem), InputHash: pick(d, "input", inputs), Driver: pick(d, "driver", []int{1, 2}), EmailHash: pick(d, "email", emails[1:])}
	none.Candidate = owner(none.BookingID)
	return none
}

// ask draws one call and makes it on both sides.
func (d *duel) ask() {
	calls := []func(){d.admit, d.hold, d.promote, d.undo, d.extend, d.attach, d.resume, d.admit, d.promote, d.hold, d.reseed, d.setCap, d.settle,
		d.undo, d.admit, d.admit, d.attach, d.reseed, d.gates, d.guard, d.look, d.roster, d.lapse, d.editSeats}
	pick(d, "call", calls)()
}

func (d *duel) admit() {
	r := admission.Request{Sale: d.sale, BookingID: pick(d, "booking", bookings), Level: pick(d, "level", levels),
		Gen: pick(d, "gen", []int64{theGen, theGen, theGen, theGen, theGen + 1}), Key: pick(d, "key", keysOfIdem), InputHash: pick(d, "input", inputs),
		RosterVersion: pick(d, "roster", rosters), EmailHash: pick(d, "email", emails), AmountMinor: 100, Currency: "BDT",
		Count: pick(d, "count", []int{1, 1, 1, 2, 0, 11})}
	if r.Level == "N" && rapid.IntRange(0, 7).Draw(d.T, "unnamed") < 7 {
		r.Seats = pick(d, "seats", [][]string{{"N1"}, {"N2"}, {"N3"}, {"N1", "N2"}, {"N2", "N1"}, {"N1", "N1"}, {"N9"}})
	}
	if k := d.known(); rapid.IntRange(0, 3).Draw(d.T, "again") == 0 { // the same candidate once more
		r.BookingID, r.Key, r.InputHash = "B"+k.BookingID[1:], k.Key, pick(d, "other input", append(inputs, k.InputHash, k.InputHash))
		if rapid.Bool().Draw(d.T, "another attempt") {
			r.BookingID = bookings[(int(r.BookingID[1]-'1')+len(candidates))%(2*len(candidates))]
		}
	}
	r.Candidate = owner(r.BookingID)
	d.both("Admit", func(p port) (any, error) { return p.Admit(d.ctx(), r) })
}

func (d *duel) hold() {
	q := admission.HoldRequest{Sale: d.sale, HoldID: pick(d, "hold", holds), Level: pick(d, "level", []string{"N", "N", "N", "N", "N", "N", "A", "Z"}),
		Gen: theGen, Key: pick(d, "key", keysOfIdem), InputHash: pick(d, "input", inputs),
		EmailHash: pick(d, "email", []string{emails[1], emails[1], emails[1], emails[2], ""}), AmountMinor: 100, Currency: "BDT", Change: rapid.IntRange(0, 7).Draw(d.T, "change") == 7,
		Seats: pick(d, "seats", [][]string{{"N1"}, {"N2"}, {"N3"}, {"N1", "N2"}, {"N2", "N3"}, {"N1", "N1"}, {"N9"}}),
		For:   pick(d, "for", []time.Duration{time.Hour, time.Hour, time.Millisecond}), Max: 2 * time.Hour}
	q.Candidate = owner(q.HoldID)
	d.both("Hold", func(p port) (any, error) { return p.Hold(d.ctx(), q) })
	if q.For < time.Second {
		d.pass(5 * time.Millisecond)
	}
}

// pass lets the time of both sides go on, so that neither is at a deadline.
func (d *duel) pass(by time.Duration) {
	end := time.Now().Add(by)
	for now := time.Now(); now.Before(end); {
		at, err := d.raw.Time(d.ctx()).Result()
		if err != nil {
			d.Fatal(err)
		}
		now = at
	}
}

// soft is a hold that is there, if there is one.
func (d *duel) soft() string {
	var ids []string
	for id, r := range d.model.Dump(d.sale).Records {
		if r.Stage == admission.StageSoft {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return pick(d, "hold", append(ids, "H1"))
}

func (d *duel) extend() {
	e := admission.Extension{Sale: d.sale, HoldID: d.soft(), Level: "N", Gen: pick(d, "gen", []int64{theGen, theGen, theGen + 1}),
		For: pick(d, "for", []time.Duration{time.Minute, 90 * time.Minute}), Max: 2 * time.Hour}
	d.both("Extend", func(p port) (any, error) { return p.Extend(d.ctx(), e) })
}

func (d *duel) promote() {
	r := admission.Request{Sale: d.sale, BookingID: pick(d, "booking", bookings), Level: "N",
		Gen: pick(d, "gen", []int64{theGen, theGen, theGen, theGen + 1}), Key: pick(d, "key", keysOfIdem), InputHash: pick(d, "input", inputs),
		RosterVersion: pick(d, "roster", rosters[:3]), EmailHash: pick(d, "email", emails[1:]), AmountMinor: 100, Currency: "BDT", Count: 1}
	k := d.known()
	if rapid.IntRange(0, 3).Draw(d.T, "its own") > 0 {
		r.BookingID, r.EmailHash = "B"+k.BookingID[1:], k.EmailHash
	}
	id := pick(d, "hold", []string{k.BookingID, k.BookingID, "H1"})
	if k.Stage == admission.StageAdmitted && rapid.Bool().Draw(d.T, "replay") {
		r.BookingID, id = k.BookingID, "H1"
	}
	r.Candidate = owner(r.BookingID)
	if r.EmailHash == "" || r.BookingID == id {
		return // the adapter refuses that without asking
	}
	d.both("Promote", func(p port) (any, error) { return p.Promote(d.ctx(), r, id) })
}

func (d *duel) lapse() {
	limit := pick(d, "limit", []int{1, 5})
	type lapsed struct {
		n       int
		version int64
	}
	d.both("Lapse", func(p port) (any, error) {
		n, v, err := p.Lapse(d.ctx(), d.sale, "N", limit)
		return fmt.Sprintf("%+v", lapsed{n, v}), err
	})
}

func (d *duel) undo() {
	k := d.known()
	u := admission.Undo{Sale: d.sale, BookingID: k.BookingID, Candidate: k.Candidate, Level: pick(d, "keys of", []string{k.Level, "A", "N"}),
		Mode: pick(d, "mode", []admission.UndoMode{admission.UndoQuick, admission.UndoAbort, admission.UndoRelease}), Driver: pick(d, "driver", []int{1, 1, 2})}
	d.both("Undo", func(p port) (any, error) { return p.Undo(d.ctx(), u) })
}

func (d *duel) settle() {
	k, paid := d.known(), rapid.Bool().Draw(d.T, "paid")
	d.both("Settle", func(p port) (any, error) { return p.Settle(d.ctx(), d.sale, k.BookingID, k.Candidate, paid) })
}

func (d *duel) attach() {
	a := admission.Attachment{Sale: d.sale, BookingID: d.known().BookingID, Driver: pick(d, "driver", []int{1, 1, 2}), PaymentID: pick(d, "payment", payments),
		URL: "https://pay.example/" + pick(d, "page", inputs), HoldUntil: time.Now().Add(pick(d, "hold", []time.Duration{-time.Hour, time.Hour})).UTC().Truncate(time.Millisecond),
		StashFor: time.Hour, Acknowledge: rapid.Bool().Draw(d.T, "acknowledge")}
	d.both("Attach", func(p port) (any, error) { return p.Attach(d.ctx(), a) })
}

func (d *duel) resume() {
	k := d.known()
	input := pick(d, "input", []string{k.InputHash, k.InputHash, "other"})
	silent := pick(d, "silent", []time.Duration{0, 0, time.Hour})
	d.both("Resume", func(p port) (any, error) { return p.Resume(d.ctx(), d.sale, k.BookingID, k.Key, input, silent) })
}

func (d *duel) reseed() {
	now := time.Now().UTC().Truncate(time.Millisecond)
	r := admission.Record{BookingID: pick(d, "booking", bookings), Driver: 1, Key: pick(d, "key", keysOfIdem),
		InputHash: pick(d, "input", inputs), EmailHash: pick(d, "email", emails), AdmittedAt: now, DriverAt: now, HoldUntil: now.Add(time.Hour),
		Stage: pick(d, "stage", []admission.Stage{admission.StageAttached, admission.StagePaid}), PaymentID: pick(d, "payment", payments),
		AmountMinor: 100, Currency: "BDT", Gen: theGen}
	seats := pick(d, "seats", []struct {
		level  string
		tokens []string
		scores []int64
	}{{"A", []string{"A-1"}, []int64{1}}, {"A", []string{"A-2", "A-3"}, []int64{2, 3}}, {"A", []string{"A-9"}, []int64{9}}, {"N", []string{"N2"}, []int64{2}},
		{"A", []string{"A-1", "A-2", "A-3", "A-4"}, []int64{1, 2, 3, 4}}})
	r.Candidate = owner(r.BookingID)
	r.Level, r.Tokens, r.Scores = seats.level, seats.tokens, seats.scores
	d.both("Reseed", func(p port) (any, error) { return p.Reseed(d.ctx(), d.sale, r) })
}

func (d *duel) setCap() {
	c := admission.CapChange{Sale: d.sale, Gen: pick(d, "gen", []int64{theGen, theGen, theGen, theGen + 1}), Level: pick(d, "level", []string{"A", "A", "N", "Z", ""}),
		Cap: rapid.IntRange(0, 6).Draw(d.T, "cap"), First: pick(d, "first", []int{10, 14})} // the ledger's, so above every token that a reseed brings
	d.both("SetCap", func(p port) (any, error) { return p.SetCap(d.ctx(), c) })
}

// editSeats changes the plan of N; what it asks for is there, or not, or held.
func (d *duel) editSeats() {
	e := admission.SeatEdit{Sale: d.sale, Gen: pick(d, "gen", []int64{theGen, theGen, theGen, theGen + 1}), Level: pick(d, "level", []string{"N", "N", "N", "A"}),
		Op:     pick(d, "edit", []admission.SeatEditOp{admission.CheckSeats, admission.MissingSeats, admission.DropSeats, admission.AddSeats}),
		Serial: int64(rapid.IntRange(0, 2).Draw(d.T, "serial")), Seats: pick(d, "seats", [][]string{{"N1"}, {"N3", "N4"}, {"N4", "N1", "N2"}, {}})}
	for i := range e.Seats {
		e.Scores = append(e.Scores, int64(i+1))
	}
	d.both("EditSeats", func(p port) (any, error) {
		a, err := p.EditSeats(d.ctx(), e)
		switch {
		case errors.Is(err, admission.ErrMoved):
			d.kinds["editseats late"]++
		case a.Held != nil:
			d.kinds["editseats held"]++
		case a.Missing != nil:
			d.kinds["editseats missing"]++
		case a.Changed > 0:
			d.kinds["editseats changed"]++
		}
		return a, err
	})
	d.both("ScanFree", func(p port) (any, error) {
		var free []string
		err := p.ScanFree(d.ctx(), d.sale, "N", func(token string) error { free = append(free, token); return nil })
		slices.Sort(free)
		return free, err
	})
}

func (d *duel) gates() {
	open, version := rapid.IntRange(0, 3).Draw(d.T, "open") > 0, pick(d, "version", []string{"v1", "v2"})
	gen := pick(d, "gen", []int64{theGen, theGen, theGen + 1})
	far := time.Now().UTC().Truncate(time.Millisecond).Add(pick(d, "opens", []time.Duration{-time.Hour, -time.Hour, time.Hour}))
	switch rapid.IntRange(0, 3).Draw(d.T, "gate") {
	case 0:
		d.both("SetOpen", func(p port) (any, error) { return p.SetOpen(d.ctx(), d.sale, gen, open) })
	case 1:
		d.both("SetTimes", func(p port) (any, error) { return p.SetTimes(d.ctx(), d.sale, gen, far, far.Add(24*time.Hour)) })
	case 2:
		d.both("SetRosterVersion", func(p port) (any, error) { return nil, p.SetRosterVersion(d.ctx(), d.sale, gen, version) })
	case 3:
		m := admission.Mark{Sale: d.sale, Gen: gen, Known: pick(d, "known", marks), Next: pick(d, "next", marks[1:])}
		d.both("SetMark", func(p port) (any, error) { return p.SetMark(d.ctx(), m) })
	}
}

func (d *duel) guard() {
	pid, b := pick(d, "payment", payments), pick(d, "booking", bookings)
	if rapid.Bool().Draw(d.T, "acquire") {
		d.both("AcquireExecute", func(p port) (any, error) { return p.AcquireExecute(d.ctx(), d.sale, pid, b, time.Hour) })
		return
	}
	d.both("ReleaseExecute", func(p port) (any, error) { return nil, p.ReleaseExecute(d.ctx(), d.sale, pid, b) })
}

func (d *duel) roster() {
	c := pick(d, "candidate", candidates)
	if rapid.Bool().Draw(d.T, "drop") {
		d.both("DropRoster", func(p port) (any, error) { return nil, p.DropRoster(d.ctx(), d.sale, []string{c}) })
		return
	}
	row := admission.RosterEntry{Candidate: c, EmailHash: pick(d, "email", emails[1:]), Levels: pick(d, "levels", [][]string{nil, {"A"}, {"A", "N"}})}
	d.both("PutRoster", func(p port) (any, error) { return nil, p.PutRoster(d.ctx(), d.sale, []admission.RosterEntry{row}) })
}

func (d *duel) look() {
	b, c := pick(d, "booking", bookings), pick(d, "candidate", candidates)
	d.both("Record", func(p port) (any, error) { return p.Record(d.ctx(), d.sale, b) })
	d.both("CandidateBooking", func(p port) (any, error) { return p.CandidateBooking(d.ctx(), d.sale, c) })
	d.both("Stash", func(p port) (any, error) { return p.Stash(d.ctx(), d.sale, b) })
	d.both("Missing", func(p port) (any, error) { return p.Missing(d.ctx(), d.sale, bookings) })
	d.both("Seats", func(p port) (any, error) { return p.Seats(d.ctx(), d.sale, []string{"N"}) })
	d.both("SeatVersion", func(p port) (any, error) {
		gen, version, err := p.SeatVersion(d.ctx(), d.sale)
		return []int64{gen, version}, err
	})
	d.both("Status", func(p port) (any, error) { return p.Status(d.ctx(), d.sale, []string{"A", "N"}) })
}

// sentinels are the errors that callers tell apart.
var sentinels = []error{admission.ErrNotFound, admission.ErrUnacknowledged, admission.ErrStaleGen, admission.ErrInstalled, admission.ErrInvalid, admission.ErrUnavailable,
	admission.ErrMoved, admission.ErrCorrupt}

// alike: the two clocks are not read at the same instant.
var alike = cmp.Options{cmpopts.EquateApproxTime(5 * time.Second), cmpopts.EquateEmpty(),
	cmpopts.SortSlices(func(a, b admission.Holder) bool { return a.ID < b.ID })}

// both makes the call on both sides and compares the answers.
func (d *duel) both(name string, call func(port) (any, error)) {
	got, err := call(d.real)
	want, wantErr := call(d.model)
	for _, s := range sentinels {
		if errors.Is(err, s) != errors.Is(wantErr, s) {
			d.Fatalf("%s: the server says %v, the model %v", name, err, wantErr)
		}
	}
	if (err == nil) != (wantErr == nil) {
		d.Fatalf("%s: the server says %v, the model %v", name, err, wantErr)
	}
	if err == nil {
		if diff := cmp.Diff(want, got, alike); diff != "" {
			d.Fatalf("%s: - model, + server:\n%s", name, diff)
		}
	}
	d.note(name, got)
}

// note counts what was answered, so that the test can say what it has reached.
func (d *duel) note(name string, answer any) {
	v := reflect.ValueOf(answer)
	if v.Kind() != reflect.Struct || !v.FieldByName("Outcome").IsValid() {
		return
	}
	outcome := v.FieldByName("Outcome").Interface()
	text := fmt.Sprint(outcome)
	if outcome == admission.Corrupt || outcome == admission.ReseedCorrupt || outcome == admission.CapCorrupt {
		d.Fatalf("%s: the seats do not add up any more", name)
	}
	if o, ok := outcome.(admission.Outcome); ok {
		text = strings.ReplaceAll(o.String(), "_", "")
	}
	d.kinds[strings.ToLower(name+" "+text)]++
}
