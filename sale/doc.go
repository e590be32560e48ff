// Package sale says what is sold and to whom: the Sale with its levels, seats, price and times, the candidate's code and e-mail, and the keyed hashes under which everything else knows a candidate.
//
// It is a leaf: it imports the standard library only, does no I/O and reads no clock. Sale files are read by salefile, rosters by roster.
package sale

// The zone database is linked in, so that a sale opens at the same second on a host without zone files (a scratch image, a Lambda).
import _ "time/tzdata"
