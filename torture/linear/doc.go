// Package linear records what concurrent clients see of small sales while the
// Redis under them fails over, and lets porcupine say whether any order of the
// calls explains it.
//
// What admission promises is linearizable: an acknowledged admission holds its
// seat until somebody gives it back, and no seat, candidate or cap has room for
// two (protocol.md R4, 3.4). An operation whose outcome the client never learned
// stays open: it may have happened, or not, or take effect later.
//
// What is not promised is not demanded. Refusals and plain reads wait for no
// replica (protocol.md 3.4: "rejections need no WAIT"), so they may have seen an
// admission or a release that was under way at the time and was then lost with
// the primary. The specification lets such an answer lean on every operation
// that was open while it was asked, and on no other.
package linear
