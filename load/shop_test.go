package load

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

// shop is a small seller of named seats for tests of the crowd: an honest one,
// or one with a fault that the crowd has to notice.
type shop struct {
	mu    sync.Mutex
	seats []string
	by    map[string]string   // seat -> hold or booking
	held  map[string][]string // id -> seats
	state map[string]string   // booking -> state
	n     int
	url   string

	twice, halves, lies, forgets bool
}

func newShop(t *testing.T, change func(*shop)) *shop {
	s := &shop{by: map[string]string{}, held: map[string][]string{}, state: map[string]string{}}
	for i := range 40 {
		s.seats = append(s.seats, fmt.Sprintf("A%d", i+1))
	}
	change(s)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /sales/show/seats", s.drawn)
	mux.HandleFunc("GET /sales/show/status.json", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, 200, map[string]any{"levels": []map[string]string{{"level": "Hall", "state": "available"}}})
	})
	mux.HandleFunc("POST /sales/show/holds", s.hold)
	mux.HandleFunc("PATCH /holds/{id}", s.hold)
	mux.HandleFunc("DELETE /holds/{id}", func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.free(r.PathValue("id"))
		w.WriteHeader(http.StatusNoContent)
	})
	mux.HandleFunc("POST /sales/show/bookings", s.promote)
	mux.HandleFunc("GET /bookings/{id}", func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		id := r.PathValue("id")
		if s.forgets {
			answer(w, 404, map[string]string{"code": "not_found"})
			return
		}
		answer(w, 200, map[string]any{"booking_id": id, "state": s.state[id], "seats": s.held[id]})
	})
	mux.HandleFunc("POST /pay/{id}", func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		id := r.PathValue("id")
		s.state[id] = "paid"
		if r.FormValue("action") == "fail" {
			s.state[id] = "released"
			s.free(id)
		}
		http.Redirect(w, r, s.url+"/sales/show/status.json", http.StatusSeeOther)
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	s.url = server.URL
	return s
}

func answer(w http.ResponseWriter, status int, doc any) {
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(doc)
}

func (s *shop) free(id string) {
	for _, seat := range s.held[id] {
		if s.by[seat] == id {
			delete(s.by, seat)
		}
	}
	delete(s.held, id)
}

func (s *shop) drawn(w http.ResponseWriter, _ *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	held, sold := map[string]int{}, []string{}
	for seat, id := range s.by {
		if s.lies {
			continue
		}
		if s.state[id] == "paid" {
			sold = append(sold, seat)
		} else {
			held[seat] = 9
		}
	}
	answer(w, 200, map[string]any{"held": held, "sold": sold, "plan": []any{map[string]any{"level": "Hall", "sections": []any{
		map[string]any{"section": "", "rows": []any{map[string]any{"runs": [][]string{s.seats[:20], s.seats[20:]}}}}}}}})
}

// hold is a new hold, which replaces the candidate's one, or a changed one.
func (s *shop) hold(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var body struct {
		Code  string
		Seats []string
		Best  struct{ Count int }
	}
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		answer(w, 400, map[string]string{"code": "invalid_request"})
		return
	}
	id := r.PathValue("id")
	if id != "" && s.held[id] == nil {
		answer(w, 409, map[string]string{"code": "hold_gone"})
		return
	}
	if id == "" {
		id = "hold of " + strings.ToUpper(strings.TrimSpace(body.Code))
	}
	if b := "booking " + id; s.state[b] != "" {
		answer(w, 409, map[string]string{"code": "duplicate"})
		return
	}
	want := body.Seats
	for i := 0; body.Best.Count > len(want) && i < len(s.seats); i++ {
		if s.by[s.seats[i]] == "" || s.twice {
			want = append(want, s.seats[i])
		}
	}
	if body.Best.Count == 0 && body.Seats == nil {
		want = s.held[id] // more time
	}
	taken := len(want) < body.Best.Count
	for _, seat := range want {
		taken = taken || s.by[seat] != "" && s.by[seat] != id && !s.twice
	}
	if taken {
		answer(w, 409, map[string]string{"code": "seat_taken"})
		return
	}
	s.free(id)
	for _, seat := range want {
		s.by[seat] = id
	}
	s.held[id] = want
	now := time.Now()
	answer(w, 201-min(1, len(r.PathValue("id"))), map[string]any{"hold_id": id, "level": "Hall", "seats": want, "now": now, "hold_until": now.Add(time.Minute)})
}

func (s *shop) promote(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var body struct {
		HoldID string `json:"hold_id"`
	}
	err := json.NewDecoder(r.Body).Decode(&body)
	seats, ok := s.held[body.HoldID]
	if err != nil || !ok {
		answer(w, 409, map[string]string{"code": "hold_gone"})
		return
	}
	id := "booking-" + fmt.Sprint(s.n)
	s.n++
	if s.halves && len(seats) > 1 {
		seats = seats[1:]
	}
	for _, seat := range seats {
		s.by[seat] = id
	}
	s.held[id], s.state[id], s.state["booking "+body.HoldID] = seats, "held", id
	delete(s.held, body.HoldID)
	now := time.Now()
	answer(w, 201, map[string]any{"booking_id": id, "state": "held", "level": "Hall", "seats": seats, "payment_url": s.url + "/pay/" + id, "now": now, "hold_until": now.Add(time.Minute)})
}
