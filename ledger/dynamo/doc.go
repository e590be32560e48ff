// Package dynamo keeps the ledger in one DynamoDB table (protocol.md 3.3).
//
// Items, all with the string keys pk and sk:
//
//	pk                        sk                        what
//	B#<bid>                   -                         a booking
//	C#<sale>#<candidate>      -                         the candidate's one live booking
//	S#<sale>#<token>          -                         the seat's one live booking
//	P#<gateway>#<payment>     -                         a payment
//	R#<sale>#<candidate>      -                         a roster row
//	G#<sale>                  control                   the control item
//	G#<sale>                  status                    the published status
//	G#<sale>                  note#<kind>               the newest note of a sweep
//	G#<sale>                  audit#<ms>#<hash>         one act of an operator
//	I#<sale>                  <id>                      a parked item
//	SALES                     <sale>                    the directory of sales
//
// The sort key exists for the last four: they are lists that operators read
// whole and must read consistently, which an index cannot give. Everything in a
// booking's way has a partition of its own, and none of it touches G.
//
// One sparse index, due (due_pk, due_sk; keys only), serves the sweeps. A
// booking is in it while HELD (hold_due) or while its undo is owed (undo), a
// payment while its refund is DUE or SENT (refund_due); never two at once, so
// one index does for three:
//
//	due_pk  <hold_due|undo|refund_due>#<sale>#<shard 00..15>
//	due_sk  <milliseconds, 13 digits>#<booking id or payment>
//
// Amounts are integers of the minor unit, times integers of milliseconds.
package dynamo
