package load

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// shares are the names of a mix's parts, as ParseMix reads them.
func (m *Mix) shares() map[string]*float64 {
	return map[string]*float64{"same-key": &m.SameKey, "other-key": &m.OtherKey, "wrong-email": &m.WrongEmail, "unknown": &m.Unknown, "bot": &m.Honeypot}
}

// MixNames are what ParseMix knows, in the order of the help.
var MixNames = []string{"same-key", "other-key", "wrong-email", "unknown", "bot"}

// ParseMix reads shares of all requests such as "same-key=10%,bot=0.05". What
// is not named is not sent; "none" is a crowd of first requests alone.
func ParseMix(s string) (Mix, error) {
	var m Mix
	if s == "none" {
		return m, nil
	}
	if err := parseShares(s, m.shares()); err != nil {
		return m, fmt.Errorf("%w; known are %s", err, strings.Join(MixNames, ", "))
	}
	return m, nil
}

// ParsePaying reads what holders of seats do, such as "abandon=8%,late=4%,fail=3%":
// the rest pay soon. "none" is that nobody pays, and every hold runs out.
func ParsePaying(s string) (Paying, error) {
	p := Paying{Within: DefaultPaying.Within}
	if s == "none" {
		p.Abandon = 1
		return p, nil
	}
	known := map[string]*float64{"abandon": &p.Abandon, "late": &p.Late, "fail": &p.Fail}
	if err := parseShares(s, known); err != nil {
		return p, fmt.Errorf("%w; known are abandon, late, fail", err)
	}
	return p, nil
}

func parseShares(s string, known map[string]*float64) error {
	sum := 0.0
	for part := range strings.SplitSeq(s, ",") {
		name, text, ok := strings.Cut(strings.TrimSpace(part), "=")
		share := known[name]
		if !ok || share == nil {
			return fmt.Errorf("%q is no NAME=SHARE that is known", part)
		}
		v, err := parseShare(text)
		if err != nil {
			return err
		}
		sum += v - *share
		*share = v
	}
	if sum > 1 {
		return fmt.Errorf("the shares are %.0f%% together", sum*100)
	}
	return nil
}

func parseShare(text string) (float64, error) {
	digits, percent := strings.CutSuffix(text, "%")
	v, err := strconv.ParseFloat(digits, 64)
	if percent {
		v /= 100
	}
	if err != nil || !(v >= 0 && v <= 1) {
		return 0, fmt.Errorf("%q is no share: write 5%% or 0.05", text)
	}
	return v, nil
}

// String writes the mix as ParseMix reads it.
func (m Mix) String() string {
	var parts []string
	shares := m.shares()
	for _, name := range MixNames {
		if v := *shares[name]; v > 0 {
			parts = append(parts, name+"="+strconv.FormatFloat(v*100, 'f', -1, 64)+"%")
		}
	}
	if parts == nil {
		return "none"
	}
	return strings.Join(parts, ",")
}

// pace lets at most so many through in a second; the zero value lets all.
type pace struct {
	every time.Duration
	next  time.Time
}

// wait says how long the next one has to wait from now on, and takes its place.
func (p *pace) wait(now time.Time) time.Duration {
	if p.every <= 0 {
		return 0
	}
	if p.next.Before(now) {
		p.next = now
	}
	left := p.next.Sub(now)
	p.next = p.next.Add(p.every)
	return left
}
