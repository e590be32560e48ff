package load

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// Kind is what a request is meant to be. The set is closed.
type Kind string

// The kinds of requests.
const (
	First      Kind = "first"
	SameKey    Kind = "same_key"
	OtherKey   Kind = "other_key"
	WrongEmail Kind = "wrong_email"
	Unknown    Kind = "unknown_code"
	Honeypot   Kind = "honeypot"
	Retry      Kind = "retry" // sent by the generator because an answer asked for it, or because seats came back
)

// Shot is one request of the crowd.
type Shot struct {
	Kind   Kind
	Person int // index; -1 for somebody who is on no roster
	Code   string
	Email  string
	Level  string
	Key    string
	Trap   string   // the honeypot's content
	Seats  []string // named seats that were offered to them
}

// crowd draws the shots of a run. It is not safe for concurrent use.
type crowd struct {
	people []Person
	levels []string
	mix    Mix
	rng    *rand.Rand
	order  []int // people in the order in which they come
	next   int
	level  []string // level each person has chosen
}

func newCrowd(people []Person, levels []string, mix Mix, seed uint64) *crowd {
	c := &crowd{people: people, levels: levels, mix: mix, rng: rand.New(rand.NewPCG(seed, 0x401dfa57))}
	c.order = c.rng.Perm(len(people))
	c.level = make([]string, len(people))
	for i, p := range people {
		c.level[i] = p.Levels[c.rng.IntN(len(p.Levels))]
	}
	return c
}

// draw returns the next shot.
func (c *crowd) draw() Shot {
	x := c.rng.Float64()
	for _, k := range []struct {
		share float64
		make  func() Shot
	}{
		{c.mix.SameKey, c.again}, {c.mix.OtherKey, c.otherTab}, {c.mix.WrongEmail, c.wrongEmail},
		{c.mix.Unknown, c.unknown}, {c.mix.Honeypot, c.honeypot},
	} {
		if x < k.share {
			return k.make()
		}
		x -= k.share
	}
	return c.first()
}

func (c *crowd) first() Shot {
	if c.next == len(c.order) {
		return c.again()
	}
	i := c.order[c.next]
	c.next++
	return c.shot(First, i)
}

// someone returns a person who has asked already, or the first to come.
func (c *crowd) someone() int {
	if c.next == 0 {
		return c.order[0]
	}
	return c.order[c.rng.IntN(c.next)]
}

func (c *crowd) again() Shot { return c.shot(SameKey, c.someone()) }

func (c *crowd) otherTab() Shot {
	s := c.shot(OtherKey, c.someone())
	s.Key = fmt.Sprintf("%s-tab%d", s.Key, c.rng.IntN(1<<30))
	return s
}

func (c *crowd) wrongEmail() Shot {
	s := c.shot(WrongEmail, c.rng.IntN(len(c.people)))
	s.Key += "-wrong"
	s.Email = "not.me." + s.Email
	return s
}

func (c *crowd) unknown() Shot {
	n := c.rng.IntN(1_000_000)
	return Shot{Kind: Unknown, Person: -1, Code: fmt.Sprintf("ZZZZ%06d", n), Email: fmt.Sprintf("guess%d@example.org", n),
		Level: c.levels[c.rng.IntN(len(c.levels))], Key: fmt.Sprintf("unknown-%d-%d", n, c.rng.IntN(1<<30))}
}

func (c *crowd) honeypot() Shot {
	s := c.shot(Honeypot, c.rng.IntN(len(c.people)))
	s.Key += "-bot"
	s.Trap = "https://cheap.example"
	return s
}

// shot is the honest request of a person, always with the same key.
func (c *crowd) shot(k Kind, i int) Shot {
	p := c.people[i]
	return Shot{Kind: k, Person: i, Code: typed(p.Code, i), Email: p.Email, Level: c.level[i], Key: fmt.Sprintf("attempt-%d-1", i)}
}

// typed writes a code as people do: some in small letters, some with blanks around.
func typed(code string, i int) string {
	switch i % 5 {
	case 1:
		return strings.ToLower(code)
	case 2:
		return " " + code + " "
	}
	return code
}
