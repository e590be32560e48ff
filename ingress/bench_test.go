package ingress_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/labstack/echo/v4"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/events"
	"github.com/holdfast/holdfast/ingress"
	"github.com/holdfast/holdfast/payment"
)

// instant is everything behind the ingress, for nothing: what is left is what
// the ingress itself costs.
type instant struct {
	ingress.Redis
	payment.Gateway
	w *world
}

func (i instant) Admit(_ context.Context, r admission.Request) (admission.Answer, error) {
	now := i.w.Now()
	return admission.Answer{Outcome: admission.Admitted, BookingID: r.BookingID, Tokens: oneSeat, Driver: 1, AdmittedAt: now, HoldUntil: now.Add(i.w.plan.Hold)}, nil
}
func (instant) Attach(context.Context, admission.Attachment) (admission.AttachAnswer, error) {
	return admission.AttachAnswer{Outcome: admission.Attached}, nil
}
func (instant) Create(context.Context, payment.CreateRequest) (payment.Session, error) {
	return payment.Session{PaymentID: "pay_1", URL: "https://pay.example/pay/pay_1"}, nil
}
func (instant) Publish(context.Context, events.Event) error { return nil }

var oneSeat = []string{"N1-1"}

// newInstantWorld is a world behind which everything is instant.
func newInstantWorld(t testing.TB) *world {
	w := newWorld(t)
	o := w.in.Options
	i := instant{o.Redis, o.Gateways["page"], w}
	o.Redis, o.Admit, o.Publish, o.Gateways, o.Gates, o.Registry = i, i, i, payment.Gateways{"page": i}, nil, nil
	in, err := ingress.New(o)
	if err != nil {
		t.Fatal(err)
	}
	w.in = in
	w.refresh()
	return w
}

// nothing is the least that an echo handler can do with a request: read it,
// answer JSON.
func nothing() http.Handler {
	e := echo.New()
	e.POST("/sales/:sale/bookings", func(c echo.Context) error {
		if _, err := io.Copy(io.Discard, c.Request().Body); err != nil {
			return err
		}
		return c.JSONBlob(http.StatusCreated, []byte(`{"booking_id":"3V2Q0Z8K7M5N4P6R9S1T0W2X4Y"}`))
	})
	return e
}

// sink is a ResponseWriter that keeps nothing.
type sink struct{ header http.Header }

func (s *sink) Header() http.Header       { return s.header }
func (*sink) Write(b []byte) (int, error) { return len(b), nil }
func (*sink) WriteHeader(int)             {}

// post is one request, with as little of its own as can be.
func post(h http.Handler, body *strings.Reader, req *http.Request, out *sink, text string) {
	body.Reset(text)
	clear(out.header)
	h.ServeHTTP(out, req)
}

func prepared(text string) (*strings.Reader, *http.Request, *sink) {
	body := strings.NewReader(text)
	req := httptest.NewRequest(http.MethodPost, "/sales/spring/bookings", io.NopCloser(body))
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Idempotency-Key", "attempt-1")
	return body, req, &sink{http.Header{}}
}

func BenchmarkBooking(b *testing.B) {
	for name, handler := range map[string]func() http.Handler{
		"nothing": nothing,
		"booking": func() http.Handler { return newInstantWorld(b).in.Public() },
	} {
		b.Run(name, func(b *testing.B) {
			h, text := handler(), wish(1, "N1")
			body, req, out := prepared(text)
			b.ReportAllocs()
			for b.Loop() {
				post(h, body, req, out, text)
			}
		})
	}
}
