package model

// Config is what one search lets happen. The zero value of each field is none.
type Config struct {
	Name string
	Text string // what it is about

	OneCandidate bool // both attempts are one candidate's; else two candidates'
	TwoSeats     bool // each attempt wants a named seat of its own; else both want the one there is
	Groups       bool // two seats: attempt 0 wants both, attempt 1 the second
	Holds        bool // customers hold their seats first, and book the hold
	OneHold      bool // both attempts book the hold of the first: a double click
	LateRelease  bool // a second tab lets a hold go, at any time after it was made
	Drivers      int  // attempts that are made, 1 or 2
	Resumers     int  // later requests with attempt 0's key that may take it over
	Workers      int
	Reapers      int

	Failovers  int  // promotions of a replica that misses a suffix, 0 to 2
	Lag        int  // how many writes it may miss, 1 to 5; the next one makes it take the oldest
	Stale      bool // the promoted replica may miss acknowledged writes too
	Payers     int  // customers who pay, at any time: of the first attempt, or of both
	DeadLetter bool // messages go to the DLQ and come back at any time, in any order
	Resend     bool // a client's repeat sends booking.held again
	Zombies    bool // a driver's commands may arrive after it has given up
	Refunds    bool // the refund sweep runs in between, not only when healing
	Cancel     bool // an operator cancels paid bookings

	Promise bool // also check that no driver withdraws what a client was answered with 200 or 201
}

// Rules says which rule of the protocol is left out. The zero value is the
// protocol itself.
type Rules struct {
	ReapUnasked        bool // the reaper reads, then undoes: no tombstone
	ReapByCandidate    bool // the reaper asks for any record of the candidate
	UndoUnasked        bool // the driver undoes after an ambiguous enqueue: no tombstone
	ClearAtEnqueue     bool // pending goes when the event is sent
	RedisFirst         bool // the reaper releases in Redis, then in the ledger
	ReleasedRevives    bool // T1 does not see a tombstone
	SettleByCandidate  bool // S3 does not compare the booking
	UndoByCandidate    bool // S2 gives back what the candidate holds
	NoWait             bool // nobody waits for the replicas before the ledger is written
	FreshConnection    bool // WAIT runs on another connection than the script
	NoUniqueness       bool // the ledger does not own candidates and seats
	NoArbitration      bool // a late payment is applied and refunded without asking P
	LateRevives        bool // a late payment makes its released booking paid
	UndoneAtOnce       bool // T5 does not wait for the replicas
	NoDeadMark         bool // an undone booking may be admitted again
	NoResumeWait       bool // S10 is not waited for
	NoAttachWait       bool // S5 of a resumed booking is not waited for
	UndoResumed        bool // a short WAIT after S10 is followed by S2 quick
	NoDriverNumbers    bool // S2 quick and S5 do not compare the driver
	UndoAttached       bool // a quick undo takes attached bookings too
	NoPin              bool // workers do not attach what they admit
	NoReadmitUndo      bool // workers do not undo an admission whose WAIT is short
	NoOwed             bool // a release owes no undo
	BoldDriver         bool // a driver that fails after its admission writes a tombstone, whatever it has done so far
	BoldOnceSent       bool // a driver whose event can't be sent writes a tombstone, unless Redis says that another one attached
	UndoUnsure         bool // the first driver undoes quickly after an attach whose answer is lost
	StaleClaimed       bool // a stale replica is taken for a good one
	PromoteExpired     bool // S8 does not look at the deadline
	PromoteKeepsID     bool // S8 makes the hold's id the booking's: two requests for one hold drive one booking
	ReleaseByCandidate bool // S2 of a hold gives back what its candidate holds softly
	HoldFreePart       bool // S6 takes the free part of a group
	DropFirst          bool // S6 lets the old choice go before it looks at the new one
	ExpiredRefuse      bool // S6 takes an expired hold for a live one
	DemoteBlind        bool // the undo of a promotion gives the seats back to the hold whatever became of both

	GateBlind bool // the release gate does not look whether the payment goes back
}
