package model

// pc is where a process is. The step of that name comes next.
type pc uint8

const (
	idle pc = iota
	over    // a driver that has answered or died

	// The customer with a soft hold (protocol.md 4).
	holding

	// The driver (protocol.md 3.5).
	admitWait
	quickUndo
	attach
	attachWait
	send
	withdraw
	resumeWait

	// The end of every release: S2, then WAIT and T5.
	undo
	undoWait

	// The worker (protocol.md 3.6, 3.7).
	hold
	pay
	look
	readmit
	readmitWait
	readmitUndo
	pin
	pinWait
	payUnheld
	late
	applyLate
	refundLate
	freeOld
	tombstone
	settle
	settlePaid
	finish

	// The reaper (protocol.md 3.8).
	orphan
	expireLedger
	confirmLive
	reseed
)

// waits reports whether the process waits for the replicas.
func (c pc) waits() bool {
	switch c {
	case admitWait, attachWait, resumeWait, undoWait, readmitWait, pinWait:
		return true
	}
	return false
}
