package admissiontest_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/admission/admissiontest"
	"github.com/holdfast/holdfast/admission/redis"
	"github.com/holdfast/holdfast/localstack/redisproc"
)

// installed is what an install leaves, as every port shows it.
type installed struct {
	Roster []string
	Status admission.Status
	Tokens []string
}

// TestInstallLikeTheServer: a second generation over a sale that has sold, on a
// real server and on the fake. Roster, records and holds are gone, the version
// goes on, and the tokens are those before Next.
func TestInstallLikeTheServer(t *testing.T) {
	pair := redisproc.TestPair(t)
	store, err := redis.Open(redis.Config{Addrs: []string{pair.Primary.Addr()}, Replicas: 1, WaitTimeout: 1500 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	server, fake := secondGeneration(t, store), secondGeneration(t, admissiontest.New(time.Now))
	if diff := cmp.Diff(server, fake); diff != "" {
		t.Errorf("the fake is not like the server (-server +fake):\n%s", diff)
	}
	if len(server.Roster) != 1 || server.Tokens[0] != "N-3" || server.Status.Version != 2 {
		t.Errorf("the server left %+v", server)
	}
}

type loader interface {
	admission.Admitter
	admission.Loader
	admission.StatusReader
}

func secondGeneration(t *testing.T, r loader) installed {
	t.Helper()
	ctx, now := t.Context(), time.Now().Truncate(time.Millisecond)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	plan := admission.Plan{Sale: "s", Gen: 1, OpensAt: now.Add(-time.Hour), ClosesAt: now.Add(time.Hour), Hold: time.Minute, TotalCap: 2, Open: true,
		RosterVersion: "v1", Levels: []admission.LevelPlan{{Name: "N", Kind: "c", Cap: 2, Next: 3}}}
	row := func(candidate string) []admission.RosterEntry {
		return []admission.RosterEntry{{Candidate: candidate, EmailHash: "0123456789abcdef"}}
	}
	ask := func(id, candidate string, gen int64) admission.Answer {
		a, err := r.Admit(ctx, admission.Request{Sale: "s", BookingID: id, Candidate: candidate, Level: "N", Gen: gen, InputHash: "in",
			EmailHash: "0123456789abcdef", AmountMinor: 1, Currency: "BDT", Count: 1})
		if must(err); a.Outcome != admission.Admitted {
			t.Fatalf("%s: %+v", id, a)
		}
		return a
	}
	must(r.Install(ctx, plan, nil))
	must(r.PutRoster(ctx, "s", row("c1")))
	ask("b1", "c1", 1)
	plan.Gen, plan.Levels[0].Next, plan.Hold = 2, 5, 2*time.Minute
	must(r.Install(ctx, plan, func(ctx context.Context) error { return r.PutRoster(ctx, "s", row("c2")) }))
	var i installed
	must(r.ScanRoster(ctx, "s", func(e admission.RosterEntry) error { i.Roster = append(i.Roster, e.Candidate); return nil }))
	st, err := r.Status(ctx, "s", []string{"N"})
	must(err)
	st.Now, st.OpensAt, st.ClosesAt = time.Time{}, time.Time{}, time.Time{}
	i.Status = st
	i.Tokens = ask("b2", "c2", 2).Tokens
	return i
}
