package load

import "fmt"

// Check is one line of a verdict.
type Check struct {
	Name   string `json:"name"`
	OK     bool   `json:"ok"`
	Detail string `json:"detail"`
}

// Judge checks what a client and an outside observer can see: the caps held at
// every sample, everybody got an answer of the kind that was due, every seat
// that somebody wanted was sold, and the pipeline came to rest. What only the
// ledger can say is added by whoever has it.
func Judge(r Result) []Check {
	checks := []Check{
		{"caps held at every sample", r.Samples > 0 && len(r.OverCap) == 0, fmt.Sprintf("%d samples, %d over a cap, %d could not be taken%s", r.Samples, len(r.OverCap), r.ProbeErrors, example(r.OverCap))},
		{"the pipeline came to rest", r.Quiet, fmt.Sprintf("%.1f s after the last request", r.Drain.Seconds())},
		answersOf(r, Unknown, "invalid_code"),
		answersOf(r, WrongEmail, "email_mismatch"),
		answersOf(r, Honeypot, "201"),
		soldOut(r),
		accounted(r),
		{"every pay button answered", r.PressErrors == 0, fmt.Sprintf("%d pressed, %d never answered", r.Pressed, r.PressErrors)},
	}
	return checks
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
	return Check{"every booking a client was told of came to its end", total > 0 && len(r.Unaccounted) == 0 && r.Acked["held"] == 0, detail + example(r.Unaccounted)}
}

func example(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return ", the first: " + list[0]
}

// answersOf checks that a kind of request was only ever answered as it must be.
// What is true for everybody may answer anybody: that the level is full, that
// the rate is too high, that the server can't be sure. An error is no answer.
func answersOf(r Result, k Kind, due Outcome) Check {
	total, other := 0, 0
	for o, n := range r.Figures.ByKind[k] {
		total += n
		switch o {
		case due, "level_full", "sold_out", "rate_limited", "unavailable", "error":
		default:
			other += n
		}
	}
	return Check{fmt.Sprintf("%s is answered %s", k, due), other == 0, fmt.Sprintf("%d requests, %d answered otherwise", total, other)}
}

// soldOut checks that no level has a free seat while somebody who would pay
// still waits for it.
func soldOut(r Result) Check {
	c := Check{Name: "sold to the cap where demand allows", OK: true}
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

// Passed reports whether every check is OK.
func Passed(checks []Check) bool {
	for _, c := range checks {
		if !c.OK {
			return false
		}
	}
	return len(checks) > 0
}
