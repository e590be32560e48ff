package ingress

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/events"
	"github.com/holdfast/holdfast/ingress/admin"
	"github.com/holdfast/holdfast/ingress/booking"
	"github.com/holdfast/holdfast/ingress/console"
	"github.com/holdfast/holdfast/ingress/gate"
	"github.com/holdfast/holdfast/ingress/limit"
	"github.com/holdfast/holdfast/ingress/seats"
	"github.com/holdfast/holdfast/ingress/tally"
	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/lifecycle"
	"github.com/holdfast/holdfast/payment"
	"github.com/holdfast/holdfast/sale"
)

// Redis is what an ingress needs of admission's adapter, beside Admit.
type Redis interface {
	booking.Admission
	admission.StatusReader
}

// Ledger is what an ingress reads. Nothing on a booking's way reads it.
type Ledger interface {
	booking.Ledger
	gate.Ledger
	StatusSource
}

// Options are what an ingress is made of. Fields without a remark are required.
type Options struct {
	Hasher   *sale.Hasher
	Ledger   Ledger
	Redis    Redis
	Admit    admission.Admitter // may batch
	Walks    booking.Walks      // *lifecycle.Steps
	Publish  events.Publisher
	Gateways payment.Gateways
	Gateway  string // of Gateways: where new bookings pay
	Status   lifecycle.StatusNotifier

	PublicURL      string         // as candidates reach us
	TrustedProxies []netip.Prefix // hops whose X-Forwarded-For counts; none: the peer is the client
	// RatePerClient and RatePerCode are booking requests per second; 0: no limit.
	// A client may save up a minute's worth and a code ten seconds': see Limits.
	RatePerClient, RatePerCode float64

	// Minutes keeps what this process answers, for consoles and reports; nil: nobody does.
	Minutes ledger.MinuteStore

	Operations    admin.Operations // nil: the operators' listener has health and metrics only
	OperatorToken string
	Proxy         console.Authenticator // in front of the console, beside the token; nil: none
	Ready         []admin.Check         // beside those that the ingress makes itself

	// AdmitIsGated says that Admit keeps full marks of its own (the Gates of
	// admission/redis do), so that none are kept here.
	AdmitIsGated bool
	// OnSale, if not nil, is told of each sale that is new to this process or has
	// other levels than before.
	OnSale func(saleID string, levels []string)

	Gates       booking.Gates        // nil: gate.Gates, made of Ledger and Redis
	Resume      admission.Resumer    // nil: silent drivers are not taken over
	ResumeAfter time.Duration        // how long a driver has to be silent; 0: 3 s
	Replicas    int                  // of each primary, for readiness: fewer connected make the process unready
	Registry    *prometheus.Registry // nil: one of its own
	Now         func() time.Time     // nil: time.Now
	Rand        io.Reader            // nil: crypto/rand.Reader
	Log         *slog.Logger         // nil: slog.Default
	Drain       time.Duration        // how long Serve waits for drivers; 0: 20 s
}

// Ingress is the door. Make one with New, then Serve it, or mount Public and
// Operator and Run it.
type Ingress struct {
	Options
	driver  *booking.Driver
	seats   *seats.Hub // nil: the adapter keeps no soft holds
	plans   *gate.Plans
	metrics *metrics
	decoy   *decoy
	client  limit.Client
	byIP    *limit.Buckets
	reads   *limit.Buckets
	byCode  *limit.Buckets
	asks    *limit.Buckets
	status  *statusCache
	health  *admin.Health
	console *console.Console // nil: the operations are not those of a whole desk
	keeper  *tally.Keeper    // nil: nobody keeps minutes

	public, operator *echo.Echo
}

// Bursts of the rate limits, in seconds of their rate. Many candidates share
// one address, in an exam centre or behind a mobile carrier, and they all come
// in the same second: an address may spend a minute's worth at once (with the
// default rate 1,200 requests), which no person notices and a flood does.
//
// Reading a booking, giving it back and coming back from a payment have a limit
// of their own, ten times as wide: pages that wait for a payment ask again and
// again, and must not use up what their neighbours need for booking. An id that
// nobody was ever given costs them nothing but its hash (Hasher.Minted): neither
// the ledger nor any sale's Redis is asked about it, so that guessing ids is no
// way to slow a sale down.
//
// A redirect makes us ask the gateway, which has limits of its own: that is
// counted for each booking, or for the address if the redirect names none.
const (
	clientBurst     = 60
	codeBurst       = 10
	readsPerBooking = 10
)

// New builds an ingress, or names every fault of its options. It does no I/O:
// the plans are read by Run.
func New(o Options) (*Ingress, error) {
	o = o.withDefaults()
	if err := o.validate(); err != nil {
		return nil, err
	}
	in := &Ingress{Options: o, client: limit.Client{Trusted: o.TrustedProxies}}
	in.plans = gate.NewPlans(o.Ledger, o.Redis, o.Now, o.Log)
	in.plans.OnSale = o.OnSale
	if in.Gates == nil {
		in.Gates = in.ownGates()
	}
	in.metrics = newMetrics(o.Registry, o.Now)
	in.decoy = newDecoy(o.PublicURL, o.Gateways[o.Gateway])
	in.byIP = limit.NewBuckets(o.RatePerClient, int(clientBurst*o.RatePerClient))
	in.reads = limit.NewBuckets(readsPerBooking*o.RatePerClient, int(clientBurst*readsPerBooking*o.RatePerClient))
	in.byCode = limit.NewBuckets(o.RatePerCode, int(codeBurst*o.RatePerCode))
	in.asks = limit.NewBuckets(o.RatePerCode, int(codeBurst*o.RatePerCode))
	in.status = newStatusCache(o.Ledger, o.Now)
	in.driver = booking.New(booking.Options{
		Admit: o.Admit, Admission: o.Redis, Gates: in.Gates, Walks: o.Walks, Ledger: o.Ledger, Publish: o.Publish,
		Gateway: o.Gateways[o.Gateway], Status: o.Status, PublicURL: o.PublicURL, Sales: in.plans.Sales,
		Observe: in.metrics, Now: o.Now, Rand: o.Rand, MintID: o.Hasher.BookingID, Log: o.Log, Resume: o.Resume, ResumeAfter: o.ResumeAfter,
	})
	in.health = admin.NewHealth(append(in.checks(), o.Ready...), o.Now)
	if err := in.keepMinutes(); err != nil {
		return nil, err
	}
	in.console = console.New(o.Operations, console.Options{Token: o.OperatorToken, Proxy: o.Proxy, Now: o.Now})
	in.public, in.operator = in.publicRoutes(), in.operatorRoutes()
	return in, nil
}

func (in *Ingress) ownGates() *gate.Gates {
	if in.AdmitIsGated {
		return gate.NewGates(in.plans, nil, in.Now)
	}
	return gate.NewGates(in.plans, in.Redis, in.Now)
}

func (o Options) withDefaults() Options {
	o.PublicURL = strings.TrimSuffix(o.PublicURL, "/")
	if o.Registry == nil {
		o.Registry = prometheus.NewRegistry()
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Rand == nil {
		o.Rand = rand.Reader
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	if o.ResumeAfter == 0 {
		o.ResumeAfter = 3 * time.Second
	}
	if o.Drain == 0 {
		o.Drain = 20 * time.Second
	}
	return o
}

func (o Options) validate() error {
	var faults []error
	need := func(missing bool, name string) {
		if missing {
			faults = append(faults, fmt.Errorf("ingress: Options.%s is missing", name))
		}
	}
	need(o.Hasher == nil, "Hasher")
	need(o.Ledger == nil, "Ledger")
	need(o.Redis == nil, "Redis")
	need(o.Admit == nil, "Admit")
	need(o.Walks == nil, "Walks")
	need(o.Publish == nil, "Publish")
	need(o.Status == nil, "Status")
	need(o.PublicURL == "", "PublicURL")
	need(o.Operations != nil && o.OperatorToken == "", "OperatorToken")
	if o.Gateways[o.Gateway] == nil {
		faults = append(faults, fmt.Errorf("ingress: gateway %q is not configured: name one that is in Gateways", o.Gateway))
	}
	return errors.Join(faults...)
}

// Public is the handler of the candidates' listener.
func (in *Ingress) Public() http.Handler { return in.public }

// Operator is the handler of the operators' listener.
func (in *Ingress) Operator() http.Handler { return in.operator }

// Refresh reads the sales' plans once.
func (in *Ingress) Refresh(ctx context.Context) error { return in.plans.Refresh(ctx) }

// Run keeps fresh what the process knows of its sales, until ctx ends. Serve
// calls it; whoever mounts Public elsewhere has to.
func (in *Ingress) Run(ctx context.Context) {
	var wg sync.WaitGroup
	wg.Go(func() { in.plans.Run(ctx) })
	if in.seats != nil {
		wg.Go(func() { in.seats.Run(ctx) })
	}
	if in.keeper != nil {
		wg.Go(func() { in.keeper.Run(ctx) })
	}
	wg.Wait()
}

// Routes are the public listener's, as "METHOD path".
func (in *Ingress) Routes() []string { return routesOf(in.public) }

// OperatorRoutes are the operators' listener's, as "METHOD path".
func (in *Ingress) OperatorRoutes() []string { return routesOf(in.operator) }

func routesOf(e *echo.Echo) []string {
	var list []string
	for _, r := range e.Routes() {
		list = append(list, r.Method+" "+r.Path)
	}
	return list
}
