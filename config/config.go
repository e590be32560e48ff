// Package config reads Holdfast's configuration from the environment and
// reports every fault at once, each with what to do about it. Flags of the
// command line set the same variables, so there is one list and one check.
package config

import (
	"net/netip"
	"time"
)

// Config is everything a Holdfast process needs to know before it starts.
type Config struct {
	Secret []byte // keys the hashes of codes and e-mails; at least 32 bytes

	Redis Redis
	AWS   AWS

	Listen         string         // ingress, e.g. 127.0.0.1:8080
	OperatorListen string         // operators' API, health, metrics
	OperatorToken  string         // bearer token of the operators' API; at least 16 characters
	ConsoleALB     string         // ARN of a load balancer that authenticates operators of the console; "": none does
	ReportKey      string         // seed of the key that signs reports, in base64; "": they are not signed
	PublicURL      string         // as candidates reach the ingress; payment gateways return here
	TrustedProxies []netip.Prefix // hops whose X-Forwarded-For counts; none: the peer's address is the client's

	Gateway  string // the gateway that new bookings pay at
	Sandbox  Sandbox
	LogLevel string // debug, info, warn, error

	SweepEvery, DiffEvery time.Duration // of a long-running reaper
	Workers               int           // groups handled at once by one worker process
	RatePerClient         float64       // booking requests per second and client address; 0: no limit
	RatePerCode           float64       // booking requests per second and code; 0: no limit
}

// Redis says how the primary is found and how many replicas must acknowledge.
type Redis struct {
	Mode       string // single, sentinel or cluster
	Addrs      []string
	MasterName string // sentinel only
	Username   string
	Password   string
	TLS        bool
	// Replicas that must acknowledge each admission. It equals the number of
	// replicas (protocol.md 3.12). 0 only together with AllowUnacknowledged.
	Replicas            int
	AllowUnacknowledged bool
}

// AWS names the queue and the table. Credentials, region and endpoints come
// from the SDK's own variables (AWS_REGION, AWS_ENDPOINT_URL,
// AWS_ENDPOINT_URL_SQS, AWS_ENDPOINT_URL_DYNAMODB, ...).
type AWS struct {
	Table, Queue, DeadLetterQueue string
	// Create makes a missing table or queue at start, for the local cloud.
	Create bool
}

// Sandbox reaches the sandbox payment gateway: one account whose money moves on
// its page ("page") and one whose money moves when we execute ("execute").
type Sandbox struct {
	URL           string // empty: no sandbox gateways
	AppKey        string
	AppSecret     string
	WebhookSecret string
}
