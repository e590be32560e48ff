package server

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"

	"github.com/holdfast/holdfast/payment/sandbox/api"
	"github.com/holdfast/holdfast/payment/sandbox/engine"
)

func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/token", s.grant)
	mux.Handle("POST /v1/payments", s.merchant(s.create))
	mux.Handle("GET /v1/payments/{pid}", s.merchant(s.query))
	mux.Handle("GET /v1/captured/{from}", s.merchant(s.captured))
	mux.Handle("POST /v1/payments/{pid}/execute", s.merchant(s.execute))
	mux.Handle("POST /v1/payments/{pid}/cancel", s.merchant(s.cancel))
	mux.Handle("POST /v1/payments/{pid}/refunds", s.merchant(s.refund))
	mux.Handle("GET /v1/payments/{pid}/refunds/{key}", s.merchant(s.queryRefund))
	s.pageRoutes(mux)
	if s.config.AdminToken != "" {
		s.adminRoutes(mux)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Body = http.MaxBytesReader(w, r.Body, api.MaxBodyBytes)
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Cache-Control", "no-store")
		mux.ServeHTTP(w, r)
	})
}

// call is a merchant's call. It returns the payment it is about, if any, and
// what to answer.
type call func(account string, r *http.Request) (paymentID string, answer any, err error)

// merchant authenticates, applies the switches that are about the connection,
// acts, and answers. Once the wait of a slow gateway is over the call acts even
// if its caller has gone: that is what makes a time-out ambiguous.
func (s *Server) merchant(do call) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		bearer, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		account, err := s.Authenticate(r.Header.Get(api.HeaderAppKey), bearer)
		if err != nil {
			s.answer(w, r, nil, err)
			return
		}
		if s.Down(account) {
			s.answer(w, r, nil, engine.ErrLost)
			return
		}
		if slow := s.Slow(account); slow > 0 {
			s.wait(context.WithoutCancel(r.Context()), slow)
		}
		paymentID, answer, err := do(account, r)
		for _, d := range s.ClaimBeforeResponse(account, paymentID) {
			s.sender.deliver(r.Context(), d)
		}
		s.answer(w, r, answer, err)
	})
}

// answer is the one place where a result becomes HTTP.
func (s *Server) answer(w http.ResponseWriter, r *http.Request, body any, err error) {
	var no *engine.Refusal
	switch {
	case err == nil:
		writeJSON(w, http.StatusOK, body)
	case errors.Is(err, engine.ErrHang):
		s.wait(r.Context(), hangAtMost)
		panic(http.ErrAbortHandler)
	case errors.Is(err, engine.ErrLost):
		panic(http.ErrAbortHandler) // net/http closes the connection without a word
	case errors.As(err, &no):
		writeJSON(w, statusOf(no.Code), api.Error{Code: no.Code, Message: no.Message})
	default:
		s.config.Log.Error("sandbox: a call failed", "path", r.URL.Path, "error", err)
		writeJSON(w, http.StatusInternalServerError, api.Error{Code: "internal", Message: "this is a fault of the sandbox; see its log"})
	}
}

func statusOf(code string) int {
	switch code {
	case api.CodeInvalid, api.CodeUnknownAction, api.CodeUnsupported:
		return http.StatusBadRequest
	case api.CodeUnauthorized:
		return http.StatusUnauthorized
	case api.CodeRefused:
		return http.StatusPaymentRequired
	case api.CodeNotFound, api.CodeNoRefund, api.CodeNoAccount:
		return http.StatusNotFound
	case api.CodeMismatch:
		return http.StatusUnprocessableEntity
	case api.CodeBlocked:
		return http.StatusTooManyRequests
	case api.CodeFull:
		return http.StatusInsufficientStorage
	}
	return http.StatusConflict
}

func readJSON(r *http.Request, into any) error {
	decoder := json.NewDecoder(r.Body)
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		return &engine.Refusal{Code: api.CodeInvalid, Message: "the body must be one JSON object of at most 16 KiB with known fields: " + err.Error()}
	}
	if _, err := decoder.Token(); err != io.EOF {
		return &engine.Refusal{Code: api.CodeInvalid, Message: "the body must be one JSON object and nothing after it"}
	}
	return nil
}

func writeJSON(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // the caller has gone; nobody is left to tell
}
