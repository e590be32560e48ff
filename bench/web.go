package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/holdfast/holdfast/admission"
	admredis "github.com/holdfast/holdfast/admission/redis"
	"github.com/holdfast/holdfast/events"
	"github.com/holdfast/holdfast/ingress"
	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/ledger/ledgertest"
	"github.com/holdfast/holdfast/lifecycle"
	"github.com/holdfast/holdfast/payment"
	"github.com/holdfast/holdfast/sale"
)

// web is an ingress over real HTTP and real Redis, with a gateway and a queue
// that take no time, and two handlers to compare it with.
type web struct {
	g      *ground
	hasher *sale.Hasher
	crowd  []visitor
}

// visitor is a candidate with what they send, all made before the clock runs.
type visitor struct {
	row  admission.RosterEntry
	body string
}

// webCrowd is more than can book in a storm.
const webCrowd = 80_000

func openWeb(_ context.Context, g *ground) (*web, error) {
	h, err := sale.NewHasher([]byte("a secret that only this benchmark has"))
	if err != nil {
		return nil, err
	}
	w := &web{g: g, hasher: h}
	for i := range webCrowd {
		code, err := sale.NormaliseCode(fmt.Sprintf("CODE-%05d", i))
		if err != nil {
			return nil, err
		}
		text := fmt.Sprintf("person.%d@example.org", i)
		mail, err := sale.ParseEmail(text)
		if err != nil {
			return nil, err
		}
		w.crowd = append(w.crowd, visitor{
			row:  admission.RosterEntry{Candidate: string(h.Code(code)), EmailHash: string(h.Email(mail))},
			body: fmt.Sprintf(`{"code":"CODE-%05d","email":%q,"level":%q,"website":""}`, i, text, level),
		})
	}
	return w, nil
}

// instant answers at once for what is not measured.
type instant struct {
	payment.Gateway
	n atomic.Int64
}

func (*instant) Name() string         { return "instant" }
func (*instant) Moves() payment.Moves { return payment.MovesOnPage }
func (*instant) Payee() string        { return "us" }
func (*instant) Live() bool           { return false }
func (i *instant) Create(context.Context, payment.CreateRequest) (payment.Session, error) {
	id := "pay_" + strconv.FormatInt(i.n.Add(1), 10)
	return payment.Session{PaymentID: id, URL: "https://pay.example/" + id}, nil
}
func (*instant) Publish(context.Context, events.Event) error { return nil }
func (*instant) Changed(string, int64)                       {}

// batched is the adapter as a process wires it: what is many goes in batches.
type batched struct {
	*admredis.Store
	c *admredis.Committer
}

func (b batched) Admit(ctx context.Context, r admission.Request) (admission.Answer, error) {
	return b.c.Admit(ctx, r)
}

func (b batched) Attach(ctx context.Context, a admission.Attachment) (admission.AttachAnswer, error) {
	return b.c.Attach(ctx, a)
}

// site is where requests go: f is given the addresses of its servers and the path.
type site func(ctx context.Context, f func(addrs []string, path string) error) error

// behind is what stands behind an ingress; nil takes no time.
type behind struct {
	queue   events.Publisher
	gateway payment.Gateway
}

// booking is an ingress with a fresh sale of which everybody in the crowd may have
// a seat.
func (w *web) booking(b behind) site {
	return func(ctx context.Context, f func(addrs []string, path string) error) (err error) {
		store, err := w.open(ctx)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, store.Close()) }()
		in, err := w.ingress(ctx, store, b)
		if err != nil {
			return err
		}
		return serve(in.Public(), func(addr string) error { return f([]string{addr}, w.path()) })
	}
}

func (w *web) path() string { return "/sales/" + w.g.sale + "/bookings" }

// open is our adapter with a fresh sale and its roster.
func (w *web) open(ctx context.Context) (*admredis.Store, error) {
	if err := w.g.fresh(ctx, webCrowd, webCrowd); err != nil {
		return nil, err
	}
	store, err := w.g.store(w.g.primary())
	if err != nil {
		return nil, err
	}
	rows := make([]admission.RosterEntry, len(w.crowd))
	for i, v := range w.crowd {
		rows[i] = v.row
	}
	if err := store.PutRoster(ctx, w.g.sale, rows); err != nil {
		return nil, errors.Join(err, store.Close())
	}
	return store, nil
}

func (w *web) ingress(ctx context.Context, store *admredis.Store, b behind) (*ingress.Ingress, error) {
	ground, none := batched{store, admredis.NewCommitter(store, groupDefaults)}, &instant{}
	if b.queue == nil {
		b.queue = none
	}
	if b.gateway == nil {
		b.gateway = none
	}
	records := ledgertest.NewStore(time.Now)
	now := time.Now()
	plan := sale.Sale{
		ID: w.g.sale, Title: "Bench", Zone: "UTC", OpensAt: now.Add(-time.Hour), ClosesAt: now.Add(time.Hour), Hold: 10 * time.Minute,
		Price: sale.Money{AmountMinor: 2500, Currency: "EUR"}, MaxSeats: 1, Levels: []sale.Level{{Name: level, Cap: webCrowd}},
	}.WithDefaults()
	if err := records.CreateControl(ctx, ledger.Control{Sale: w.g.sale, Gen: generation, Plan: plan, Open: true}); err != nil {
		return nil, err
	}
	gateways := payment.Gateways{b.gateway.Name(): b.gateway}
	steps := &lifecycle.Steps{Store: records, Redis: ground, Gateways: gateways, Guard: store, Publish: b.queue, Status: none, Controls: records,
		Alarm: func(lifecycle.Alarm) {}, Now: time.Now, Log: quiet()}
	gates := admredis.NewGates(store, ground)
	gates.Watch(w.g.sale, []string{level})
	if err := gates.Refresh(ctx, w.g.sale); err != nil {
		return nil, err
	}
	in, err := ingress.New(ingress.Options{Hasher: w.hasher, Ledger: records, Redis: ground, Admit: gates, AdmitIsGated: true, Walks: steps, Publish: b.queue,
		Gateways: gateways, Gateway: b.gateway.Name(), Status: none, PublicURL: "https://book.example", Log: quiet()})
	if err != nil {
		return nil, err
	}
	return in, in.Refresh(ctx)
}

// serve gives f the address of a server for h.
func serve(h http.Handler, f func(addr string) error) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	s := &http.Server{Handler: h, ReadHeaderTimeout: 5 * time.Second}
	done := make(chan error, 1)
	go func() { done <- s.Serve(l) }()
	err = f(l.Addr().String())
	err = errors.Join(err, s.Close())
	if ended := <-done; !errors.Is(ended, http.ErrServerClosed) {
		err = errors.Join(err, ended)
	}
	return err
}

// nothing is the least that a JSON handler of the same framework does.
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

// hello is a handler without a framework.
func hello() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // as much as a hello reads
		w.WriteHeader(http.StatusCreated)
		_, _ = io.WriteString(w, "hello") // a client that is gone is nobody's loss
	})
}
