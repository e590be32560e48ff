package redis

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/localstack/redisproc"
)

// netBench is newBench behind a lossy network.
func netBench(t *testing.T) (*bench, *network) {
	t.Helper()
	n := newNetwork()
	b := bareBench(t, pair, Config{Dialer: n.dial})
	b.install(func(*admission.Plan) {})
	b.roster("c1", "c2", "c3", "c4", "c5", "c6", "c7", "c8", "c9")
	for _, sc := range []*script{admitScript, admitManyScript, undoScript, undoManyScript, settleScript, settleManyScript, attachScript, attachManyScript, reseedScript, capsScript, executeAcquireScript} {
		b.put("script", "load", sc.source) // so that the first EVALSHA is the one that runs
	}
	return b, n
}

// inEachLossyForm runs the test with the single form and the vector form.
func inEachLossyForm(t *testing.T, test func(t *testing.T, b *bench, n *network, script string, admit func(admission.Request) (admission.Answer, error))) {
	t.Helper()
	for _, f := range forms {
		t.Run(f.name, func(t *testing.T) {
			b, n := netBench(t)
			test(t, b, n, "evalsha", func(r admission.Request) (admission.Answer, error) { return f.admit(b, r) })
		})
	}
}

func names(log []string) []string {
	var out []string
	for _, l := range log {
		_, command, _ := strings.Cut(l, " ")
		switch command {
		case "hello", "client", "select", "auth", "ping":
		default:
			out = append(out, command)
		}
	}
	return out
}

func TestWaitOnTheConnectionOfTheScript(t *testing.T) {
	inEachLossyForm(t, func(t *testing.T, b *bench, n *network, _ string, admit func(admission.Request) (admission.Answer, error)) {
		n.obey(func(string, int) fate { return pass })
		a, err := admit(b.req("b1", "c1"))
		if err != nil {
			t.Fatal(err)
		}
		must(t, a, admission.Admitted)
		log := n.commands()
		at := len(log) - 1
		if id, command, _ := strings.Cut(log[at], " "); command != "wait" || !strings.HasPrefix(log[at-1], id+" eval") {
			t.Errorf("the last commands were %v", log)
		}
	})
}

// Refusals are answered while the replicas are still silent, and a sale that
// refuses asks them nothing any more.
func TestRefusalsNeverWait(t *testing.T) {
	inEachLossyForm(t, func(t *testing.T, b *bench, n *network, _ string, admit func(admission.Request) (admission.Answer, error)) {
		if _, err := admit(b.req("b1", "c1")); err != nil {
			t.Fatal(err)
		}
		silence := make(chan struct{})
		n.obey(func(c string, _ int) fate {
			if c == "wait" {
				<-silence
			}
			return pass
		})
		if a, err := admit(b.req("b2", "stranger")); err != nil || a.Outcome != admission.UnknownCode {
			t.Fatalf("%v, %v", a.Outcome, err)
		}
		close(silence)
		full := b.req("b2", "c2")
		full.Count = 5
		dup := b.req("b3", "c1")
		dup.Key = "key-2"
		for _, r := range []admission.Request{full, dup, b.req("b4", "stranger"), b.req("b5", "c1")} {
			if _, err := admit(r); err != nil {
				t.Fatal(err)
			}
		}
		if waits := count(n, "wait"); waits > 1 {
			t.Fatalf("refusals waited %d times: %v", waits, n.commands())
		}
		if a, err := admit(b.req("b6", "c6")); err != nil || a.Outcome != admission.Admitted {
			t.Fatalf("%v, %v", a.Outcome, err)
		}
		if got := n.commands(); !strings.HasSuffix(got[len(got)-1], " wait") {
			t.Errorf("the admission after the refusals was not acknowledged: %v", got)
		}
	})
}

// An answer NOSCRIPT is followed by one EVAL with a WAIT of its own: the one
// behind the NOSCRIPT says yes for nothing (scenario 9).
func TestScenario09_NoScriptIsReloadedOnce(t *testing.T) {
	inEachLossyForm(t, func(t *testing.T, b *bench, n *network, _ string, admit func(admission.Request) (admission.Answer, error)) {
		n.obey(func(string, int) fate { return pass })
		b.put("script", "flush")
		a, err := admit(b.req("b1", "c1"))
		if err != nil {
			t.Fatal(err)
		}
		must(t, a, admission.Admitted)
		// The first admission of a generation asks for the sale's layout before.
		if diff := cmp.Diff([]string{"hmget", "evalsha", "wait", "eval", "wait"}, names(n.commands())); diff != "" {
			t.Error(diff)
		}
	})
}

func TestScenario03_LostReplyIsResolvedByTheSameBooking(t *testing.T) {
	inEachLossyForm(t, func(t *testing.T, b *bench, n *network, script string, admit func(admission.Request) (admission.Answer, error)) {
		n.obey(func(c string, nth int) fate {
			if c == script && nth == 1 {
				return loseReply
			}
			return pass
		})
		a, err := admit(b.req("b1", "c1"))
		if err != nil {
			t.Fatal(err)
		}
		must(t, a, admission.Replayed)
		if got := names(n.commands()); !slices.Contains(got, "wait") {
			t.Errorf("the replay was not waited for: %v", got)
		}
		if st, _ := b.store.Status(b.ctx(), b.sale, nil); st.Used != 1 || st.Bookings != 1 {
			t.Errorf("%+v", st)
		}
		b.conserved()
	})
}

// The connection dies between the script's reply and WAIT's (scenario 10).
func TestScenario10_ConnectionDiesBetweenTheTwoReplies(t *testing.T) {
	for name, f := range map[string]fate{"wait ran": loseReply, "wait was never sent": loseCall} {
		t.Run(name, func(t *testing.T) {
			inEachLossyForm(t, func(t *testing.T, b *bench, n *network, _ string, admit func(admission.Request) (admission.Answer, error)) {
				n.obey(func(c string, nth int) fate {
					if c == "wait" && nth == 1 {
						return f
					}
					return pass
				})
				a, err := admit(b.req("b1", "c1"))
				if err != nil {
					t.Fatal(err)
				}
				must(t, a, admission.Replayed)
				if n.seen["wait"] != 2 {
					t.Errorf("%d WAITs", n.seen["wait"])
				}
				b.conserved()
			})
		})
	}
}

func TestUnknownOutcomeIsUndone(t *testing.T) {
	inEachLossyForm(t, func(t *testing.T, b *bench, n *network, script string, admit func(admission.Request) (admission.Answer, error)) {
		n.obey(func(c string, nth int) fate {
			if c == script && nth <= tries {
				return loseReply
			}
			return pass
		})
		_, err := admit(b.req("b1", "c1"))
		if !errors.Is(err, admission.ErrUnknown) {
			t.Fatalf("%v, want ErrUnknown", err)
		}
		if st, _ := b.store.Status(b.ctx(), b.sale, nil); st.Used != 0 || st.Bookings != 0 || st.Pending != 0 {
			t.Errorf("%+v", st)
		}
		n.obey(func(string, int) fate { return pass })
		a, err := admit(b.req("b1", "c1"))
		if err != nil || a.Outcome != admission.Dead {
			t.Errorf("a delayed copy: %v, %v", a.Outcome, err)
		}
		b.conserved()
	})
}

// A booking id that two workers may drive is never undone behind the other's back.
func TestSharedBookingIsLeftToTheReaper(t *testing.T) {
	for name, change := range map[string]func(*admission.Request){
		"late":   func(r *admission.Request) { r.BookingID = "L-b1" },
		"proven": func(r *admission.Request) { r.RosterVersion = admission.ProvenRoster },
	} {
		t.Run(name, func(t *testing.T) {
			inEachLossyForm(t, func(t *testing.T, b *bench, n *network, script string, admit func(admission.Request) (admission.Answer, error)) {
				n.obey(func(c string, nth int) fate {
					if c == script && nth <= tries {
						return loseReply
					}
					return pass
				})
				r := b.req("b1", "c1")
				change(&r)
				if _, err := admit(r); !errors.Is(err, admission.ErrUnknown) {
					t.Fatalf("%v, want ErrUnknown", err)
				}
				a, err := admit(r)
				if err != nil {
					t.Fatal(err)
				}
				must(t, a, admission.Replayed)
			})
		})
	}
}

// A retried admission that is refused bars its own delayed copy (3B.8).
func TestRetriedRefusalIsUndone(t *testing.T) {
	inEachLossyForm(t, func(t *testing.T, b *bench, n *network, script string, admit func(admission.Request) (admission.Answer, error)) {
		n.obey(func(c string, nth int) fate {
			if c == script && nth == 1 {
				return loseCall
			}
			return pass
		})
		a, err := admit(b.req("b1", "stranger"))
		if err != nil {
			t.Fatal(err)
		}
		must(t, a, admission.UnknownCode)
		if err := b.admin.ZScore(b.ctx(), b.k.dead(), "b1").Err(); err != nil {
			t.Errorf("no dead mark: %v", err)
		}
	})
}

func TestEveryWriteMayLoseItsReply(t *testing.T) {
	b, n := netBench(t)
	lose := func() {
		n.obey(func(c string, nth int) fate {
			if c == "evalsha" && nth == 1 {
				return loseReply
			}
			return pass
		})
	}
	b.admit(b.req("b1", "c1"))
	lose()
	if a := b.attach("b1", 1, "pay-1"); a.Outcome != admission.Attached || a.PaymentID != "pay-1" {
		t.Errorf("attach: %+v", a)
	}
	lose()
	if _, err := b.store.Settle(b.ctx(), b.sale, "b1", "c1", true); err != nil {
		t.Errorf("settle: %v", err)
	}
	lose()
	if a := b.undo("b1", "A", admission.UndoRelease, 0); a.Outcome != admission.Gone || !a.Acknowledged {
		t.Errorf("undo: %+v", a)
	}
	lose()
	if a, err := b.store.Reseed(b.ctx(), b.sale, b.live("b2", "c2", "A-2")); err != nil || a.Outcome != admission.ReseedHave {
		t.Errorf("reseed: %+v, %v", a, err)
	}
	lose()
	if a, err := b.store.SetCap(b.ctx(), admission.CapChange{Sale: b.sale, Gen: gen, Level: "A", Cap: 7, First: 6}); err != nil || a.Cap != 7 || a.Next != 8 {
		t.Errorf("caps: %+v, %v", a, err)
	}
	lose()
	if ok, err := b.store.AcquireExecute(b.ctx(), b.sale, "pay-1", "b1", time.Minute); !ok || err != nil {
		t.Errorf("execute: %t, %v", ok, err)
	}
	b.conserved()
}

func TestScenario13_OutOfMemoryRefusesAdmissionsAndReleasesStillWork(t *testing.T) {
	b := ownBench(t)
	b.admit(b.req("b1", "c1"))
	b.admit(b.req("b2", "c2"))
	b.put("config", "set", "maxmemory", "1")
	for _, f := range forms {
		before := b.dump()
		_, err := f.admit(b, b.req("b3", "c3"))
		if !errors.Is(err, admission.ErrUnavailable) || !strings.Contains(err.Error(), "OOM") {
			t.Errorf("%s: %v, want a refusal that names OOM", f.name, err)
		}
		if diff := cmp.Diff(before, b.dump()); diff != "" {
			t.Errorf("%s: half written:\n%s", f.name, diff)
		}
	}
	if _, err := b.store.Attach(b.ctx(), b.attachment("b1", 1, "p")); !errors.Is(err, admission.ErrUnavailable) {
		t.Errorf("attach: %v", err)
	}
	if a := b.undo("b1", "A", admission.UndoAbort, 0); a.Outcome != admission.Undone {
		t.Errorf("undo: %+v", a)
	}
	if went, err := b.store.Settle(b.ctx(), b.sale, "b2", "c2", true); !went || err != nil {
		t.Errorf("settle: %t, %v", went, err)
	}
	b.conserved()
}

func TestFrozenReplicaGetsNoPromise(t *testing.T) {
	for _, f := range forms {
		t.Run(f.name, func(t *testing.T) {
			now := time.Now()
			b := ownBench(t)
			b.store = bareBench(t, b.pair, Config{WaitTimeout: 50 * time.Millisecond, Now: func() time.Time { return now }}).store
			if err := b.pair.Replica.Pause(); err != nil {
				t.Fatal(err)
			}
			for i := range shortLimit {
				_, err := f.admit(b, b.req("b"+string(rune('a'+i)), "c1"))
				if !errors.Is(err, admission.ErrUnacknowledged) {
					t.Fatalf("attempt %d: %v", i, err)
				}
			}
			if st, _ := b.store.Status(b.ctx(), b.sale, nil); st.Used != 0 || st.Bookings != 0 {
				t.Errorf("not undone: %+v", st)
			}
			calls := b.admin.Info(b.ctx(), "commandstats").Val()
			if _, err := f.admit(b, b.req("bx", "c1")); !errors.Is(err, admission.ErrUnavailable) {
				t.Fatalf("after three short WAITs: %v", err)
			}
			if scripts(calls) != scripts(b.admin.Info(b.ctx(), "commandstats").Val()) {
				t.Error("a local refusal reached the server")
			}
			now = now.Add(probeEvery) // one probe a second, and it is short again
			if _, err := f.admit(b, b.req("by", "c1")); !errors.Is(err, admission.ErrUnacknowledged) {
				t.Fatalf("probe: %v", err)
			}
			if err := b.pair.Replica.Resume(); err != nil {
				t.Fatal(err)
			}
			if err := redisproc.AwaitReplicas(b.ctx(), b.pair.Primary.Addr(), 1); err != nil {
				t.Fatal(err)
			}
			b.store.cfg.WaitTimeout = 1500 * time.Millisecond
			now = now.Add(probeEvery)
			for _, bid := range []string{"b1", "b2"} {
				if a, err := f.admit(b, b.req(bid, "c"+bid[1:])); err != nil || a.Outcome != admission.Admitted {
					t.Fatalf("the replica is back: %v, %v", a.Outcome, err)
				}
			}
			b.conserved()
		})
	}
}

// scripts is the line of EVALSHA calls in commandstats.
func scripts(info string) string {
	_, rest, _ := strings.Cut(info, "cmdstat_evalsha:")
	line, _, _ := strings.Cut(rest, ",")
	return line
}

func TestNoScriptUnderLoad(t *testing.T) {
	b := bareBench(t, pair, Config{})
	b.install(func(p *admission.Plan) { p.Levels[0].Cap, p.Levels[0].Next, p.TotalCap = 400, 401, 400 })
	stop := make(chan struct{})
	var flusher, callers sync.WaitGroup
	flusher.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				b.admin.ScriptFlush(b.ctx())
			}
		}
	})
	group := NewCommitter(b.store, CommitOptions{MaxBatch: 16})
	for i := range 200 {
		callers.Go(func() {
			r := b.req("b"+itoa(i), "c"+itoa(i))
			r.RosterVersion = "v1"
			admit := group.Admit
			if i%2 == 0 {
				admit = b.store.Admit
			}
			if a, err := admit(b.ctx(), r); err != nil || a.Outcome != admission.Admitted {
				t.Errorf("%v, %v", a.Outcome, err)
			}
		})
	}
	callers.Wait()
	close(stop)
	flusher.Wait()
	b.conserved()
}

// An install whose last answer is lost, or acknowledged late, is still one
// install: its repeat writes, and is waited for.
func TestInstallRepeatsItsLastStep(t *testing.T) {
	for name, command := range map[string]string{"reply lost": "evalsha", "acknowledgement lost": "wait"} {
		t.Run(name, func(t *testing.T) {
			n := newNetwork()
			b := bareBench(t, pair, Config{Dialer: n.dial})
			for _, sc := range []*script{installBeginScript, installLevelScript, installFinishScript} {
				b.put("script", "load", sc.source)
			}
			last := map[string]int{"evalsha": 5, "wait": 1}[command] // begin, three levels, finish
			n.obey(func(c string, nth int) fate {
				if c == command && nth == last {
					return loseReply
				}
				return pass
			})
			b.install(func(*admission.Plan) {})
			if n.seen["evalsha"] != 6 {
				t.Errorf("%d scripts, want the last one twice: %v", n.seen["evalsha"], names(n.commands()))
			}
			b.roster("c1")
			b.admit(b.req("b1", "c1"))
		})
	}
}
