package ingress_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/admission/admissiontest"
	"github.com/holdfast/holdfast/ingress"
	"github.com/holdfast/holdfast/ingress/admin"
	"github.com/holdfast/holdfast/ledger"
)

// slowAdmit holds every admission until it is let go.
type slowAdmit struct {
	admission.Admitter
	entered, release chan struct{}
}

func (s *slowAdmit) Admit(ctx context.Context, r admission.Request) (admission.Answer, error) {
	s.entered <- struct{}{}
	select {
	case <-s.release:
	case <-ctx.Done():
		return admission.Answer{}, ctx.Err()
	}
	return s.Admitter.Admit(ctx, r)
}

func listen(t testing.TB) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// serve runs the ingress on real listeners until stop is called.
func (w *world) serve() (public, operator string, stop context.CancelFunc, ended chan error) {
	w.Helper()
	p, o := listen(w.TB), listen(w.TB)
	ctx, stop := context.WithCancel(w.Context())
	ended = make(chan error, 1)
	go func() { ended <- w.in.Serve(ctx, p, o) }()
	return "http://" + p.Addr().String(), "http://" + o.Addr().String(), stop, ended
}

var client = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: time.Minute}

func get(t *testing.T, url string) (int, string) {
	t.Helper()
	r, err := client.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Body.Close() }()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return r.StatusCode, string(body)
}

// A shutdown finishes the driver that is under way, and takes nothing new.
func TestShutdownFinishesWhatIsUnderWay(t *testing.T) {
	var slow *slowAdmit
	w := newWorld(t, func(o *ingress.Options) {
		slow = &slowAdmit{o.Admit, make(chan struct{}), make(chan struct{})}
		o.Admit = slow
	})
	public, operator, stop, ended := w.serve()
	defer stop()
	if status, body := get(t, operator+"/readyz"); status != 200 {
		t.Fatalf("%d %s", status, body)
	}
	type reply struct {
		status int
		err    error
	}
	answered := make(chan reply, 1)
	go func() {
		r, err := client.Post(public+"/sales/spring/bookings", "application/json", strings.NewReader(wish(1, "N1")))
		if err != nil {
			answered <- reply{0, err}
			return
		}
		answered <- reply{r.StatusCode, r.Body.Close()}
	}()
	<-slow.entered
	stop()
	waitFor(t, "the process to be unready", func() bool { status, _ := get(t, operator+"/readyz"); return status == 503 })
	waitFor(t, "the public listener to close", func() bool {
		_, err := net.Dial("tcp", strings.TrimPrefix(public, "http://"))
		return err != nil
	})
	close(slow.release)
	if r := <-answered; r.status != 201 || r.err != nil {
		t.Errorf("the booking under way: %+v", r)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if w.used() != 1 || len(w.events()) != 1 {
		t.Errorf("%d used, %d events", w.used(), len(w.events()))
	}
}

func waitFor(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !ok(); {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain for %s", what)
		}
		<-time.After(time.Millisecond)
	}
}

// A driver that does not end is broken off, and the shutdown says so.
func TestShutdownIsBounded(t *testing.T) {
	var slow *slowAdmit
	w := newWorld(t, func(o *ingress.Options) {
		slow = &slowAdmit{o.Admit, make(chan struct{}), make(chan struct{})}
		o.Admit, o.Drain = slow, 50*time.Millisecond
	})
	public, _, stop, ended := w.serve()
	gone := make(chan error, 1)
	go func() {
		r, err := client.Post(public+"/sales/spring/bookings", "application/json", strings.NewReader(wish(1, "N1")))
		if err == nil {
			_ = r.Body.Close()
		}
		gone <- err
	}()
	<-slow.entered
	stop()
	if err := <-ended; !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("ended with %v", err)
	}
	<-gone
	close(slow.release)
	waitFor(t, "the driver", func() bool { return len(w.events()) == 1 })
}

// panicking is an admission that breaks.
type panicking struct{ admission.Admitter }

func (panicking) Admit(_ context.Context, r admission.Request) (admission.Answer, error) {
	panic("with what the candidate sent: " + r.Candidate + " CODE-0001")
}

func TestPanicIsAProblemAndAMetric(t *testing.T) {
	w := newWorld(t, func(o *ingress.Options) { o.Admit = panicking{} })
	w.book(wish(1, "N1"), 500, "internal")
	if log := w.logs.String(); !strings.Contains(log, "panic") || strings.Contains(log, "CODE-0001") || strings.Contains(log, "what the candidate sent") {
		t.Errorf("log: %s", log)
	}
	a := w.send(w.in.Operator(), "GET", "/metrics", "")
	if !strings.Contains(string(a.raw), "holdfast_ingress_panics_total 1") {
		t.Error("not counted")
	}
	if !strings.Contains(string(a.raw), "holdfast_ingress_in_flight 0") {
		t.Error("in flight for ever")
	}
}

func TestMetricsCountOutcomes(t *testing.T) {
	w := newWorld(t)
	w.book(wish(1, "N1"), 201, "")
	w.book(wish(1, "N1"), 409, "duplicate")
	w.book("{", 400, "invalid_request")
	metrics := string(w.send(w.in.Operator(), "GET", "/metrics", "").raw)
	for _, line := range []string{
		`holdfast_ingress_bookings_total{outcome="created"} 1`, `holdfast_ingress_bookings_total{outcome="duplicate"} 1`,
		`holdfast_ingress_bookings_total{outcome="invalid_request"} 1`, `holdfast_ingress_admissions_total{outcome="admitted"} 1`,
		`holdfast_ingress_published_total{result="ok"} 1`, `holdfast_ingress_payment_creates_total{gateway="page",result="ok"} 1`,
		`holdfast_ingress_requests_total{route="POST /sales/:sale/bookings",status="201"} 1`,
	} {
		if !strings.Contains(metrics, line+"\n") {
			t.Errorf("no %s in\n%s", line, metrics)
		}
	}
}

func TestReadinessMeansIt(t *testing.T) {
	queue := errors.New("the queue does not answer")
	w := newWorld(t, func(o *ingress.Options) {
		o.Ready = []admin.Check{{Name: "queue", Run: func(context.Context) error { return queue }}}
	})
	a := w.send(w.in.Operator(), "GET", "/readyz", "")
	var doc struct {
		Ready  bool
		Checks map[string]string
	}
	if err := json.Unmarshal(a.raw, &doc); err != nil || a.status != 503 || doc.Ready || doc.Checks["queue"] != queue.Error() || doc.Checks["redis"] != "ok" || doc.Checks["ledger"] != "ok" {
		t.Errorf("%d %s", a.status, a.raw)
	}
	queue = nil
	if a = w.send(w.in.Operator(), "GET", "/readyz", ""); a.status != 503 {
		t.Error("checks are not shared for a second")
	}
	w.advance(time.Second)
	if a = w.send(w.in.Operator(), "GET", "/readyz", ""); a.status != 200 {
		t.Errorf("%d %s", a.status, a.raw)
	}
	w.advance(40 * time.Second) // the plans are old
	if a = w.send(w.in.Operator(), "GET", "/readyz", ""); a.status != 503 {
		t.Error("ready with plans of 40 s")
	}
	if a = w.send(w.in.Operator(), "GET", "/healthz", ""); a.status != 200 {
		t.Error("not healthy")
	}
}

func TestOptionsAreChecked(t *testing.T) {
	_, err := ingress.New(ingress.Options{Gateway: "page"})
	for _, name := range []string{"Hasher", "Ledger", "Redis", "Admit", "Walks", "Publish", "Status", "PublicURL", "gateway"} {
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s is not missed: %v", name, err)
		}
	}
}

// A sale that another build has loaded is answered 503, and the metric says why.
// While it sells, this process is not ready: in a deployment those who can sell it
// go on. One that is closed keeps nobody from the sales beside it.
func TestAnotherBuildsSaleIs503AndUnreadyWhileItSells(t *testing.T) {
	w := newWorld(t)
	w.redis.Foreign()
	w.book(wish(1, "N1"), 503, "unavailable")
	metrics := string(w.send(w.in.Operator(), "GET", "/metrics", "").raw)
	if line := `holdfast_ingress_admissions_total{outcome="layout"} 1`; !strings.Contains(metrics, line+"\n") {
		t.Errorf("no %s in\n%s", line, metrics)
	}
	if !strings.Contains(w.logs.String(), admission.ErrLayout.Error()) {
		t.Error("the log does not say why")
	}
	ready := func(want int, says string) {
		t.Helper()
		w.advance(time.Second)
		w.refresh()
		if a := w.send(w.in.Operator(), "GET", "/readyz", ""); a.status != want || !strings.Contains(string(a.raw), says) {
			t.Errorf("%d %s, want %d", a.status, a.raw, want)
		}
	}
	control := func(change func(c *ledger.Control)) {
		t.Helper()
		if _, err := w.store.UpdateControl(t.Context(), theSale, func(c *ledger.Control) error { change(c); return nil }); err != nil {
			t.Fatal(err)
		}
	}
	ready(503, "this build can't sell "+theSale)
	control(func(c *ledger.Control) { c.Open = false })
	ready(200, "")
	control(func(c *ledger.Control) { c.Open, c.Frozen = true, true })
	ready(200, "")
	control(func(c *ledger.Control) { c.Frozen = false })
	ready(503, "this build can't sell")
	w.advance(24 * time.Hour)
	ready(200, "")
}

// beside is a Redis that another build loaded one of the sales into.
type beside struct {
	*admissiontest.Redis
	foreign string
}

// Record implements admission.Lookup.
func (b beside) Record(ctx context.Context, saleID, bookingID string) (admission.Record, error) {
	if saleID == b.foreign {
		return admission.Record{}, admission.ErrLayout
	}
	return b.Redis.Record(ctx, saleID, bookingID)
}

// A booking's id does not name its sale. One that can't be asked hides no booking of
// the others; but what is in none of the others may be there.
func TestASaleOfAnotherBuildHidesNoBooking(t *testing.T) {
	const old = "autumn" // asked before the other
	w := newWorld(t, func(o *ingress.Options) {
		o.Redis = beside{o.Redis.(*admissiontest.Redis), old}
	})
	plan := w.plan
	plan.ID = old
	if err := w.store.CreateControl(w.Context(), ledger.Control{Sale: old, Gen: 1, Plan: plan}); err != nil {
		t.Fatal(err)
	}
	w.refresh()
	booked := w.book(wish(1, "N1"), 201, "")
	page := "/bookings/" + booked.text("booking_id")
	if a := w.do("GET", page, ""); a.status != 200 || a.text("state") != "held" {
		t.Errorf("%d %s", a.status, a.raw)
	}
	w.wants(w.do("DELETE", page, ""), 200, "")
	unknown, err := w.hasher.BookingID(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	w.wants(w.do("GET", "/bookings/"+unknown, ""), 503, "unavailable")
}
