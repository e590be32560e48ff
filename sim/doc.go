// Package sim is the deterministic simulator (protocol.md 5.2, layer 3): the
// real ingress, workers, reaper, operators' desk and gateway adapter on the
// simulated Redis, the local cloud's own engines and a simulated network, under
// one scheduler and one seed.
//
// Everything runs in a testing/synctest bubble, so time is simulated. Every call
// of a port is a turn: the caller stands still until the scheduler picks it, and
// the scheduler picks the next one only when everybody stands still. So exactly
// one step happens at a time, in an order that the seed decides, and the same
// seed makes the same run: the log of two runs is the same, which a test proves.
// At each turn the call may fail before it is done, lose its answer, come late,
// come twice or be overtaken; its process may crash or be paused; and between
// turns Redis fails over, clocks jump and outages begin and end.
//
// The auditor looks after every step that wrote something. At the end all faults
// stop, the sweeps alone heal what is left, and everything has to add up.
package sim
