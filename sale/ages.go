package sale

import (
	"fmt"
	"time"
)

// Ages are the thresholds of the sweeps and gates (protocol.md 3.8, 3B.24). None of them is a safety assumption: they decide when something is tried, never whether it is right. Durations, compared with Redis TIME.
type Ages struct {
	RequestMax    time.Duration // a booking request's driver gives up and never answers success after it (protocol.md 3.5)
	UnattachedMax time.Duration // a pending entry without a payment is an orphan after it
	AttachedMax   time.Duration // a pending entry with a payment is looked into after it
	ReleaseGrace  time.Duration // a hold is due this long after hold_until; covers clock skew
	GateExtend    time.Duration // the release gate puts a hold off by it while the gateway's answer is unknown, GateExtendTimes at most
	MessageMax    time.Duration // the breaker opens when messages that workers see are older
	CommitExtend  time.Duration // the commit gate keeps a hold for at least so long from now (protocol.md 2.2.4)
	URLMinLeft    time.Duration // a duplicate gets its payment URL back only if the hold lives longer than this (protocol.md 3.5)
}

// GateExtendTimes is how often the release gate may extend a hold before a person is paged (protocol.md 2.2.5).
const GateExtendTimes = 5

// fullHold is the hold for which protocol.md states its figures.
const fullHold = 10 * time.Minute

// DeriveAges derives the ages from the hold. For ten minutes and more they are protocol.md's figures; for a shorter hold (a rehearsal) they shrink with it, down to floors that still leave a request, a gateway call and a redelivery their time:
//
//	              hold >= 10 m   shorter, in proportion, at least
//	RequestMax    15 s           5 s
//	UnattachedMax 2 m            10 s
//	AttachedMax   hold + 5 m     hold + 10 s
//	ReleaseGrace  60 s           -
//	GateExtend    2 m            5 s
//	MessageMax    5 m            10 s
//	CommitExtend  3 m            10 s
//	URLMinLeft    60 s           -
func DeriveAges(hold time.Duration) Ages {
	scaled := func(full, floor time.Duration) time.Duration {
		if hold >= fullHold {
			return full
		}
		d := time.Duration(float64(full) * float64(hold) / float64(fullHold))
		return max(d, floor).Round(time.Millisecond)
	}
	return Ages{
		RequestMax:    scaled(15*time.Second, 5*time.Second),
		UnattachedMax: scaled(2*time.Minute, 10*time.Second),
		AttachedMax:   hold + scaled(5*time.Minute, 10*time.Second),
		ReleaseGrace:  scaled(time.Minute, time.Millisecond),
		GateExtend:    scaled(2*time.Minute, 5*time.Second),
		MessageMax:    scaled(5*time.Minute, 10*time.Second),
		CommitExtend:  scaled(3*time.Minute, 10*time.Second),
		URLMinLeft:    scaled(time.Minute, time.Millisecond),
	}
}

// ageField ties an age to its name in a sale file, so that defaults, checks, files and the stored plan share one list.
type ageField struct {
	name string
	at   func(*Ages) *time.Duration
}

var ageFields = []ageField{
	{"request_max", func(a *Ages) *time.Duration { return &a.RequestMax }},
	{"unattached_max", func(a *Ages) *time.Duration { return &a.UnattachedMax }},
	{"attached_max", func(a *Ages) *time.Duration { return &a.AttachedMax }},
	{"release_grace", func(a *Ages) *time.Duration { return &a.ReleaseGrace }},
	{"gate_extend", func(a *Ages) *time.Duration { return &a.GateExtend }},
	{"message_max", func(a *Ages) *time.Duration { return &a.MessageMax }},
	{"commit_extend", func(a *Ages) *time.Duration { return &a.CommitExtend }},
	{"url_min_left", func(a *Ages) *time.Duration { return &a.URLMinLeft }},
}

// Fields lists the ages by their names in a sale file, each with a pointer into a; the order is fixed.
func (a *Ages) Fields() []NamedAge {
	list := make([]NamedAge, len(ageFields))
	for i, f := range ageFields {
		list[i] = NamedAge{Name: f.name, Age: f.at(a)}
	}
	return list
}

// NamedAge is one age and its name in a sale file.
type NamedAge struct {
	Name string
	Age  *time.Duration
}

// or fills the ages that are zero from d.
func (a Ages) or(d Ages) Ages {
	for _, f := range ageFields {
		if p := f.at(&a); *p == 0 {
			*p = *f.at(&d)
		}
	}
	return a
}

// faults checks the ages against each other and the hold. Each relation names what would go wrong without it.
func (a Ages) faults(hold time.Duration) []Fault {
	var list []Fault
	for _, f := range a.Fields() {
		if *f.Age < time.Millisecond || *f.Age%time.Millisecond != 0 {
			list = append(list, Fault{Path: "ages." + f.Name, Reason: fmt.Sprintf("is %v, must be positive whole milliseconds", *f.Age)})
		}
	}
	for _, r := range []struct {
		broken     bool
		path, text string
	}{
		{a.UnattachedMax <= a.RequestMax, "unattached_max", fmt.Sprintf("is %v, must be more than request_max (%v), else live requests are reaped as orphans", a.UnattachedMax, a.RequestMax)},
		{a.AttachedMax < hold+a.ReleaseGrace, "attached_max", fmt.Sprintf("is %v, must be at least the hold and release_grace together (%v), else it ends holds early", a.AttachedMax, hold+a.ReleaseGrace)},
		{a.MessageMax >= a.AttachedMax, "message_max", fmt.Sprintf("is %v, must be less than attached_max (%v), else the breaker opens only after a backlog was reaped", a.MessageMax, a.AttachedMax)},
		{a.CommitExtend <= a.ReleaseGrace, "commit_extend", fmt.Sprintf("is %v, must be more than release_grace (%v), else a capture may outlast its hold", a.CommitExtend, a.ReleaseGrace)},
		{a.URLMinLeft >= hold, "url_min_left", fmt.Sprintf("is %v, must be less than the hold (%v), else a duplicate never gets its payment URL", a.URLMinLeft, hold)},
	} {
		if r.broken {
			list = append(list, Fault{Path: "ages." + r.path, Reason: r.text})
		}
	}
	return list
}
