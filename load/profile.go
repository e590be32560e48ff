package load

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Step is a stretch of a run in which the rate goes evenly from one figure to
// another; the same figure twice is a constant rate. Rates are requests per
// second.
type Step struct {
	From, To float64
	For      time.Duration
}

// requests is how many fall into the step.
func (s Step) requests() float64 { return (s.From + s.To) / 2 * s.For.Seconds() }

// Profile is how the rate of a run goes, step after step.
type Profile []Step

// Constant is a profile of n requests at one rate.
func Constant(n int, rate float64) Profile {
	return Profile{{From: rate, To: rate, For: time.Duration(float64(n) / rate * float64(time.Second))}}
}

// ParseProfile reads steps as people write them: "833x60s" is 833 requests a
// second for a minute, "0..8330x6s" rises to 8,330 within six seconds, and a
// comma parts one step from the next.
func ParseProfile(s string) (Profile, error) {
	var p Profile
	for part := range strings.SplitSeq(s, ",") {
		step, err := parseStep(strings.TrimSpace(part))
		if err != nil {
			return nil, fmt.Errorf("%q is no step: %w; write RATExTIME or FROM..TOxTIME, such as 100x10s,100..833x30s", part, err)
		}
		p = append(p, step)
	}
	return p, nil
}

func parseStep(s string) (Step, error) {
	rates, length, ok := strings.Cut(s, "x")
	if !ok {
		return Step{}, errors.New("it has no x between rate and time")
	}
	from, to, ramp := strings.Cut(rates, "..")
	if !ramp {
		to = from
	}
	var step Step
	var err error
	if step.For, err = time.ParseDuration(length); err != nil || step.For <= 0 {
		return step, fmt.Errorf("%q is no time", length)
	}
	if step.From, err = parseRate(from); err != nil {
		return step, err
	}
	step.To, err = parseRate(to)
	return step, err
}

func parseRate(text string) (float64, error) {
	rate, err := strconv.ParseFloat(text, 64)
	if err != nil || !(rate >= 0) || math.IsInf(rate, 0) {
		return 0, fmt.Errorf("%q is no rate", text)
	}
	return rate, nil
}

// Requests is how many requests the profile sends.
func (p Profile) Requests() int {
	sum := 0.0
	for _, s := range p {
		sum += s.requests()
	}
	return int(math.Round(sum))
}

// Length is how long the profile takes.
func (p Profile) Length() time.Duration {
	var sum time.Duration
	for _, s := range p {
		sum += s.For
	}
	return sum
}

// Peak is the highest rate.
func (p Profile) Peak() float64 {
	most := 0.0
	for _, s := range p {
		most = max(most, s.From, s.To)
	}
	return most
}

// Due says when request i (from 0) is due, counted from the beginning. After the
// last step it is the end.
func (p Profile) Due(i int) time.Duration {
	left, at := float64(i), time.Duration(0)
	for _, s := range p {
		if n := s.requests(); left >= n {
			left, at = left-n, at+s.For
			continue
		}
		return at + s.after(left)
	}
	return at
}

// after is how far into the step n requests have been sent: the root of
// n = From·t + (To-From)/(2·For)·t².
func (s Step) after(n float64) time.Duration {
	rise := (s.To - s.From) / s.For.Seconds()
	t := n / max(s.From, math.SmallestNonzeroFloat64)
	if rise != 0 {
		t = (math.Sqrt(max(0, s.From*s.From+2*rise*n)) - s.From) / rise
	}
	return time.Duration(t * float64(time.Second))
}

// String writes the profile as ParseProfile reads it.
func (p Profile) String() string {
	parts := make([]string, len(p))
	for i, s := range p {
		rate := strconv.FormatFloat(s.From, 'f', -1, 64)
		if s.To != s.From {
			rate += ".." + strconv.FormatFloat(s.To, 'f', -1, 64)
		}
		parts[i] = rate + "x" + s.For.String()
	}
	return strings.Join(parts, ",")
}
