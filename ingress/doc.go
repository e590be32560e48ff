// Package ingress is Holdfast's door to candidates, payment gateways and
// operators: HTTP in front, package booking behind. It maps verdicts to status
// codes, and nothing else decides here (protocol.md 3.5).
//
// Two listeners: the public one, on which every endpoint that sells passes the
// gates, and the operators' one, with the admin API behind a bearer token,
// health and metrics.
//
// No log line holds a code, an e-mail, a token or an idempotency key. There is
// no access log: requests are counted, failures are logged where they happen.
package ingress
