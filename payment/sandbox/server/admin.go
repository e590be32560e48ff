package server

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/holdfast/holdfast/payment/sandbox/api"
	"github.com/holdfast/holdfast/payment/sandbox/engine"
)

// adminPage is how many payments one answer lists at most.
const adminPage = 1000

func (s *Server) adminRoutes(mux *http.ServeMux) {
	mux.Handle("GET /admin/faults", s.operator(s.getFaults))
	mux.Handle("PUT /admin/faults", s.operator(s.putFaults))
	mux.Handle("GET /admin/accounts/{account}/faults", s.operator(s.getFaults))
	mux.Handle("PUT /admin/accounts/{account}/faults", s.operator(s.putFaults))
	mux.Handle("POST /admin/payments/{pid}/act", s.operator(s.adminAct))
	mux.Handle("GET /admin/payments", s.operator(s.adminPayments))
	mux.Handle("GET /admin/status", s.operator(s.adminStatus))
}

func (s *Server) operator(do func(r *http.Request) (any, error)) http.Handler {
	want := sha256.Sum256([]byte(s.config.AdminToken))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		got := sha256.Sum256([]byte(token))
		if subtle.ConstantTimeCompare(got[:], want[:]) != 1 {
			s.answer(w, r, nil, &engine.Refusal{Code: api.CodeUnauthorized, Message: "send the sandbox's admin token as bearer"})
			return
		}
		answer, err := do(r)
		s.answer(w, r, answer, err)
	})
}

func (s *Server) getFaults(r *http.Request) (any, error) { return s.Faults(r.PathValue("account")) }

// putFaults replaces all switches of its target; an empty object heals it.
func (s *Server) putFaults(r *http.Request) (any, error) {
	var faults engine.Faults
	if err := readJSON(r, &faults); err != nil {
		return nil, err
	}
	return faults, s.SetFaults(r.PathValue("account"), faults)
}

// actRequest is a customer's action, for load generators.
type actRequest struct {
	Action  engine.Action `json:"action"`
	AfterMS int64         `json:"after_ms"`
}

func (s *Server) adminAct(r *http.Request) (any, error) {
	var body actRequest
	if err := readJSON(r, &body); err != nil {
		return nil, err
	}
	return s.Act(r.PathValue("pid"), body.Action, time.Duration(body.AfterMS)*time.Millisecond)
}

// paymentList is a part of the ledger; Next is the from of the next part, 0 at
// the end.
type paymentList struct {
	Payments []engine.Entry `json:"payments"`
	Next     int            `json:"next"`
}

func (s *Server) adminPayments(r *http.Request) (any, error) {
	from, err := strconv.Atoi(r.URL.Query().Get("from"))
	if err != nil || from < 0 {
		from = 0
	}
	list := paymentList{Payments: s.PaymentsFrom(from, adminPage)}
	if len(list.Payments) == adminPage {
		list.Next = from + adminPage
	}
	return list, nil
}

// status is what a person or a rehearsal looks at to see whether all is quiet.
type status struct {
	WebhooksWaiting int              `json:"webhooks_waiting"`
	Fired           map[string]int64 `json:"fired"`
}

func (s *Server) adminStatus(*http.Request) (any, error) {
	return status{WebhooksWaiting: s.Waiting(), Fired: s.Fired()}, nil
}
