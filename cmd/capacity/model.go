package main

import "fmt"

// input is what a seller knows of the sale.
type input struct {
	Bookings, Attempts, Polls float64 // a month's; the others for each booking
	Rate, Winners             float64 // of the busiest second
	RedisMicros               float64
}

var defaults = input{Bookings: 1e6, Attempts: 5, Polls: 30, Rate: 2000, Winners: 400, RedisMicros: 50}

func (in input) check() error {
	for name, v := range map[string]float64{"bookings": in.Bookings, "attempts": in.Attempts, "rate": in.Rate, "redis-us": in.RedisMicros} {
		if v <= 0 {
			return fmt.Errorf("-%s is %v: it has to be over 0", name, v)
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

// size is one of two settings.
type size struct {
	name                    string
	node                    float64
	ingress, workers        float64 // tasks
	ingressCPU, ingressGB   float64
	workersCPU, workersGB   float64
	alarms, secrets, metric float64
}

var sizes = map[string]size{
	"small": {"small", valkeyT4gSmall, 2, 1, 0.5, 1, 0.25, 0.5, 30, 4, 8},
	"large": {"large", valkeyR7gLarge, 4, 4, 1, 2, 0.5, 1, 30, 4, 8},
}

type cost struct {
	what string
	usd  float64
}

// idle is the bill of a month in which nobody buys anything.
func idle(s size) []cost {
	tasks := s.ingress*(s.ingressCPU*fargateCPU+s.ingressGB*fargateGB) + s.workers*(s.workersCPU*fargateCPU+s.workersGB*fargateGB)
	return []cost{
		{"Redis: primary and replica", 2 * s.node * hours},
		{"Fargate (arm64): ingress and workers", tasks * hours},
		{"NAT in two zones, and their addresses", 2 * (natHour + addressHour) * hours},
		{"load balancer", balancerHour * hours},
		{"firewall: list and rule", aclMonth + ruleMonth},
		{"secrets, key, alarms, metrics", s.secrets*secretMonth + keyMonth + s.alarms*alarmMonth + s.metric*metricMonth},
	}
}

// usage is what bookings add.
func usage(in input) []cost {
	requests := in.Bookings * (in.Attempts + in.Polls)
	// Of polls, CloudFront answers nine of ten from its cache.
	reaching := in.Bookings * (in.Attempts + in.Polls/10)
	return []cost{
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
