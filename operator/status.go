package operator

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/ledger"
)

// LevelView is how one level stands. Held, Paid, Soft and Pending are seats;
// Held + Paid + Soft = Used, and Used + Free = Cap.
type LevelView struct {
	Name    string `json:"level"`
	Cap     int    `json:"cap"`
	Held    int    `json:"held"`
	Paid    int    `json:"paid"`
	Soft    int    `json:"soft"`
	Free    int    `json:"free"`
	Pending int    `json:"pending"` // of the held: not known to be in the ledger yet
}

// View is how a sale stands now.
type View struct {
	Sale      string    `json:"sale"`
	Title     string    `json:"title"`
	Zone      string    `json:"time_zone"`
	Now       time.Time `json:"now"` // by Redis
	Open      bool      `json:"open"`
	Selling   bool      `json:"selling"` // open, and between its times
	Frozen    bool      `json:"frozen"`
	Lost      bool      `json:"redis_lost"`    // Redis does not have the sale, or has an old generation of it
	Foreign   bool      `json:"redis_foreign"` // Redis keeps the sale in the form of another build: this one admits nobody
	OpensAt   time.Time `json:"opens_at"`
	ClosesAt  time.Time `json:"closes_at"`
	Gen       int64     `json:"gen"`
	Epoch     int64     `json:"epoch"`
	Version   int64     `json:"version"`
	Roster    int       `json:"roster"`
	Bookings  int       `json:"bookings"` // live, in Redis
	OldestAge float64   `json:"oldest_pending_seconds"`

	OldestHold float64 `json:"oldest_hold_seconds"` // since the admission of the oldest held booking
	DueHolds   int     `json:"due_holds"`           // bookings still held after their deadline: the next sweep is to end them

	Levels []LevelView `json:"levels"`
	Total  LevelView   `json:"total"`

	Queue      *QueueView `json:"queue,omitempty"`
	QueueError string     `json:"queue_error,omitempty"` // why Queue is missing
	Sweep      *Note      `json:"sweep,omitempty"`
	Diff       *Note      `json:"diff,omitempty"`
	QueueAge   *Note      `json:"queue_age,omitempty"` // "oldest_ms", as workers see it
	Breaker    string     `json:"breaker,omitempty"`
	CapChange  *CapChange `json:"cap_change,omitempty"` // half done
}

// QueueView is how much lies in the queues; the figures are approximate.
type QueueView struct {
	Waiting int `json:"waiting"`
	InWork  int `json:"in_work"`
	Dead    int `json:"dead"`
}

// Note is what a pass of the reaper, or a worker, left behind.
type Note struct {
	At       time.Time      `json:"at"`
	Counts   map[string]int `json:"counts"`
	Suspects []string       `json:"suspects,omitempty"`
}

// CapChange is a change of a cap that has begun; level "" is the total.
type CapChange struct {
	Level string `json:"level"`
	From  int    `json:"from"`
	To    int    `json:"to"`
}

// View reads how the sale stands: seats from Redis, which holds every seat that
// anybody has, and the rest from ledger and queue. The rows of a level and its
// free seats are read one after the other, so on a sale that is selling they
// may differ for a moment; Used of the same instant decides, never these.
func (d *Desk) View(ctx context.Context, saleID string) (View, error) {
	c, err := d.control(ctx, saleID)
	if err != nil {
		return View{}, err
	}
	v := View{
		Sale: c.Sale, Title: c.Plan.Title, Zone: c.Plan.Zone, Open: c.Open, Frozen: c.Frozen, OpensAt: c.Plan.OpensAt, ClosesAt: c.Plan.ClosesAt,
		Gen: c.Gen, Epoch: c.Epoch, Roster: c.RosterSize, Breaker: c.Breaker, Now: d.Now().UTC(),
	}
	if i := c.CapIntent; i != nil {
		v.CapChange = &CapChange{i.Level, i.From, i.To}
	}
	if err := d.viewSeats(ctx, c, &v); err != nil {
		return v, err
	}
	if depth, err := d.Queue.Depth(ctx); err != nil {
		v.QueueError = err.Error()
	} else {
		v.Queue = &QueueView{depth.Visible, depth.InFlight, depth.Dead + depth.DeadInFlight}
	}
	for kind, to := range map[string]**Note{"sweep": &v.Sweep, "diff": &v.Diff, "queue": &v.QueueAge} {
		n, err := d.Store.LastSweep(ctx, saleID, kind)
		if errors.Is(err, ledger.ErrNotFound) {
			continue
		}
		if err != nil {
			return v, fmt.Errorf("operator: read the last %s of sale %s: %w", kind, saleID, err)
		}
		*to = &Note{n.At.UTC(), n.Counts, n.Suspects}
	}
	return v, nil
}

// viewSeats fills in what Redis knows. A sale that Redis lost, or that another
// build loaded, is shown as such, with nothing in it.
func (d *Desk) viewSeats(ctx context.Context, c ledger.Control, v *View) error {
	at := make(map[string]*LevelView, len(c.Plan.Levels))
	for _, l := range c.Plan.Levels {
		v.Levels = append(v.Levels, LevelView{Name: l.Name, Cap: l.Cap})
	}
	for i := range v.Levels {
		at[v.Levels[i].Name] = &v.Levels[i]
	}
	v.Total = LevelView{Name: "total", Cap: c.Plan.TotalCap}
	var ages holdAges
	err := d.Redis.ScanRecords(ctx, c.Sale, func() func(admission.Record, bool) error {
		seen := make(map[string]bool) // a scan may repeat
		return func(r admission.Record, pending bool) error {
			if l := at[r.Level]; l != nil && !seen[r.BookingID] {
				seen[r.BookingID] = true
				l.count(r, pending)
				ages.count(r)
			}
			return nil
		}
	}())
	if errors.Is(err, admission.ErrLayout) {
		v.Foreign, v.Open = true, false
		return nil
	}
	if err != nil {
		return fmt.Errorf("operator: read the bookings of sale %s in Redis: %w", c.Sale, err)
	}
	live, err := d.Redis.Status(ctx, c.Sale, c.Plan.LevelNames())
	if errors.Is(err, admission.ErrNotFound) {
		v.Lost, v.Open = true, false
		return nil
	}
	if err != nil {
		return fmt.Errorf("operator: read sale %s in Redis: %w", c.Sale, err)
	}
	v.Lost = live.Gen != c.Gen
	v.Now, v.Version, v.Bookings = live.Now.UTC(), live.Version, live.Bookings
	v.OldestHold, v.DueHolds = ages.at(live.Now)
	v.Open = v.Open && live.Open && live.Gen == c.Gen
	v.Selling = v.Open && !v.Frozen && !live.Now.Before(live.OpensAt) && live.Now.Before(live.ClosesAt)
	for _, l := range live.Levels {
		at[l.Name].Cap, at[l.Name].Free = l.Cap, l.Free
	}
	for _, l := range v.Levels {
		v.Total.Held, v.Total.Paid, v.Total.Soft, v.Total.Pending = v.Total.Held+l.Held, v.Total.Paid+l.Paid, v.Total.Soft+l.Soft, v.Total.Pending+l.Pending
	}
	v.Total.Cap, v.Total.Free = live.TotalCap, max(0, live.TotalCap-live.Used)
	return d.oldestPending(ctx, c.Sale, v)
}

func (l *LevelView) count(r admission.Record, pending bool) {
	n := len(r.Tokens)
	switch r.Stage {
	case admission.StagePaid:
		l.Paid += n
	case admission.StageSoft:
		l.Soft += n
	default:
		l.Held += n
	}
	if pending {
		l.Pending += n
	}
}

// holdAges is when the held bookings began, and when they have to end.
type holdAges struct {
	first time.Time
	until []time.Time
}

func (h *holdAges) count(r admission.Record) {
	if r.Stage == admission.StagePaid || r.Stage == admission.StageSoft {
		return
	}
	if len(h.until) == 0 || r.AdmittedAt.Before(h.first) {
		h.first = r.AdmittedAt
	}
	h.until = append(h.until, r.HoldUntil)
}

// at are the age in seconds of the oldest hold, and how many should have ended.
func (h *holdAges) at(now time.Time) (oldest float64, due int) {
	if len(h.until) == 0 {
		return 0, 0
	}
	for _, t := range h.until {
		if !now.Before(t) {
			due++
		}
	}
	return now.Sub(h.first).Seconds(), due
}

func (d *Desk) oldestPending(ctx context.Context, saleID string, v *View) error {
	err := d.Redis.ScanPending(ctx, saleID, func(p admission.Pending) error {
		v.OldestAge = max(v.OldestAge, p.Age.Seconds())
		return nil
	})
	if err != nil {
		return fmt.Errorf("operator: read the pending bookings of sale %s: %w", saleID, err)
	}
	return nil
}

// DriftView is what the last diff found: one figure for the whole fleet.
type DriftView struct {
	Sale     string         `json:"sale"`
	At       *time.Time     `json:"at"` // null: there was no diff yet
	Counts   map[string]int `json:"counts"`
	Suspects []string       `json:"suspects"` // kind:id, not repaired
}

// Drift reads what the last complete diff between Redis and ledger found.
func (d *Desk) Drift(ctx context.Context, saleID string) (DriftView, error) {
	v := DriftView{Sale: saleID, Counts: map[string]int{}, Suspects: []string{}}
	if _, err := d.control(ctx, saleID); err != nil {
		return v, err
	}
	n, err := d.Store.LastSweep(ctx, saleID, "diff")
	if errors.Is(err, ledger.ErrNotFound) {
		return v, nil
	}
	if err != nil {
		return v, fmt.Errorf("operator: read the last diff of sale %s: %w", saleID, err)
	}
	v.At, v.Counts = &n.At, n.Counts
	v.Suspects = append(v.Suspects, n.Suspects...)
	return v, nil
}
