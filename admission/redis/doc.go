// Package redis is the Redis adapter of admission: one Lua script per step of
// protocol.md 3.4, one typed method per script, replica acknowledgement, group
// commit and the local gates. It implements every port of package admission.
//
// # Layout
//
// All keys of a sale carry the hash tag {sale} and come from one builder, so a
// sale is one slot and one Redis thread (protocol.md 3.2 lists the keys). Values
// are fields joined by "|", so that no script has to parse more than it needs.
//
//	pending  stage|driver|v|hold_until|pid|candidate|level|key|input|email|t|amount|currency|gen|seats|scores
//	bk       the same, once the ledger knows the booking; and soft holds
//	last     bid|key|input
//	owner:L  who has token 1, 2, 3… of a counted level: slots of 40 bytes
//
// Stage, driver, v (ms of the last take-over), hold_until (ms) and pid change
// during a booking's life and stand in front; the rest is written once. pid is the
// payment's id, or "id until url" as long as its page may be wanted (ms). seats
// and scores are lists joined by ",". Neither separator can be in a field:
// every string is checked at this boundary, before a script is called, against
// the alphabet of its kind (valid.go).
//
// # Acknowledgement
//
// A script whose answer is a promise is followed by WAIT on the connection that
// ran it, and WAIT's answer counts only after the script's own reply was read
// (protocol.md 1.1). go-redis never retries here: a lost answer would run the
// script again behind our back. This package retries itself, with the same
// booking id.
//
// # The hot path
//
// Admissions, and attaches, settles and reads of a Committer, travel on wires
// (wire.go): connections that go-redis dials and this package talks on, so that
// a script and its WAIT leave in one write and refusals are answered between the
// two replies. Everything else uses go-redis's own connections.
package redis
