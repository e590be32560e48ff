package rehearsal_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/operator"
	"github.com/holdfast/holdfast/rehearsal"
	"github.com/holdfast/holdfast/sale"
)

var now = time.Date(2026, 11, 30, 10, 0, 0, 0, time.UTC)

// TestScenes: a scene of any size is a valid sale with people for it, and the
// full ones are the yardstick.
func TestScenes(t *testing.T) {
	for _, c := range []struct {
		shape         rehearsal.Shape
		people, seats int
	}{
		{rehearsal.Shape{People: 1}, 1, 1},
		{rehearsal.Shape{People: 400}, 400, 207},
		{rehearsal.Shape{}, 40_000, 20_700},
		{rehearsal.Shape{People: 1, Seated: true}, 1, 9},
		{rehearsal.Shape{People: 400, Seated: true}, 400, 207},
		{rehearsal.Shape{Seated: true}, 40_000, 20_700},
	} {
		c.shape.ID, c.shape.Hold = "rehearsal-1", time.Minute
		s, err := rehearsal.Set(c.shape, now)
		if err != nil {
			t.Errorf("%+v: %v", c.shape, err)
			continue
		}
		if len(s.People) != c.people || s.Plan.TotalCap != c.seats {
			t.Errorf("%+v: %d people, %d seats", c.shape, len(s.People), s.Plan.TotalCap)
		}
		if !s.Plan.OpensAt.Before(now) || s.Plan.ID != "rehearsal-1" || len(slices.Collect(keys(s))) != len(s.People) {
			t.Errorf("%+v: %+v", c.shape, s.Plan.OpensAt)
		}
		for _, l := range s.Plan.Levels {
			if (l.Kind == sale.KindSeated) != c.shape.Seated || c.shape.Seated && len(l.Sections) < 4 {
				t.Errorf("level %s is %q with %d sections", l.Name, l.Kind, len(l.Sections))
			}
		}
	}
}

func keys(s *rehearsal.Scene) func(func(sale.Code) bool) {
	return func(yield func(sale.Code) bool) {
		for row := range s.Rows() {
			if !yield(row.Code) {
				return
			}
		}
	}
}

type controls map[string]ledger.Control

func (c controls) Sales(context.Context) ([]string, error) {
	var ids []string
	for id := range c {
		ids = append(ids, id)
	}
	return ids, nil
}

func (c controls) Control(_ context.Context, id string) (ledger.Control, error) { return c[id], nil }

func TestApart(t *testing.T) {
	at := func(open bool, opens, closes time.Duration) ledger.Control {
		return ledger.Control{Open: open, Plan: sale.Sale{OpensAt: now.Add(opens), ClosesAt: now.Add(closes)}}
	}
	for name, c := range map[string]struct {
		id    string
		sale  ledger.Control
		apart bool
	}{
		"sells now":                   {"spring", at(true, -time.Hour, time.Hour), false},
		"opens within":                {"spring", at(true, 20*time.Minute, time.Hour), false},
		"opens later":                 {"spring", at(true, 40*time.Minute, time.Hour), true},
		"is over":                     {"spring", at(true, -2*time.Hour, -time.Hour), true},
		"was not opened":              {"spring", at(false, -time.Hour, time.Hour), true},
		"is a rehearsal":              {"rehearsal-2", at(true, -time.Hour, time.Hour), true},
		"only looks like a rehearsal": {"rehearsals", at(true, -time.Hour, time.Hour), false},
	} {
		err := rehearsal.Apart(t.Context(), controls{c.id: c.sale}, now, 30*time.Minute)
		var refused *rehearsal.NotApartError
		if c.apart && err != nil || !c.apart && (!errors.As(err, &refused) || !strings.Contains(err.Error(), c.id)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestCleanNeedsTheMark refuses before it even reads the sale.
func TestCleanNeedsTheMark(t *testing.T) {
	for _, id := range []string{"spring", "rehearsal", "rehearsal-", ""} {
		if _, err := rehearsal.Clean(t.Context(), &operator.Desk{}, id, rehearsal.CleanOptions{Force: true}, operator.By{}); err == nil {
			t.Errorf("%q is deleted", id)
		}
	}
}
