package redis

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
)

// stage is a group whose batches wait until the test lets them go, to be used in
// a bubble: synctest.Wait is "nothing more happens by itself".
type stage struct {
	*group[int, int]
	gate chan struct{}
	own  map[string]chan struct{} // of sales with a gate of their own

	mu      sync.Mutex
	batches []string // sales of the batches begun, in order
	now     map[string]int
	all     int
	most    map[string]int // at a time
	mostAll int
	primary map[string]string // by sale
	wg      sync.WaitGroup
}

func newStage(opt CommitOptions) *stage {
	s := &stage{gate: make(chan struct{}), own: map[string]chan struct{}{}, primary: map[string]string{}, now: map[string]int{}, most: map[string]int{}}
	s.group = newGroup(opt.complete(), s.primaryOf, func(_ context.Context, sale string, calls []*call[int, int]) {
		s.count(sale, 1)
		if own := s.own[sale]; own != nil {
			<-own
		} else {
			<-s.gate
		}
		s.count(sale, -1)
		for _, c := range calls {
			c.deliver(c.ask, nil)
		}
	})
	return s
}

func (s *stage) primaryOf(_ context.Context, sale string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.primary[sale]
}

func (s *stage) count(sale string, d int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if d > 0 {
		s.batches = append(s.batches, sale)
	}
	s.now[sale] += d
	s.all += d
	s.most[sale], s.mostAll = max(s.most[sale], s.now[sale]), max(s.mostAll, s.all)
}

// ask lets n callers ask for a sale, and waits until they are queued.
func (s *stage) ask(t *testing.T, sale string, n int) {
	for range n {
		s.wg.Go(func() {
			if got, err := s.do(t.Context(), sale, n); err != nil || got != n {
				t.Errorf("%s: answer %d, %v", sale, got, err)
			}
		})
	}
	synctest.Wait()
}

// begun is how many batches have begun.
func (s *stage) begun() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.batches)
}

func (s *stage) finish(t *testing.T) {
	t.Helper()
	close(s.gate)
	s.wg.Wait()
	synctest.Wait()
	if len(s.lanes) != 0 {
		t.Errorf("at rest there are %d lanes", len(s.lanes))
	}
	for primary, w := range s.crews {
		if w.leaders != 0 || w.coming != 0 || len(w.turn) != 0 {
			t.Errorf("at rest %q has %d leaders (%d coming), %d in turn", primary, w.leaders, w.coming, len(w.turn))
		}
	}
}

// However many sales there are, a process has a handful of connections that wait
// for replicas.
func TestSalesShareTheConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(CommitOptions{})
		sales := []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n", "o", "p"}
		for range 20 {
			for _, sale := range sales {
				s.ask(t, sale, 1)
			}
			if s.begun() > 4 {
				t.Fatalf("%d batches are under way, want 4", s.begun())
			}
		}
		s.finish(t)
		if s.mostAll != 4 || s.most["a"] > 2 {
			t.Errorf("at most %d batches at a time, %d of one sale; want 4 and 2", s.mostAll, s.most["a"])
		}
	})
}

// A sale with a long queue does not keep another one waiting for all of it.
func TestSalesTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(CommitOptions{InFlight: 1, Connections: 1, MaxBatch: 2})
		s.ask(t, "large", 20)
		s.ask(t, "small", 1)
		s.ask(t, "other", 20)
		s.finish(t)
		for at, sale := range s.batches {
			if sale == "small" {
				if at > 2 {
					t.Errorf("the small sale came after %d batches of the large ones", at)
				}
				return
			}
		}
		t.Error("the small sale was never served")
	})
}

// While batches are under way calls gather; one batch more than InFlight starts
// when it is whole, and no sooner.
func TestAWholeBatchDoesNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(CommitOptions{InFlight: 1, MaxBatch: 4})
		s.ask(t, "a", 1)
		s.ask(t, "a", 3)
		if s.begun() != 1 {
			t.Errorf("%d batches have begun with three calls waiting, want 1", s.begun())
		}
		s.ask(t, "a", 1)
		if s.begun() != 2 {
			t.Errorf("%d batches have begun with a whole one waiting, want 2", s.begun())
		}
		s.ask(t, "a", 9)
		if s.begun() != 2 {
			t.Errorf("%d batches have begun, want no third", s.begun())
		}
		s.finish(t)
	})
}

// What a leader leaves behind, because its batch is full, is another leader's at
// once: nobody else has to come first.
func TestWhatIsLeftDoesNotWaitForTheNextCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(CommitOptions{MaxBatch: 4})
		l := &lane[int, int]{sale: "a", at: s.crew("")}
		for range 7 { // all before the first leader begins
			l.queue = append(l.queue, &call[int, int]{done: make(chan struct{}, 1)})
		}
		s.group.mu.Lock()
		s.lanes["a"] = l
		s.line(l)
		s.start(t.Context(), l.at)
		s.group.mu.Unlock()
		synctest.Wait()
		if s.begun() != 2 {
			t.Errorf("%d batches have begun, want 2", s.begun())
		}
		s.finish(t)
	})
}

// However many sales wait for a primary that is frozen, those of another one are
// answered.
func TestAFrozenPrimaryHoldsNobodyElsesConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(CommitOptions{})
		for _, sale := range []string{"a", "b", "c", "d", "e", "f"} {
			s.primary[sale] = "frozen"
			s.ask(t, sale, 2)
		}
		if s.begun() != 4 {
			t.Fatalf("%d batches have begun, want 4", s.begun())
		}
		s.primary["well"], s.own["well"] = "other", make(chan struct{})
		close(s.own["well"])
		for i := range 10 {
			if s.ask(t, "well", 1); s.begun() != 5+i {
				t.Fatalf("%d batches have begun, want %d", s.begun(), 5+i)
			}
		}
		s.finish(t)
		if s.mostAll != 5 {
			t.Errorf("at most %d batches at a time, want 4 and 1", s.mostAll)
		}
	})
}

// A sale whose primary becomes another one waits behind the old one's other sales
// no more, though it was never at rest.
func TestASaleThatMovesTakesItsTurnElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(CommitOptions{InFlight: 1, Connections: 1})
		s.primary["a"], s.primary["b"] = "old", "old"
		s.own["a"] = make(chan struct{})
		for _, sale := range []string{"a", "b", "a"} {
			s.ask(t, sale, 1)
		}
		s.mu.Lock()
		s.primary["a"] = "new"
		s.mu.Unlock()
		close(s.own["a"])
		synctest.Wait()
		if s.begun() != 3 {
			t.Errorf("batches of %v have begun, want one of b and another of a", s.batches)
		}
		s.finish(t)
	})
}
