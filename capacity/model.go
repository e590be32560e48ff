// Package capacity is the arithmetic of what a deployment costs and how far it
// goes. docs/capacity.md explains the model and where its figures come from.
package capacity

import (
	"fmt"
	"math"
)

// Input is what a seller knows of the sale.
type Input struct {
	Bookings float64 // paid, in a month
	Sales    float64 // that open in the same second, each with the figures below
	Attempts float64 // booking requests for each of them
	Polls    float64 // requests of pages and status for each of them

	Rate        float64 // booking requests in the busiest second
	Winners     float64 // bookings that the busiest second admits
	GatewayRate float64 // payments a second that the gateway lets us create; 0: nobody knows
	RedisMicros float64 // of Redis's one thread, for one admission
}

// DefaultRedisMicros is the processor time of the primary for one admission
// that nobody shares a batch with, measured at 66 µs; in batches, which is what
// a crowd makes, it is 9 to 14 µs (docs/benchmarks.md). The batch of a small
// crowd lies between.
const DefaultRedisMicros = 50

// Defaults are a month with a million bookings, and an opening second with
// 2,000 requests.
var Defaults = Input{Bookings: 1e6, Sales: 1, Attempts: 5, Polls: 30, Rate: 2000, Winners: 400, RedisMicros: DefaultRedisMicros}

// Check names the first figure that makes no sense, in a stable order.
func (in Input) Check() error {
	for _, f := range []struct {
		name  string
		value float64
		zero  bool // may be 0
	}{
		{"bookings", in.Bookings, false}, {"sales", in.Sales, false}, {"attempts", in.Attempts, false}, {"polls", in.Polls, true}, {"rate", in.Rate, false},
		{"winners", in.Winners, true}, {"gateway-rate", in.GatewayRate, true}, {"redis-us", in.RedisMicros, false},
	} {
		if f.value < 0 || f.value == 0 && !f.zero || math.IsNaN(f.value) || math.IsInf(f.value, 0) {
			return fmt.Errorf("%s is %v: it has to be a number over 0", f.name, f.value)
		}
	}
	return nil
}

// List prices in USD of us-east-1 on demand, without free tiers. They change:
// look at them before you sign anything.
const (
	hours = 730

	valkeyT4gSmall, valkeyR7gLarge = 0.0256, 0.1752 // a node and hour
	fargateCPU, fargateGB          = 0.03238, 0.00356
	natHour, natGB                 = 0.045, 0.045
	addressHour                    = 0.005
	balancerHour, balancerUnit     = 0.0225, 0.008
	aclMonth, ruleMonth            = 5.0, 1.0
	secretMonth, keyMonth          = 0.40, 1.0
	alarmMonth, metricMonth        = 0.10, 0.30

	perMillion      = 1e-6
	writeUnit       = 0.625 * perMillion
	readUnit        = 0.125 * perMillion
	fifoRequest     = 0.50 * perMillion
	edgeRequest     = 1.00 * perMillion
	edgeGB          = 0.085
	firewallRequest = 0.60 * perMillion
	logGB           = 0.50
)

// What one paid booking takes, counted in the code and rounded up. Transactions
// cost two units for each item up to 1 KB.
const (
	// HELD writes B, C, S and P in one transaction, and the index entry; PAID
	// writes B, P and the index entry; history and notices one item each.
	writesHeld, writesPaid = 11.0, 9.0
	readsBooking           = 8.0
	// Two events, each sent, received and deleted; batching makes it less.
	queueRequests = 6.0
	// Gateway calls and logs, in bytes through NAT and into CloudWatch.
	bytesOut, bytesLogged = 12e3, 3e3
	bytesAnswer           = 2e3
)

// What the template makes (a test counts), the metrics of our own that are written
// while nothing is wrong, and about as many as Container Insights writes of a
// cluster with two services.
const alarms, secrets, ownMetrics, insights = 32, 5, 8, 45

// Size is one of two settings, by its name.
type Size struct {
	name                    string
	node                    float64
	ingress, workers        float64 // tasks
	ingressCPU, ingressGB   float64
	workersCPU, workersGB   float64
	alarms, secrets, metric float64
}

// Sizes are the settings that the model knows: small and large.
var Sizes = map[string]Size{
	"small": {"small", valkeyT4gSmall, 2, 1, 0.5, 1, 0.25, 0.5, alarms, secrets, ownMetrics + insights},
	"large": {"large", valkeyR7gLarge, 4, 4, 1, 2, 0.5, 1, alarms, secrets, ownMetrics + insights},
}

// Cost is one line of a bill.
type Cost struct {
	What string  `json:"what"`
	USD  float64 `json:"usd"`
}

// Sum is what the lines come to, in USD.
func Sum(bill []Cost) (usd float64) {
	for _, c := range bill {
		usd += c.USD
	}
	return usd
}

// Idle is the bill of a month in which nobody buys anything.
func Idle(s Size) []Cost {
	tasks := s.ingress*(s.ingressCPU*fargateCPU+s.ingressGB*fargateGB) + s.workers*(s.workersCPU*fargateCPU+s.workersGB*fargateGB)
	return []Cost{
		{"Redis: primary and replica", 2 * s.node * hours},
		{"Fargate (arm64): ingress and workers", tasks * hours},
		{"NAT in two zones, and their addresses", 2 * (natHour + addressHour) * hours},
		{"load balancer", balancerHour * hours},
		{"firewall: list and rule", aclMonth + ruleMonth},
		{"secrets, key, alarms, metrics", s.secrets*secretMonth + keyMonth + s.alarms*alarmMonth + s.metric*metricMonth},
	}
}

// Usage is what bookings add.
func Usage(in Input) []Cost {
	requests := in.Bookings * (in.Attempts + in.Polls)
	// Of polls, CloudFront answers nine of ten from its cache.
	reaching := in.Bookings * (in.Attempts + in.Polls/10)
	return []Cost{
		{"DynamoDB writes", in.Bookings * (writesHeld + writesPaid) * writeUnit},
		{"DynamoDB reads", in.Bookings * readsBooking * readUnit},
		{"SQS FIFO", in.Bookings * queueRequests * fifoRequest},
		{"CloudFront requests", requests * edgeRequest},
		{"CloudFront bytes", requests * bytesAnswer / 1e9 * edgeGB},
		{"firewall requests", reaching * firewallRequest},
		{"load balancer units", reaching * bytesAnswer / 1e9 * balancerUnit},
		{"NAT bytes", in.Bookings * bytesOut / 1e9 * natGB},
		{"logs", in.Bookings * bytesLogged / 1e9 * logGB},
	}
}
