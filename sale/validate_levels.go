package sale

import (
	"fmt"
	"strings"
)

func (c *checker) checkLevels(s Sale) {
	c.add(len(s.Levels) == 0, "levels", "is empty: a sale has at least one level")
	c.add(len(s.Levels) > MaxLevels, "levels", "has %d, must be at most %d", len(s.Levels), MaxLevels)
	first := make(map[string]string, len(s.Levels))
	for i, l := range s.Levels {
		path := fmt.Sprintf("levels[%d]", i)
		c.add(!ValidName(l.Name) || len(l.Name) > MaxLevelName, path+".level", "must be 1 to %d of the characters A-Z a-z 0-9 _ -", MaxLevelName)
		folded := strings.ToLower(l.Name)
		if other, taken := first[folded]; taken {
			c.add(true, path+".level", "is %q, which differs from %q by case at most: rosters are read without regard to case", l.Name, other)
		} else {
			first[folded] = l.Name
		}
		c.add(l.Cap < 0 || l.Cap > MaxLevelCap, path+".cap", "is %d, must be 0 to %d", l.Cap, MaxLevelCap)
		if l.Price != nil {
			c.checkMoney(path+".price", *l.Price)
			c.add(s.Price.Currency != "" && l.Price.Currency != s.Price.Currency, path+".price.currency", "is %q, but the sale is in %q: one sale has one currency", l.Price.Currency, s.Price.Currency)
		}
		c.checkKind(path, l)
		c.checkSections(path, s, l)
	}
	c.checkSeatNames(s)
}

func (c *checker) checkKind(path string, l Level) {
	switch l.Kind {
	case KindCounted:
		c.add(len(l.Seats) > 0, path+".seats", "stands in a counted level: make its kind seated, or leave the seats out")
	case KindSeated:
		c.add(len(l.Seats) == 0, path+".seats", "is empty: a seated level lists its seats")
		c.add(l.Cap != len(l.Seats), path+".cap", "is %d, but %d seats are listed: leave the cap out, the list says it", l.Cap, len(l.Seats))
	default:
		c.add(true, path+".kind", "is %q, must be counted or seated", l.Kind)
	}
}

// checkSeatNames wants a name once in the whole sale, because the ledger's item of a token carries no level (protocol.md 3.3 S#), and none that a counted level could mint some day.
func (c *checker) checkSeatNames(s Sale) {
	counted := make(map[string]bool)
	for _, l := range s.Levels {
		if l.Kind == KindCounted {
			counted[l.Name] = true
		}
	}
	first := make(map[string]string)
	for i, l := range s.Levels {
		for j, seat := range append(l.Seats[:len(l.Seats):len(l.Seats)], l.Blocked...) {
			path := seatPath(i, j, len(l.Seats))
			c.add(seat.Name == AisleWord, path, "is %q, which stands for an aisle", seat.Name)
			c.add(!ValidName(seat.Name), path, "must be 1 to %d of the characters A-Z a-z 0-9 _ -", MaxName)
			if other, taken := first[seat.Name]; taken {
				c.add(true, path, "is %q, which %s is already", seat.Name, other)
			} else {
				first[seat.Name] = path
			}
			c.add(seat.Score < 0 || seat.Score > MaxLevelCap, path+".score", "is %d, must be 0 to %d", seat.Score, MaxLevelCap)
			if level, number, ok := cutToken(seat.Name); ok && counted[level] {
				c.add(true, path, "is %q, which is token %s of the counted level %q", seat.Name, number, level)
			}
		}
	}
}

// seatPath names the j-th of the seats and, behind them, the blocked places of a level.
func seatPath(level, j, seats int) string {
	if j >= seats {
		return fmt.Sprintf("levels[%d].blocked[%d]", level, j-seats)
	}
	return fmt.Sprintf("levels[%d].seats[%d]", level, j)
}

func (c *checker) checkSections(path string, s Sale, l Level) {
	known := map[string]bool{}
	for i, section := range l.Sections {
		at := fmt.Sprintf("%s.sections[%d]", path, i)
		c.add(!ValidName(section.Name), at+".section", "must be 1 to %d of the characters A-Z a-z 0-9 _ -", MaxName)
		c.add(known[section.Name], at+".section", "is %q, which the level has already", section.Name)
		known[section.Name] = true
		if section.Price != nil {
			c.checkMoney(at+".price", *section.Price)
			c.add(s.Price.Currency != "" && section.Price.Currency != s.Price.Currency, at+".price.currency", "is %q, but the sale is in %q: one sale has one currency", section.Price.Currency, s.Price.Currency)
		}
	}
	c.add(l.Kind == KindCounted && len(l.Sections)+len(l.Blocked) > 0, path+".sections", "stands in a counted level: make its kind seated, or leave it out")
	known[""] = len(l.Sections) == 0
	for j, seat := range append(l.Seats[:len(l.Seats):len(l.Seats)], l.Blocked...) {
		if !known[seat.Section] {
			c.add(true, fmt.Sprintf("%s.section", strings.Replace(seatPath(0, j, len(l.Seats)), "levels[0]", path, 1)), "is %q, which is no section of the level", seat.Section)
		}
	}
}

// cutToken splits "N1-17" into the level and the number of a counted token.
func cutToken(name string) (level, number string, ok bool) {
	i := strings.LastIndexByte(name, '-')
	if i < 1 || i == len(name)-1 || strings.Trim(name[i+1:], "0123456789") != "" {
		return "", "", false
	}
	return name[:i], name[i+1:], true
}
