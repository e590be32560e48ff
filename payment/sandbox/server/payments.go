package server

import (
	"net/http"
	"strconv"
	"time"

	"github.com/holdfast/holdfast/payment"
	"github.com/holdfast/holdfast/payment/sandbox/api"
	"github.com/holdfast/holdfast/payment/sandbox/engine"
)

func (s *Server) grant(w http.ResponseWriter, r *http.Request) {
	if s.Down("") {
		s.answer(w, r, nil, engine.ErrLost)
		return
	}
	var body api.TokenRequest
	if err := readJSON(r, &body); err != nil {
		s.answer(w, r, nil, err)
		return
	}
	token, err := s.Grant(body.AppKey, body.AppSecret)
	s.answer(w, r, token, err)
}

func (s *Server) create(account string, r *http.Request) (string, any, error) {
	var body api.Create
	if err := readJSON(r, &body); err != nil {
		return "", nil, err
	}
	p, err := s.Create(account, r.Header.Get(api.HeaderIdemKey), payment.CreateRequest{
		Metadata:    payment.Metadata{Sale: body.Metadata.Sale, BookingID: body.Metadata.BookingID, Candidate: body.Metadata.Candidate},
		AmountMinor: body.AmountMinor, Currency: body.Currency, Title: body.Title,
		ReturnURL: body.ReturnURL, ExpiresAt: time.UnixMilli(body.ExpiresAtMS),
	})
	if err != nil {
		return "", nil, err
	}
	p.URL = s.publicURL(r) + "/pay/" + p.PaymentID
	return p.PaymentID, p, nil
}

func (s *Server) publicURL(r *http.Request) string {
	if s.config.PublicURL != "" {
		return s.config.PublicURL
	}
	return "http://" + r.Host
}

func (s *Server) query(account string, r *http.Request) (string, any, error) {
	p, err := s.Query(account, r.PathValue("pid"))
	return "", p, err
}

func (s *Server) captured(account string, r *http.Request) (string, any, error) {
	from, err := strconv.Atoi(r.PathValue("from"))
	if err != nil || from < 0 {
		return "", nil, &engine.Refusal{Code: api.CodeInvalid, Message: "from is not an index: take 0, or next of the page before"}
	}
	list, next := s.CapturedFrom(account, from)
	return "", api.Captured{Payments: list, Next: next}, nil
}

func (s *Server) execute(account string, r *http.Request) (string, any, error) {
	pid := r.PathValue("pid")
	p, err := s.Execute(account, pid)
	return pid, p, err
}

func (s *Server) cancel(account string, r *http.Request) (string, any, error) {
	pid := r.PathValue("pid")
	p, err := s.Cancel(account, pid)
	return pid, p, err
}

func (s *Server) refund(account string, r *http.Request) (string, any, error) {
	var body api.RefundRequest
	if err := readJSON(r, &body); err != nil {
		return "", nil, err
	}
	pid := r.PathValue("pid")
	answer, err := s.Refund(account, pid, body.Key, body.AmountMinor)
	return pid, answer, err
}

func (s *Server) queryRefund(account string, r *http.Request) (string, any, error) {
	answer, err := s.QueryRefund(account, r.PathValue("pid"), r.PathValue("key"))
	return "", answer, err
}
