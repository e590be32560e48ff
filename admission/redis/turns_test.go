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

	mu      sync.Mutex
	batches []string // sales of the batches begun, in order
	now     map[string]int
	all     int
	most    map[string]int // at a time
	mostAll int
	wg      sync.WaitGroup
}

func newStage(opt CommitOptions) *stage {
	s := &stage{gate: make(chan struct{}), now: map[string]int{}, most: map[string]int{}}
	s.group = newGroup(opt.complete(), func(_ context.Context, sale string, calls []*call[int, int]) {
		s.count(sale, 1)
		<-s.gate
		s.count(sale, -1)
		for _, c := range calls {
			c.deliver(c.ask, nil)
		}
	})
	return s
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
	if s.leaders != 0 || s.coming != 0 || len(s.lanes) != 0 || len(s.turn) != 0 {
		t.Errorf("at rest there are %d leaders (%d coming), %d lanes, %d in turn", s.leaders, s.coming, len(s.lanes), len(s.turn))
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
		l := &lane[int, int]{sale: "a"}
		for range 7 { // all before the first leader begins
			l.queue = append(l.queue, &call[int, int]{done: make(chan struct{}, 1)})
		}
		s.group.mu.Lock()
		s.lanes["a"] = l
		s.line(l)
		s.start(t.Context())
		s.group.mu.Unlock()
		synctest.Wait()
		if s.begun() != 2 {
			t.Errorf("%d batches have begun, want 2", s.begun())
		}
		s.finish(t)
	})
}
