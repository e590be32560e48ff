// Package reaper heals: it sweeps what crashed processes left behind, compares
// Redis with the ledger by id, repairs what it can prove, rebuilds a lost
// Redis, and audits the promises (protocol.md 3.8, 3.9).
//
// Every door here is one bounded pass that returns numbers; the schedule is
// someone else's (Loop is one). Any number of passes may run at once, in any
// number of processes: each step is conditional in the ledger or idempotent in
// Redis, and ages only decide when something is tried, never whether it is
// right. One bad id never stops a pass: it is counted and logged, and the next
// pass tries it again.
package reaper
