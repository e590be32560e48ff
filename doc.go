// Package holdfast is the root of a backend that sells a fixed number of seats,
// each exactly once, to a crowd that arrives in the same second.
//
// The code is in the folders beside this file, on four floors; arrows only
// point down:
//
//	leaves   sale, events
//	middle   ledger, admission, payment, then lifecycle and status above them
//	doors    ingress, workers, reaper
//	mains    cmd, cli, wiring, localstack, sim
//
// docs/architecture.md has the picture, docs/protocol.md the rules.
// The tests of this package hold the import table.
package holdfast
