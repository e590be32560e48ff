// Package load is the crowd: an open-loop generator of booking requests with the
// mix of people that an opening day brings, payers that pay, abandon or pay
// late, probes that watch the caps from outside, and the verdict at the end.
//
// Open loop means that requests are sent when they are due, whatever the
// answers do; a latency is counted from the instant at which its request was
// due, so a server that stalls cannot hide it. The same seed gives the same
// crowd.
package load

import "time"

// Person is a candidate as the roster has them: what they type.
type Person struct {
	Code, Email string
	Levels      []string // what they may book; never empty
}

// Mix says what beside first requests the crowd sends, as shares of all
// requests. What is left are first requests of people who have not asked yet,
// and when everybody has, honest retries.
type Mix struct {
	SameKey    float64 // impatient: the same request again with the same key
	OtherKey   float64 // a second tab: the same person with another key
	WrongEmail float64
	Unknown    float64 // a code that is on no roster
	Honeypot   float64 // fills the field that people do not see
}

// DefaultMix is the rehearsal's crowd.
var DefaultMix = Mix{SameKey: .06, OtherKey: .05, WrongEmail: .03, Unknown: .04, Honeypot: .02}

// Paying says what those who hold a seat do about it, as shares; the rest pay
// soon.
type Paying struct {
	Abandon, Late, Fail float64
	Within              time.Duration // soon: at most so long after the hold began
	PerSecond           float64       // so many go to the gateway in a second at most; 0: no limit
}

// DefaultPaying is the rehearsal's.
var DefaultPaying = Paying{Abandon: .08, Late: .04, Fail: .03, Within: 3 * time.Second}
