// Package console is the operators' page: a sale live on one screen, and the
// acts on it. It runs on the operators' listener. A browser logs in with the
// operators' token and gets a session; every act needs the session's own token,
// and goes through the same admin API as everybody else's.
package console

import (
	"context"
	"embed"
	"html/template"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/labstack/echo/v4"
	"golang.org/x/time/rate"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/ingress/admin"
	"github.com/holdfast/holdfast/ingress/static"
	"github.com/holdfast/holdfast/ledger"
)

// Desk is what the console needs beside the acts of the admin API. Documents
// (any) are shown as JSON; what each act promises is said there: safe to repeat,
// and in the sale's trail before anything changes.
type Desk interface {
	admin.Operations
	// SetTimes moves opening and closing; a zero time stays.
	SetTimes(ctx context.Context, saleID string, opensAt, closesAt time.Time, by admin.By) error
	// Lookup finds a candidate by code; email may be "". With ended the bookings that
	// are over are found, too, which reads every booking of the sale.
	Lookup(ctx context.Context, saleID, code, email string, ended bool) (any, error)
	Trail(ctx context.Context, saleID string, each func(TrailEntry) error) error
	Export(ctx context.Context, saleID string, out io.Writer) error
	// ImportRoster reads what open opens, more than once.
	ImportRoster(ctx context.Context, saleID string, open func() (io.ReadCloser, error), o ImportOptions, by admin.By) (any, error)
	Repair(ctx context.Context, saleID string, dryRun bool, by admin.By) (any, error)
	Resolve(ctx context.Context, saleID, itemID string, refund bool, by admin.By) error
	Health(ctx context.Context, saleID string) (admission.Health, error)
	// Minutes are what the ingresses of the deployment answered; ledger.MinuteStore.
	Minutes(ctx context.Context, saleID string, since time.Time, each func(ledger.Minute) error) error
	// Report is the report on the sale as one page, signed if the deployment has a
	// key, and the policy that lets a browser show it.
	Report(ctx context.Context, saleID, by string) (page []byte, policy string, err error)
}

// TrailEntry is one act of an operator.
type TrailEntry struct {
	At     time.Time `json:"at"`
	Actor  string    `json:"actor"`
	Action string    `json:"action"`
	Reason string    `json:"reason"`
	Before string    `json:"before"`
	After  string    `json:"after"`
}

// ImportOptions say how a roster is imported: DryRun writes nothing, Add keeps
// the candidates that the file does not name.
type ImportOptions struct{ DryRun, Add bool }

// Authenticator says which operator is behind a browser's request. The login with
// the operators' token is one that the console has itself; others are proxies in
// front of it that know the organisation's accounts, as albproxy does. The name
// goes into the trail, and must be a sale.ValidName.
type Authenticator interface {
	Operator(r *http.Request) (name string, ok bool)
}

// Options of a Console. All but Proxy are required.
type Options struct {
	Desk  Desk
	Token string        // what operators log in with
	Proxy Authenticator // beside that; nil: nobody else is let in
	Now   func() time.Time
}

// Console serves the page. A nil Console admits nobody and has no routes.
type Console struct {
	Options
	sessions sessions
	logins   *rate.Limiter
	ended    chan struct{}
	end      sync.Once

	mu      sync.Mutex
	watches map[string]*watch
}

//go:embed files
var files embed.FS

var (
	assets = static.Must(files, "/console/assets/")
	pages  = template.Must(template.New("").Funcs(template.FuncMap{"asset": assets.Address}).ParseFS(files, "files/*.html"))
)

// A person who mistypes a token tries a few times; a machine that guesses one
// must not be quicker than a person.
const (
	loginsPerSecond = 1
	loginBurst      = 10
)

// New returns a Console for operations that are a Desk, else nil.
func New(ops admin.Operations, o Options) *Console {
	desk, ok := ops.(Desk)
	if !ok {
		return nil
	}
	o.Desk = desk
	return &Console{Options: o, sessions: newSessions(o.Token, o.Now), logins: rate.NewLimiter(loginsPerSecond, loginBurst),
		ended: make(chan struct{}), watches: make(map[string]*watch)}
}

// Close ends the streams, so that a shutdown does not wait for them. Safe to
// call twice, and on nil.
func (c *Console) Close() {
	if c != nil {
		c.end.Do(func() { close(c.ended) })
	}
}

// Route is one address of the console. Free ones need no operator: they show
// nothing of any sale.
type Route struct {
	Method, Path string
	Handle       echo.HandlerFunc
	Free         bool
}

// Routes are the addresses of the console.
func (c *Console) Routes() []Route {
	if c == nil {
		return nil
	}
	const one = "/console/sales/:sale/"
	return []Route{
		{http.MethodGet, "/console", c.page, true},
		{http.MethodGet, "/console/login", c.loginPage, true},
		{http.MethodPost, "/console/login", c.login, true},
		{http.MethodPost, "/console/logout", c.logout, true},
		{http.MethodGet, "/console/assets/:name", c.asset, true},
		{http.MethodGet, one + "stream", c.stream, false},
		{http.MethodPut, one + "times", c.setTimes, false},
		{http.MethodPost, one + "lookup", c.lookup, false},
		{http.MethodGet, one + "trail", c.trail, false},
		{http.MethodGet, one + "export.csv", c.export, false},
		{http.MethodGet, one + "report.html", c.report, false},
		{http.MethodPost, one + "roster", c.importRoster, false},
		{http.MethodPost, one + "repair", c.repair, false},
		{http.MethodPost, one + "inbox/:item/resolve", c.resolve, false},
	}
}
