package sale

import (
	"fmt"
	"strings"
	"time"
)

// Limits of a sale. They keep every number exact in Redis, whose scripts count in doubles, and every pass over a level bounded.
const (
	MaxLevels      = 100
	MaxLevelCap    = 1_000_000
	MaxToken       = 13_000_000               // the highest number that a counted level's token can have, all raises and cuts of its life included (decision 8)
	MaxSeatsLimit  = 10                       // seats per booking (protocol.md 1.3)
	MaxAmountMinor = int64(1_000_000_000_000) // per seat
	MinHold        = time.Second
	MaxHold        = 30 * 24 * time.Hour // the longest payment life (protocol.md 1.7)
)

// Validate finds all faults of a sale at once. The error is a *FaultsError.
func (s Sale) Validate() error {
	c := &checker{}
	c.checkHead(s)
	c.checkTimes(s)
	c.checkLevels(s)
	c.checkCaps(s)
	c.faults = append(c.faults, s.Ages.faults(s.Hold)...)
	if len(c.faults) > 0 {
		return &FaultsError{Faults: c.faults}
	}
	return nil
}

type checker struct{ faults []Fault }

func (c *checker) add(bad bool, path, format string, args ...any) {
	if bad {
		c.faults = append(c.faults, Fault{Path: path, Reason: fmt.Sprintf(format, args...)})
	}
}

func (c *checker) checkHead(s Sale) {
	c.add(!ValidName(s.ID), "sale", "must be 1 to %d of the characters A-Z a-z 0-9 _ -", MaxName)
	c.add(strings.TrimSpace(s.Title) == "", "title", "is missing: say what people will read")
	c.add(len(s.Title) > 200, "title", "is longer than 200 bytes")
	c.checkMoney("price", s.Price)
	c.add(s.MaxSeats < 1 || s.MaxSeats > MaxSeatsLimit, "max_seats", "is %d, must be 1 to %d", s.MaxSeats, MaxSeatsLimit)
}

func (c *checker) checkMoney(path string, m Money) {
	c.add(m.AmountMinor < 0 || m.AmountMinor > MaxAmountMinor, path+".amount_minor", "is %d, must be 0 to %d", m.AmountMinor, MaxAmountMinor)
	letters := len(m.Currency) == 3
	for i := 0; i < len(m.Currency); i++ {
		letters = letters && m.Currency[i] >= 'A' && m.Currency[i] <= 'Z'
	}
	c.add(!letters, path+".currency", "must be three capital letters (ISO 4217) such as BDT")
}

func (c *checker) checkTimes(s Sale) {
	if _, err := s.Location(); err != nil {
		c.add(true, "time_zone", "%v", err)
	}
	c.add(s.OpensAt.IsZero(), "opens_at", "is missing")
	c.add(s.ClosesAt.IsZero(), "closes_at", "is missing")
	for _, t := range []struct {
		path string
		at   time.Time
	}{{"opens_at", s.OpensAt}, {"closes_at", s.ClosesAt}} {
		c.add(!t.at.Equal(t.at.Truncate(time.Millisecond)), t.path, "must be whole milliseconds")
	}
	c.add(!s.OpensAt.IsZero() && !s.ClosesAt.IsZero() && !s.OpensAt.Before(s.ClosesAt), "closes_at", "is not after opens_at")
	c.add(s.Hold < MinHold || s.Hold > MaxHold || s.Hold%time.Millisecond != 0, "hold", "is %v, must be whole milliseconds between %v and %v", s.Hold, MinHold, MaxHold)
	c.add(s.SoftHoldMax < MinHold || s.SoftHoldMax > MaxHold || s.SoftHoldMax%time.Millisecond != 0, "soft_hold_max", "is %v, must be whole milliseconds between %v and %v", s.SoftHoldMax, MinHold, MaxHold)
}

func (c *checker) checkCaps(s Sale) {
	sum := 0
	for _, l := range s.Levels {
		sum += max(0, min(l.Cap, MaxLevelCap))
	}
	c.add(s.TotalCap < 1, "total_cap", "is %d, must be at least 1", s.TotalCap)
	c.add(s.TotalCap > sum, "total_cap", "is %d, but the levels together have only %d seats: it can be lower than their sum, not higher", s.TotalCap, sum)
}
