package load

import "fmt"

// Check is one line of a verdict.
type Check struct {
	Name   string `json:"name"`
	OK     bool   `json:"ok"`
	Detail string `json:"detail"`
	// NotJudged: whoever ran the load could not see what it takes; Detail says
	// what is missing. It is neither passed nor failed.
	NotJudged bool `json:"not_judged,omitempty"`
}

// unseen is a check for which the run had no access.
func unseen(name, why string) Check { return Check{Name: name, NotJudged: true, Detail: why} }

// noAccess is why a run from outside can't judge what only stores know.
const noAccess = "needs the operator's access: run it with the deployment's HOLDFAST_... configuration"

// Judge checks what a client and an outside observer can see: the caps held at
// every sample, everybody got an answer of the kind that was due, every seat
// that somebody wanted was sold, and the pipeline came to rest. What only the
// ledger can say is added by whoever has it.
func Judge(r Result) []Check {
	checks := []Check{
		{Name: "caps held at every sample", OK: r.Samples > 0 && len(r.OverCap) == 0, Detail: fmt.Sprintf("%d samples, %d over a cap, %d could not be taken%s", r.Samples, len(r.OverCap), r.ProbeErrors, example(r.OverCap))},
		{Name: "the pipeline came to rest", OK: r.Quiet, Detail: rest(r)},
		answersOf(r, Unknown, "invalid_code"),
		answersOf(r, WrongEmail, "email_mismatch"),
		answersOf(r, Honeypot, "201"),
		soldOut(r),
		accounted(r),
		{Name: "every pay button answered", OK: r.PressErrors == 0, Detail: fmt.Sprintf("%d pressed, %d on a page that was over, %d never answered; %d payers never saw the return page", r.Pressed, r.PageOver, r.PressErrors, r.NotHome)},
	}
	if !r.Watched {
		for i, c := range checks {
			if i < 2 || c.Name == soldOutName {
				checks[i] = unseen(c.Name, noAccess)
			}
		}
	}
	if r.Seats != nil {
		checks = append(checks, judgeSeats(r)...)
	}
	return append(checks, answered(r))
}

func rest(r Result) string {
	s := fmt.Sprintf("%.1f s after the last request", r.Drain.Seconds())
	if r.Pipeline > 0 {
		s += fmt.Sprintf("; nothing pending or queued after %.1f s, the rest is holds that run out and late money", r.Pipeline.Seconds())
	}
	return s
}

// judgeSeats checks what clients, the public map and the holders say of named
// seats.
func judgeSeats(r Result) []Check {
	s := r.Seats
	half := Check{Name: "no group was ever half held", OK: len(s.Half) == 0, Detail: fmt.Sprintf("%d looks at all holders, %d holds, %d paid groups seat by seat%s", s.Looks, s.Holds, s.Groups, example(s.Half))}
	return []Check{
		{Name: "no seat was ever given twice", OK: s.Holds > 0 && len(s.Twice) == 0, Detail: fmt.Sprintf("%d holds, %d bookings, %d refusals because somebody was faster%s", s.Holds, s.Promoted, s.Taken, example(s.Twice))},
		half,
		{Name: "the map was true at every sample", OK: s.Maps > 0 && len(s.Wrong) == 0, Detail: fmt.Sprintf("%d maps, at most %.0f ms behind%s", s.Maps, float64(s.Lag.Microseconds())/1000, example(s.Wrong))},
	}
}

// mostUnanswered is the share of requests that may end without an answer.
const mostUnanswered = .01

// CheckAnswered names the check that a torture leaves out: who talks to a process
// that is killed has no answer.
const CheckAnswered = "the crowd was answered"

// answered checks that the crowd was answered, and not only kept out: a server
// that refuses everybody because of the rate has not been tested.
func answered(r Result) Check {
	f := r.Figures
	c := Check{Name: CheckAnswered, OK: float64(f.ByOutcome["error"]) <= mostUnanswered*float64(f.Requests)}
	c.Detail = fmt.Sprintf("%d of %d requests had no answer", f.ByOutcome["error"], f.Requests)
	if n := f.ByOutcome["rate_limited"]; n > f.Requests/10 {
		c.OK = false
		c.Detail += fmt.Sprintf(", %d were refused as too many from one address: let the deployment trust this generator (HOLDFAST_TRUSTED_PROXIES), or raise HOLDFAST_RATE_PER_CLIENT for the test", n)
	}
	return c
}

// accounted checks that every booking a client was told of is there and has
// come to its end.
func accounted(r Result) Check {
	total := len(r.Unaccounted)
	for _, n := range r.Acked {
		total += n
	}
	detail := fmt.Sprintf("%d bookings promised", total)
	for _, state := range sorted(r.Acked) {
		detail += fmt.Sprintf(", %d %s", r.Acked[state], state)
	}
	return Check{Name: "every booking a client was told of came to its end", OK: total > 0 && len(r.Unaccounted) == 0 && r.Acked["held"] == 0, Detail: detail + example(r.Unaccounted)}
}

func example(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return ", the first: " + list[0]
}

// answersOf checks that a kind of request was only ever answered as it must be.
// What is true for everybody may answer anybody: that the level is full, that
// the rate is too high, that the server can't be sure, that seats are taken. An
// error is no answer.
func answersOf(r Result, k Kind, due Outcome) Check {
	total, other := 0, 0
	for o, n := range r.Figures.ByKind[k] {
		total += n
		switch o {
		case due, "level_full", "sold_out", "seat_taken", "rate_limited", "unavailable", "error":
		default:
			other += n
		}
	}
	return Check{Name: fmt.Sprintf("%s is answered %s", k, due), OK: other == 0, Detail: fmt.Sprintf("%d requests, %d answered otherwise", total, other)}
}

const soldOutName = "sold to the cap where demand allows"

// soldOut checks that no level has a free seat while somebody who would pay
// still waits for it.
func soldOut(r Result) Check {
	c := Check{Name: soldOutName, OK: true}
	free := 0
	for level, n := range r.Last.Free {
		open := min(n, r.Last.TotalCap-r.Last.Total)
		free += n
		if open > 0 && r.Waiting[level] > 0 {
			c.OK = false
			c.Detail += fmt.Sprintf("level %s has %d free seats and %d people wait; ", level, open, r.Waiting[level])
		}
	}
	c.Detail += fmt.Sprintf("%d of %d seats sold, %d free", r.Last.Total, r.Last.TotalCap, free)
	return c
}

// Passed reports whether every check that could be judged is OK, and one could.
func Passed(checks []Check) bool {
	judged := false
	for _, c := range checks {
		judged = judged || !c.NotJudged
		if !c.OK && !c.NotJudged {
			return false
		}
	}
	return judged
}
