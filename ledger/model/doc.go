// Package model is an explicit-state model checker of Holdfast's protocol. It
// walks, breadth first, every order in which drivers, workers, reapers,
// customers, crashes and a failover can take their steps, on a sale of one or two
// seats, and audits every state that it meets. Each state is also healed: all
// processes die, and redelivery and sweeps alone have to bring the system to
// rest with nothing lost.
//
// Nothing that it judges is written twice where that can be avoided:
//
//   - the ledger is the production machine. Every ledger step is a constructor
//     of package ledger, applied by a small store that interprets the Transition
//     as data, and a failed condition is read by ledger.ReadHold, ReadPay,
//     ReadPayUnheld and ReadLate;
//   - the audit is ledger/invariant, run on a snapshot of each state;
//   - Redis is an interpretation of its own, in 52 bits (redis.go, holds.go); a
//     differential test holds it to admissiontest, which is held to the real
//     server.
//
// All three are pure functions of a few bits, so their answers are remembered:
// that is what makes millions of states affordable.
//
// The order of the steps (driver.go, customer.go, worker.go, late.go, reaper.go) is written
// after protocol.md 3.5 to 3.8. A Rules value leaves one rule of the protocol
// out; every such mutant must be caught (protocol.md 5.2).
package model
