package sim

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/holdfast/holdfast/events"
	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/payment/sandbox/engine"
)

// heal stops all faults, starts what is down and lets the sweeps alone do the
// rest; then everything has to add up.
func (t *town) heal() error {
	t.faults.calm = true
	t.calm.Store(true)
	for _, p := range t.houses() {
		p.pausedUntil = time.Time{}
		p.skew.Store(0)
	}
	t.must(t.pay.SetFaults("", engine.Faults{}))
	t.log.printf("CALM")
	end := time.Now().Add(healingMost)
	nextCare := time.Now()
	good := 0 // how often in a row everything added up
	var last error
	for time.Now().Before(end) {
		if err := t.advance(nextCare.Add(time.Minute)); err != nil {
			return err
		}
		if time.Now().Before(nextCare) {
			continue
		}
		nextCare = time.Now().Add(2 * time.Minute)
		if last = errors.Join(t.quiet(), t.audit.rest()); last != nil {
			t.log.printf("not at rest: %v", last)
			good = 0
		} else if good++; good == 2 {
			return nil
		}
	}
	return fmt.Errorf("it does not come to rest: %w", last)
}

// quiet redrives what is dead and has a frozen sale rebuilt, as operators do. An
// error says what is still under way.
func (t *town) quiet() error {
	n, err := t.redriveAll()
	t.must(err)
	d, err := depthOf(t.cloud)
	t.must(err)
	c, err := t.ledger.Control(t.ctx, theSale)
	t.must(err)
	if c.Frozen && !t.operator.rebuilding() {
		t.operator.rebuildSoon(time.Second)
	}
	told := t.tellAgain()
	for _, e := range t.pay.Payments() {
		if e.LateUnderWay {
			told = append(told, e.PaymentID+" (late)")
		}
	}
	if id := t.some(ledger.Held, 0); id != "" {
		return fmt.Errorf("sim: booking %s is still held", id)
	}
	if n > 0 || d != (events.Depth{}) || c.Frozen || t.pay.Waiting() > 0 || len(told) > 0 {
		return fmt.Errorf("sim: %d dead letters redriven, queues %+v, frozen %t, %d webhooks, payments %v", n, d, c.Frozen, t.pay.Waiting(), told)
	}
	return nil
}

// tellAgain is the gateway that goes on telling, as real ones do for days: the
// sandbox gives a webhook up after a quarter of an hour, and can be told to drop
// it. Only after that, so that it hides nothing that we lost ourselves.
func (t *town) tellAgain() (told []string) {
	if fired := t.pay.Fired(); fired["webhook_dead"]+fired["webhook_drop"] == 0 {
		return nil
	}
	for _, e := range t.pay.Payments() {
		p, err := t.ledger.Payment(t.ctx, ledger.PaymentKey{Gateway: e.Account, ID: e.PaymentID})
		if e.CapturedMinor == 0 || err == nil && p.Resolution != ledger.Open {
			continue
		}
		told = append(told, e.PaymentID)
		path := "/payments/" + e.Account + "/return?payment_id=" + e.PaymentID + "&sale=" + theSale
		t.network.run(func(context.Context) {
			_, _ = t.request(t.network, rand.New(rand.NewPCG(t.options.Seed, 3)), http.MethodGet, path, "", nil) // the next look tells again
		})
	}
	return told
}

// redriveAll moves every dead letter back.
func (t *town) redriveAll() (int, error) {
	return t.cloud.Redrive(events.DeadQueueName, events.QueueName)
}
