package salefile

import (
	"errors"
	"fmt"
	"time"
)

// layouts of a local time; seconds are kept when they are written (cases K03).
var layouts = []string{"2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02T15:04", "2006-01-02 15:04"}

// parseTime reads RFC 3339, or a local time in loc. A local time that the zone skips or has twice (the change of the clocks) is an error, because a guess would open a sale an hour off (cases K01). A nil loc means that the zone's own fault was reported already.
func parseTime(text string, loc *time.Location) (time.Time, error) {
	if t, err := time.Parse(time.RFC3339, text); err == nil {
		return t.UTC(), nil
	}
	for _, layout := range layouts {
		wall, err := time.Parse(layout, text)
		if err != nil {
			continue
		}
		if loc == nil {
			return time.Time{}, errors.New("is a local time, and the time zone is not known")
		}
		return atWall(wall, loc)
	}
	return time.Time{}, fmt.Errorf("is %q, must be a local time such as 2027-03-01T10:00:00, or one with an offset such as 2027-03-01T10:00:00+06:00", clip(text))
}

// atWall finds the one instant at which clocks in loc show the wall time. The offsets in force a day before and after are the only ones that can apply: zones do not change twice within two days.
func atWall(wall time.Time, loc *time.Location) (time.Time, error) {
	var found []time.Time
	for _, day := range []int{-1, 1} {
		_, offset := wall.AddDate(0, 0, day).In(loc).Zone()
		t := wall.Add(-time.Duration(offset) * time.Second)
		shown := t.In(loc)
		_, actual := shown.Zone()
		if actual == offset && (len(found) == 0 || !found[0].Equal(t)) {
			found = append(found, t)
		}
	}
	switch len(found) {
	case 0:
		return time.Time{}, fmt.Errorf("does not exist in %v, whose clocks are put forward over it: write another time, or one with an offset", loc)
	case 1:
		return found[0].UTC(), nil
	}
	return time.Time{}, fmt.Errorf("happens twice in %v, whose clocks are put back: write it with the offset, as %s or %s", loc, found[0].In(loc).Format(time.RFC3339), found[1].In(loc).Format(time.RFC3339))
}
