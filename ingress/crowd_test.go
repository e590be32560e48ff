package ingress_test

import (
	"fmt"
	"net/http"
	"sync"
	"testing"
)

// crowd sends requests all at once and counts the answers by status and code.
func (w *world) crowd(n int, request func(i int) (body string, headers []string)) map[string]int {
	w.Helper()
	var mu sync.Mutex
	var wg sync.WaitGroup
	got := map[string]int{}
	start := make(chan struct{})
	for i := range n {
		wg.Go(func() {
			body, headers := request(i)
			<-start
			a := w.do(http.MethodPost, "/sales/spring/bookings", body, headers...)
			mu.Lock()
			defer mu.Unlock()
			got[fmt.Sprintf("%d %s", a.status, a.text("code"))]++
		})
	}
	close(start)
	wg.Wait()
	return got
}

// Case A02, scenario 2: a crowd and one seat.
func TestScenario02_CrowdOnTheLastSeat(t *testing.T) {
	w := newWorld(t)
	got := w.crowd(50, func(i int) (string, []string) { return wish(i, "N2"), nil })
	if got["201 "] != 1 || got["409 level_full"] != 49 || w.used() != 1 {
		t.Errorf("answers %v, %d used", got, w.used())
	}
}

// Scenario 1, case A18: one candidate from everywhere at once.
func TestScenario01_OneCandidateAtOnce(t *testing.T) {
	w := newWorld(t)
	got := w.crowd(50, func(i int) (string, []string) {
		return wish(1, "N1"), []string{"Idempotency-Key", fmt.Sprint("tab-", i)}
	})
	if got["201 "] != 1 || got["201 "]+got["409 duplicate"]+got["409 in_progress"] != 50 || w.used() != 1 || len(w.pay.Payments()) != 1 {
		t.Errorf("answers %v, %d used, %d payments", got, w.used(), len(w.pay.Payments()))
	}
}

// Case C18: repeated clicks with one key make one payment.
func TestCase_C18_SameKeyAtOnce(t *testing.T) {
	w := newWorld(t)
	got := w.crowd(50, func(int) (string, []string) { return wish(1, "N1"), []string{"Idempotency-Key", "click"} })
	if got["201 "] != 1 || got["201 "]+got["200 "]+got["409 in_progress"] != 50 || w.used() != 1 || len(w.pay.Payments()) != 1 {
		t.Errorf("answers %v, %d used, %d payments", got, w.used(), len(w.pay.Payments()))
	}
}
