package linear

import (
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
)

// at sets when an operation was called and when it returned.
func at(o Op, call, ret int) Op {
	o.Call, o.Return = time.Duration(call), time.Duration(ret)
	return o
}

func held(booking, candidate, token string) Op {
	return Op{Kind: Admit, Booking: booking, Candidate: candidate, Level: counted, Result: Held, Token: token}
}

func unsure(o Op) Op {
	o.Result, o.Token = Unsure, ""
	return o
}

func freed(booking string) Op { return Op{Kind: Release, Booking: booking, Result: Freed} }
func missing(booking string) Op {
	return Op{Kind: Look, Booking: booking, Result: Missing}
}

func refused(booking, candidate string, r Result, other string) Op {
	return Op{Kind: Admit, Booking: booking, Candidate: candidate, Level: counted, Result: r, Other: other}
}

// TestSpecification judges histories whose verdict is known: each clause has one
// that only it refuses, and a neighbour that is right.
func TestSpecification(t *testing.T) {
	a, b := held("b1", "c1", "A-1"), held("b2", "c2", "A-2")
	full, dup := refused("b9", "c9", Full, ""), refused("b9", "c1", Duplicate, "b1")
	for name, c := range map[string]struct {
		ops  []Op
		want porcupine.CheckResult
	}{
		"two seats for two":                      {[]Op{at(a, 0, 1), at(b, 2, 3)}, porcupine.Ok},
		"a seat sold twice":                      {[]Op{at(a, 0, 1), at(held("b2", "c2", "A-1"), 2, 3)}, porcupine.Illegal},
		"a seat sold again after its release":    {[]Op{at(a, 0, 1), at(freed("b1"), 2, 3), at(held("b2", "c2", "A-1"), 4, 5)}, porcupine.Ok},
		"a release under way explains it":        {[]Op{at(a, 0, 1), at(freed("b1"), 2, 9), at(held("b2", "c2", "A-1"), 4, 5)}, porcupine.Ok},
		"an open release explains it":            {[]Op{at(a, 0, 1), at(unsure(freed("b1")), 2, 3), at(held("b2", "c2", "A-1"), 4, 5)}, porcupine.Ok},
		"a level over its cap":                   {[]Op{at(a, 0, 1), at(b, 2, 3), at(held("b3", "c3", "A-3"), 4, 5)}, porcupine.Illegal},
		"two bookings of one candidate":          {[]Op{at(a, 0, 1), at(held("b2", "c1", "A-2"), 2, 3)}, porcupine.Illegal},
		"a released booking comes back":          {[]Op{at(a, 0, 1), at(freed("b1"), 2, 3), at(a, 4, 5)}, porcupine.Illegal},
		"a replay keeps its seat":                {[]Op{at(a, 0, 1), at(a, 2, 3)}, porcupine.Ok},
		"a replay with another seat":             {[]Op{at(a, 0, 1), at(held("b1", "c1", "A-2"), 2, 3)}, porcupine.Illegal},
		"an unknown admission shows later":       {[]Op{at(unsure(a), 0, 1), at(b, 2, 3), at(a, 4, 5)}, porcupine.Ok},
		"an unknown admission may be none":       {[]Op{at(unsure(a), 0, 1), at(held("b2", "c2", "A-1"), 2, 3), at(missing("b1"), 4, 5)}, porcupine.Ok},
		"a promised booking is missing":          {[]Op{at(a, 0, 1), at(missing("b1"), 2, 3)}, porcupine.Illegal},
		"a seat given back twice":                {[]Op{at(a, 0, 1), at(freed("b1"), 2, 3), at(freed("b1"), 4, 5)}, porcupine.Illegal},
		"full with a free seat":                  {[]Op{at(a, 0, 1), at(full, 2, 3)}, porcupine.Illegal},
		"full through somebody under way":        {[]Op{at(a, 0, 1), at(b, 2, 9), at(full, 3, 4)}, porcupine.Ok},
		"full through an open admission":         {[]Op{at(a, 0, 1), at(unsure(b), 2, 3), at(full, 4, 5)}, porcupine.Ok},
		"full after the open one was settled":    {[]Op{at(a, 0, 1), at(unsure(b), 2, 3), at(freed("b2"), 4, 5), at(full, 6, 7)}, porcupine.Illegal},
		"duplicate of a live booking":            {[]Op{at(a, 0, 1), at(dup, 2, 3)}, porcupine.Ok},
		"duplicate of nothing":                   {[]Op{at(a, 0, 1), at(freed("b1"), 2, 3), at(dup, 4, 5)}, porcupine.Illegal},
		"a count that leaves a promised one out": {[]Op{at(a, 0, 1), at(Op{Kind: Count, Result: Counted}, 2, 3)}, porcupine.Illegal},
		"a count with one under way":             {[]Op{at(a, 0, 1), at(b, 2, 9), at(Op{Kind: Count, Result: Counted, Used: 1}, 3, 4)}, porcupine.Ok},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Check(onSale, c.ops, false, time.Minute); got != c.want {
				t.Errorf("%v, want %v:\n%s", got, c.want, table(c.ops))
			}
		})
	}
}
