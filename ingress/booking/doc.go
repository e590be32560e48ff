// Package booking drives one booking from the first gate to the answer
// (protocol.md 3.5): admit, create the payment, attach it, queue booking.held.
// It knows no HTTP: the ingress maps its verdicts to status codes.
//
// A driver may die between any two of its steps. Each step leaves what a
// reaper, a worker or the candidate's own retry can finish (protocol.md 3.9),
// so nothing here tries to be atomic; the order of the steps is what counts.
package booking
