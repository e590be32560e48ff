package server

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/holdfast/holdfast/payment/sandbox/api"
	"github.com/holdfast/holdfast/payment/sandbox/engine"
)

//go:embed page.html
var pageHTML string

//go:embed page.css
var pageCSS []byte

var pageTemplate = template.Must(template.New("page").Parse(pageHTML))

// lateAtMost bounds what a customer may ask for on the page.
const lateAtMost = 24 * time.Hour

func (s *Server) pageRoutes(mux *http.ServeMux) {
	// A page of another site must not pay for the customer who looks at it.
	sameSite := http.NewCrossOriginProtection()
	mux.HandleFunc("GET /pay/{pid}", s.showPage)
	mux.Handle("POST /pay/{pid}", sameSite.Handler(http.HandlerFunc(s.actOnPage)))
	mux.HandleFunc("GET /assets/page.css", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/css; charset=utf-8")
		_, _ = w.Write(pageCSS)
	})
}

func (s *Server) showPage(w http.ResponseWriter, r *http.Request) {
	page, err := s.Page(r.PathValue("pid"))
	s.renderPage(w, r, http.StatusOK, page, err)
}

// pageView is the page with what only this view adds.
type pageView struct {
	engine.Page
	Amount string
	Until  string
	Error  string
}

func (s *Server) renderPage(w http.ResponseWriter, r *http.Request, status int, page engine.Page, err error) {
	if s.Down(page.Account) {
		s.answer(w, r, nil, engine.ErrLost)
		return
	}
	view := pageView{Page: page, Amount: money(page.Payment.AmountMinor, page.Payment.Currency)}
	if ms := page.Payment.ExpiresAtMS; ms != 0 {
		view.Until = time.UnixMilli(ms).UTC().Format("15:04:05 UTC")
	}
	var no *engine.Refusal
	if errors.As(err, &no) {
		view.Error, status = no.Message, statusOf(no.Code)
	}
	var body bytes.Buffer
	if err := pageTemplate.Execute(&body, view); err != nil {
		s.answer(w, r, nil, err)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", policy(page.ReturnURL))
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Frame-Options", "DENY")
	w.WriteHeader(status)
	_, _ = body.WriteTo(w)
}

// policy allows the page its own style sheet and its own form, which browsers
// also hold against the redirect that follows: hence the return URL's origin.
func policy(returnURL string) string {
	target := ""
	if u, err := url.Parse(returnURL); err == nil && u.Host != "" {
		target = " " + u.Scheme + "://" + u.Host
	}
	return "default-src 'none'; style-src 'self'; form-action 'self'" + target + "; base-uri 'none'; frame-ancestors 'none'"
}

func (s *Server) actOnPage(w http.ResponseWriter, r *http.Request) {
	page, err := s.Page(r.PathValue("pid"))
	if err != nil {
		s.renderPage(w, r, http.StatusOK, page, err)
		return
	}
	if s.Down(page.Account) {
		s.answer(w, r, nil, engine.ErrLost)
		return
	}
	action := engine.Action(r.PostFormValue("action"))
	paid, err := s.Act(page.Payment.PaymentID, action, lateBy(r.PostFormValue("after_s")))
	if err != nil {
		if now, found := s.Page(page.Payment.PaymentID); found == nil {
			page = now
		}
		s.renderPage(w, r, http.StatusOK, page, err)
		return
	}
	for _, d := range s.ClaimBeforeResponse(page.Account, paid.PaymentID) {
		s.sender.deliver(r.Context(), d)
	}
	http.Redirect(w, r, s.returnURL(page, action), http.StatusSeeOther)
}

func lateBy(seconds string) time.Duration {
	n, err := strconv.Atoi(seconds)
	if err != nil || n <= 0 {
		return 0
	}
	return min(time.Duration(n)*time.Second, lateAtMost)
}

// returnURL says what the customer did, unsigned, for anybody to forge.
func (s *Server) returnURL(page engine.Page, action engine.Action) string {
	status := "success"
	switch action {
	case engine.ActFail:
		status = "failure"
	case engine.ActClose:
		status = "cancel"
	}
	u, err := url.Parse(page.ReturnURL)
	if err != nil {
		return page.ReturnURL // create let only good ones in
	}
	q := u.Query()
	q.Set(api.ParamPayment, page.Payment.PaymentID)
	q.Set(api.ParamStatus, status)
	q.Set(api.ParamRef, s.NewRef())
	u.RawQuery = q.Encode()
	return u.String()
}

// money writes an amount for people. Most currencies have two decimals; a few
// that a sale may well use have none or three.
func money(minor int64, currency string) string {
	switch currency {
	case "JPY", "KRW", "VND":
		return fmt.Sprintf("%d %s", minor, currency)
	case "BHD", "JOD", "KWD", "OMR", "TND":
		return fmt.Sprintf("%d.%03d %s", minor/1000, minor%1000, currency)
	}
	return fmt.Sprintf("%d.%02d %s", minor/100, minor%100, currency)
}
