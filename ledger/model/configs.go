package model

// Configs are the searches, named as in protocol.md 5.5.
var Configs = []Config{
	{Name: "P1", Text: "two candidates, failover", Drivers: 2, Workers: 1, Reapers: 1, Failovers: 1, Lag: 4},
	{Name: "P1L", Text: "P1 with late payment", Drivers: 2, Workers: 1, Reapers: 1, Failovers: 1, Lag: 3, Payers: 1},
	{Name: "P2", Text: "one candidate books twice, two seats, failover", OneCandidate: true, TwoSeats: true, Drivers: 2, Workers: 1, Reapers: 1, Failovers: 1, Lag: 4},
	{Name: "P3", Text: "request resumed by another, failover", Drivers: 1, Resumers: 1, Workers: 1, Reapers: 1, Failovers: 1, Lag: 5},
	{Name: "P3w", Text: "request resumed by two others, failover", Drivers: 1, Resumers: 2, Workers: 1, Reapers: 1, Failovers: 1, Lag: 5},
	{Name: "P3f", Text: "P3w with two failovers", Drivers: 1, Resumers: 2, Workers: 1, Reapers: 1, Failovers: 2, Lag: 4},
	{Name: "P3r", Text: "P3 with events sent again", Drivers: 1, Resumers: 1, Workers: 1, Reapers: 1, Failovers: 1, Lag: 4, Resend: true},
	{Name: "P4", Text: "DLQ and late redrive, payment", Drivers: 1, Workers: 1, Reapers: 1, DeadLetter: true, Payers: 1},
	{Name: "P4L", Text: "P4 with two candidates", Drivers: 2, Workers: 1, Reapers: 1, DeadLetter: true, Payers: 1},
	{Name: "P5", Text: "two workers on one message, two reapers, payment", Drivers: 1, Workers: 2, Reapers: 2, Payers: 1},
	{Name: "P6", Text: "two workers, late payment, two candidates", Drivers: 2, Workers: 2, Reapers: 1, Payers: 1},
	{Name: "P7", Text: "delayed commands, resume, payment, failover", Drivers: 1, Resumers: 1, Workers: 1, Reapers: 1, Failovers: 1, Lag: 5, Zombies: true, Payers: 1},
	{Name: "P7f", Text: "P7 with two failovers", Drivers: 1, Resumers: 1, Workers: 1, Reapers: 1, Failovers: 2, Lag: 3, Zombies: true, Payers: 1},
	{Name: "P8", Text: "P9 with late payment", Drivers: 2, Workers: 1, Reapers: 1, Failovers: 1, Lag: 2, Stale: true, Payers: 1},
	{Name: "P9", Text: "stale replica promoted despite WAIT, backstop", Drivers: 2, Workers: 1, Reapers: 1, Failovers: 1, Lag: 3, Stale: true},
	{Name: "P10", Text: "cancelled by an operator, refund sweep, events sent again, two workers", Drivers: 1, Workers: 2, Reapers: 1, Payers: 1, Cancel: true, Refunds: true, Resend: true},
	{Name: "P11", Text: "two workers on one late payment, failover", Drivers: 1, Workers: 2, Reapers: 1, Failovers: 1, Lag: 3, Payers: 1},
	{Name: "P11n", Text: "P11 without a failover", Drivers: 1, Workers: 2, Reapers: 1, Payers: 1},
	{Name: "P12", Text: "what a 200 or 201 is worth: resume, events sent again, failover", Drivers: 1, Resumers: 1, Workers: 1, Reapers: 1,
		Failovers: 1, Lag: 4, Resend: true, Promise: true},
	{Name: "H1", Text: "two customers hold, change and book groups that overlap, failover", Groups: true, Holds: true, Drivers: 2, Workers: 1, Reapers: 1, Failovers: 1, Lag: 2},
	{Name: "H1n", Text: "H1 without a failover, late releases, payment", Groups: true, Holds: true, LateRelease: true, Drivers: 2, Workers: 1, Reapers: 1, Payers: 1},
	{Name: "H2", Text: "one customer with two tabs, late releases, failover", OneCandidate: true, Groups: true, Holds: true, LateRelease: true, Drivers: 2, Workers: 1,
		Reapers: 1, Failovers: 1, Lag: 2},
	{Name: "H3", Text: "one hold booked by two requests, resumed, failover", OneCandidate: true, Holds: true, OneHold: true, LateRelease: true, Drivers: 2, Resumers: 1, Workers: 1,
		Reapers: 1, Failovers: 1, Lag: 3, Promise: true},
}

// ConfigNamed finds a configuration; it panics on a name that is none.
func ConfigNamed(name string) Config {
	for _, c := range Configs {
		if c.Name == name {
			return c
		}
	}
	panic("model: no configuration " + name)
}

// Mutant is the protocol without a rule, and where that shows.
type Mutant struct {
	Name, Text, Config string
	Rules              Rules
}

// Mutants are what the model must catch: M1 to M15 and M10v of protocol.md 5.5,
// then those that later rules ask for.
var Mutants = []Mutant{
	{"M1", "the reaper reads the ledger, then undoes: no tombstone", "P1", Rules{ReapUnasked: true}},
	{"M2", "an ambiguous enqueue is undone without a tombstone", "P1", Rules{UndoUnasked: true}},
	{"M3", "S2 gives back whatever the candidate holds", "P2", Rules{UndoByCandidate: true}},
	{"M4", "pending goes when the event is sent", "P1", Rules{ClearAtEnqueue: true}},
	{"M5", "the reaper releases in Redis first", "P1", Rules{RedisFirst: true}},
	{"M6", "T1 makes a released booking live", "P1", Rules{ReleasedRevives: true}},
	{"M7", "S3 clears the candidate's entry, whichever it is", "P2", Rules{SettleByCandidate: true}},
	{"M8", "the reaper asks for a record of the candidate", "P2", Rules{ReapByCandidate: true}},
	{"M9", "nobody waits for the replica before the ledger is written", "P1", Rules{NoWait: true}},
	{"M10", "WAIT 1 of two replicas: the other one is promoted, and INV3 is claimed", "P9", Rules{StaleClaimed: true}},
	{"M10v", "the same without uniqueness in the ledger", "P9", Rules{NoUniqueness: true}},
	{"M11", "a late payment is applied and refunded without asking P", "P6", Rules{NoArbitration: true}},
	{"M12", "a late payment makes its released booking paid", "P1L", Rules{LateRevives: true}},
	{"M13", "T5 does not wait for the replica", "P1", Rules{UndoneAtOnce: true}},
	{"M14", "an undone booking may be admitted again: no dead mark", "P7", Rules{NoDeadMark: true}},
	{"M15", "a resumed request waits neither after S10 nor after S5", "P3", Rules{NoResumeWait: true, NoAttachWait: true}},
	{"M15a", "a resumed request does not wait after S5, and drivers have no numbers", "P3", Rules{NoAttachWait: true, NoDriverNumbers: true}},
	{"M15b", "a short WAIT after S10 is followed by S2 quick, as after S1", "P3", Rules{UndoResumed: true}},

	{"M16", "a quick undo takes attached bookings too", "P11n", Rules{UndoAttached: true}},
	{"M17", "WAIT runs on another connection than its script", "P1", Rules{FreshConnection: true}},
	{"M18", "workers do not attach what they admit", "P11n", Rules{NoPin: true}},
	{"M19", "a release owes no undo", "P1", Rules{NoOwed: true}},
	{"M20", "the release gate does not look whether the payment goes back", "P6", Rules{GateBlind: true}},
	{"M21", "the first driver undoes quickly after an attach whose answer is lost", "P3r", Rules{UndoUnsure: true}},
	{"M22", "a driver that fails writes a tombstone", "P12", Rules{BoldDriver: true}},
	{"M23", "a driver whose event can't be sent writes a tombstone", "P12", Rules{BoldOnceSent: true}},

	{"H1", "S8 does not look at the hold's deadline", "H1n", Rules{PromoteExpired: true}},
	{"H2", "S8 makes the hold's id the booking's", "H3", Rules{PromoteKeepsID: true}},
	{"H3", "S2 of a hold gives back what its candidate holds", "H2", Rules{ReleaseByCandidate: true}},
	{"H4", "S6 takes the free part of a group", "H1n", Rules{HoldFreePart: true}},
	{"H5", "S6 lets the old choice go before it looks at the new one", "H1n", Rules{DropFirst: true}},
	{"H6", "a hold that is over still refuses", "H1n", Rules{ExpiredRefuse: true}},
	{"H7", "nobody waits for the replica after S8", "H1", Rules{NoWait: true}},
	{"H8", "the undo of a promotion gives its seats back to the hold, whatever became of both", "H3", Rules{DemoteBlind: true}},
}

// Spares are rules that another one makes up for: left out alone, nothing
// breaks. They are searched to the end, so that this stays known.
var Spares = []Mutant{
	{"S1", "S10 is not waited for", "P3", Rules{NoResumeWait: true}},
	{"S2", "S5 of a resumed booking is not waited for", "P3", Rules{NoAttachWait: true}},
	{"S3", "S2 quick and S5 do not compare the driver number", "P3", Rules{NoDriverNumbers: true}},
	{"S4", "workers neither undo an admission whose WAIT is short nor attach what they admit", "P11n", Rules{NoReadmitUndo: true, NoPin: true}},
	{"S5", "a driver that fails writes a tombstone, and nobody was promised anything", "P3r", Rules{BoldDriver: true}},
}
