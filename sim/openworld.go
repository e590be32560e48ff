package sim

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/holdfast/holdfast/admission/admissiontest"
	"github.com/holdfast/holdfast/localstack/fifo"
	"github.com/holdfast/holdfast/payment"
	"github.com/holdfast/holdfast/payment/sandbox"
	"github.com/holdfast/holdfast/payment/sandbox/engine"
	"github.com/holdfast/holdfast/payment/sandbox/server"
	"github.com/holdfast/holdfast/sale"
)

// Where things are in the simulated world.
const (
	payHost    = "http://pay.example"
	bookHost   = "http://book.example"
	hookSecret = "hook-secret"
	payee      = "us"
)

// openWorld makes what processes talk to: Redis, ledger, queue and gateway.
func (t *town) openWorld() (err error) {
	t.redis = admissiontest.New(time.Now)
	t.redis.Fault = func(string) admissiontest.Fault { return t.replicas }
	t.redis.Without = t.mutant.scripts()
	t.cloud = fifo.New(fifo.Options{Now: time.Now, Source: rand.NewPCG(t.options.Seed, 2)})
	if err := makeQueues(t.cloud, t.script.maxReceives); err != nil {
		return fmt.Errorf("sim: make the queues: %w", err)
	}
	if t.hasher, err = sale.NewHasher([]byte("0123456789abcdef0123456789abcdef")); err != nil {
		return err
	}
	t.tokens = sandbox.NewMemoryTokens(time.Now, 1000)
	if t.script.withTable {
		if t.tables, err = newTables(t.ctx); err != nil {
			return err
		}
		t.ledger = t.tables.raw
	} else {
		t.ledger = t.newStore()
	}
	t.pay, err = server.New(server.Config{PublicURL: payHost,
		Engine: engine.Config{Now: time.Now, NewID: numbered(), Accounts: []engine.Account{t.account("page", payment.MovesOnPage), t.account("exec", payment.MovesOnExecute)}}})
	return err
}

func (t *town) account(name string, moves payment.Moves) engine.Account {
	a := engine.Account{Name: name, AppKey: name + "key", AppSecret: name + "secret", WebhookSecret: hookSecret,
		WebhookURL: bookHost + "/webhooks/" + name, Payee: payee, Moves: moves, GrantsPerHour: 1000}
	if moves == payment.MovesOnExecute {
		a.InvoiceOnly = t.script.invoiceOnly
		a.InvoiceIdempotent = !t.script.invoiceOnly
	}
	return a
}

// numbered mints the gateway's ids in order.
func numbered() func(kind string) string {
	n := 0
	return func(kind string) string {
		n++
		return fmt.Sprintf("%s_%05d", kind, n)
	}
}

// gateways are the adapters of one process.
func (t *town) gateways(p *process) (payment.Gateways, error) {
	all := payment.Gateways{}
	for _, c := range []sandbox.Config{
		{Name: "page", AppKey: "pagekey", AppSecret: "pagesecret", Moves: payment.MovesOnPage},
		{Name: "exec", AppKey: "execkey", AppSecret: "execsecret", Moves: payment.MovesOnExecute, Tokens: t.tokens},
	} {
		c.BaseURL, c.WebhookSecret, c.Payee, c.Now, c.Log = payHost, hookSecret, payee, p.Now, p.log
		c.HTTPClient = &http.Client{Transport: transport{p: p, service: "gateway", inner: server.InProcess(t.pay), detail: gatewayCall}}
		g, err := sandbox.New(c)
		if err != nil {
			return nil, err
		}
		all[c.Name] = g
	}
	return all, nil
}

// seeded is a reader of random bytes, for one process.
type seeded struct{ rng *rand.Rand }

// Read implements io.Reader.
func (s seeded) Read(b []byte) (int, error) {
	var word [8]byte
	for n := 0; n < len(b); n += 8 {
		binary.LittleEndian.PutUint64(word[:], s.rng.Uint64())
		copy(b[n:], word[:])
	}
	return len(b), nil
}
