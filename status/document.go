// Package status makes the public status document of a sale and publishes it:
// versioned, so that it can only move forward, and by exactly one publisher per
// change (protocol.md 3.13).
package status

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/holdfast/holdfast/admission"
)

// State is what the public sees of a level. The set is closed.
type State string

// The states of a level.
const (
	Available State = "available"
	Held      State = "held"     // nothing free now; a hold that ends brings seats back
	SoldOut   State = "sold_out" // all paid: only a refund brings seats back
)

// Version orders the documents of a sale: first by epoch, which rises when the
// replication id of Redis changes, then by n, the version that the scripts
// raise. On the wire it is [epoch, n].
type Version struct{ Epoch, N int64 }

// After reports whether v is newer than w.
func (v Version) After(w Version) bool {
	return v.Epoch > w.Epoch || v.Epoch == w.Epoch && v.N > w.N
}

// MarshalJSON writes [epoch, n].
func (v Version) MarshalJSON() ([]byte, error) { return json.Marshal([2]int64{v.Epoch, v.N}) }

// UnmarshalJSON reads [epoch, n].
func (v *Version) UnmarshalJSON(data []byte) error {
	var pair [2]int64
	if err := json.Unmarshal(data, &pair); err != nil {
		return fmt.Errorf("status: version is not [epoch, n]: %w", err)
	}
	v.Epoch, v.N = pair[0], pair[1]
	return nil
}

// Document is the public status of a sale. Times are UTC.
type Document struct {
	// Open is the operator's switch. Whether a booking is admitted also depends on
	// the times: see Served.
	Open     bool      `json:"open"`
	OpensAt  time.Time `json:"opens_at"`
	ClosesAt time.Time `json:"closes_at"`
	Now      time.Time `json:"now"`
	Version  Version   `json:"version"`
	SoldOut  bool      `json:"sold_out"` // every level is

	Levels []Level `json:"levels"`
}

// Level is the public status of one level.
type Level struct {
	Name  string `json:"level"`
	State State  `json:"state"`
	Free  *int   `json:"free,omitempty"` // only where the deployment shows counts
}

// From makes the document of one consistent reading. A level that still has
// seats while the sale's total is reached has none to give. showFree adds the
// counts of free seats.
func From(s admission.Status, epoch int64, showFree bool) Document {
	d := Document{
		Open: s.Open, OpensAt: s.OpensAt.UTC(), ClosesAt: s.ClosesAt.UTC(), Now: s.Now.UTC(),
		Version: Version{Epoch: epoch, N: s.Version}, Levels: make([]Level, 0, len(s.Levels)),
	}
	left := max(0, s.TotalCap-s.Used)
	d.SoldOut = true
	for _, l := range s.Levels {
		free := min(l.Free, left)
		level := Level{Name: l.Name, State: stateOf(s, l, free)}
		d.SoldOut = d.SoldOut && level.State == SoldOut
		if showFree {
			level.Free = &free
		}
		d.Levels = append(d.Levels, level)
	}
	return d
}

// stateOf says whether a level with so many seats to give will have any again
// without a refund: what stands in the way is the level's own cap, or the total.
func stateOf(s admission.Status, l admission.LevelStatus, free int) State {
	switch {
	case free > 0:
		return Available
	case l.Free == 0 && l.Paid < l.Cap, l.Free > 0 && s.Paid < s.TotalCap:
		return Held
	}
	return SoldOut
}

// Served is the document as it is answered at now: open only between opens_at
// and closes_at, and now for the reader's countdown (case K04). The stored
// document must not know this, because nobody publishes at the instant of
// opening.
func (d Document) Served(now time.Time) Document {
	d.Now = now.UTC()
	d.Open = d.Open && !now.Before(d.OpensAt) && now.Before(d.ClosesAt)
	return d
}
