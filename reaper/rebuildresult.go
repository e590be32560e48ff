package reaper

import "time"

// RebuildResult is what a rebuild came to.
type RebuildResult struct {
	Sale     string        `json:"sale"`
	At       time.Time     `json:"at"`
	Took     time.Duration `json:"took_ns"`
	Gen      int64         `json:"gen"`    // the generation that Redis has now
	Roster   int           `json:"roster"` // rows loaded
	Live     int           `json:"live"`   // bookings put back
	Seats    int           `json:"seats"`  // their seats
	Replayed int           `json:"replayed"`
	Diff     DiffResult    `json:"diff"` // the comparison at the end
}
