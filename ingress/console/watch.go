package console

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/holdfast/holdfast/admission"
)

const (
	watchEvery = time.Second
	// watchShare bounds what watching costs: reading takes at most a tenth of the
	// time, so that a large sale is read less often in its rush.
	watchShare = 10
	kept       = 900 // points of the chart: a quarter of an hour
	window     = 10  // readings over which rates are taken
)

// watch reads one sale for all pages that show it, while there are any.
type watch struct {
	console *Console
	sale    string

	mu       sync.Mutex
	pages    map[chan []byte]struct{}
	points   []point
	readings []reading
	counter  counter // of the one goroutine that reads
	running  bool
}

// point is one instant of the chart.
type point struct {
	At     int64            `json:"t"`      // Unix milliseconds
	Levels map[string]seats `json:"levels"` // by name; "" is all of them together
}

// seats are cap, held, paid, pending and free, in this order: the history has
// hundreds of them.
type seats [5]int

// state is what a page is told each second.
type state struct {
	View    json.RawMessage   `json:"view,omitempty"`
	Fault   string            `json:"fault,omitempty"` // of the view
	Figures Figures           `json:"figures"`
	Redis   *admission.Health `json:"redis,omitempty"`
	RedisIs string            `json:"redis_fault,omitempty"`
	Drift   any               `json:"drift,omitempty"`
	Point   *point            `json:"point,omitempty"`
	Next    int64             `json:"next_ms"` // until the next reading begins: a page that hears nothing for longer is cut off
}

func (c *Console) watch(saleID string) *watch {
	c.mu.Lock()
	defer c.mu.Unlock()
	w := c.watches[saleID]
	if w == nil {
		w = &watch{console: c, sale: saleID, pages: make(map[chan []byte]struct{})}
		c.watches[saleID] = w
	}
	return w
}

// join adds a page. It gets the chart so far and then each state; one that it is
// too slow for is left out.
func (w *watch) join(ctx context.Context) (states chan []byte, history []point) {
	w.mu.Lock()
	defer w.mu.Unlock()
	states = make(chan []byte, 1)
	w.pages[states] = struct{}{}
	if !w.running {
		w.running = true
		go w.run(context.WithoutCancel(ctx)) // a page that leaves must not end the reading of the others
	}
	return states, append([]point{}, w.points...)
}

func (w *watch) leave(states chan []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.pages, states)
}

// run ends with the last page, or with the console.
func (w *watch) run(ctx context.Context) {
	for {
		start := time.Now()
		s := w.read(ctx)
		rest := restAfter(time.Since(start))
		s.Next = rest.Milliseconds()
		w.tell(s)
		pause := time.NewTimer(rest)
		select {
		case <-w.console.ended:
		case <-pause.C:
		}
		pause.Stop()
		if w.rest() {
			return
		}
	}
}

// restAfter is how long reading pauses after one that took so long.
func restAfter(took time.Duration) time.Duration { return max(watchEvery-took, watchShare*took) }

func (w *watch) rest() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	select {
	case <-w.console.ended:
		w.running = false
	default:
		w.running = len(w.pages) > 0
	}
	return !w.running
}

const readLimit = 10 * time.Second

func (w *watch) read(ctx context.Context) state {
	ctx, cancel := context.WithTimeout(ctx, readLimit)
	defer cancel()
	c := w.console
	s := state{Figures: w.figures(ctx)}
	if v, err := c.Desk.Status(ctx, w.sale); err != nil {
		s.Fault = err.Error()
	} else if s.View, err = json.Marshal(v); err != nil {
		s.Fault = err.Error()
	} else {
		s.Point = w.point(s.View)
	}
	if h, err := c.Desk.Health(ctx, w.sale); err != nil {
		s.RedisIs = err.Error()
	} else {
		s.Redis = &h
	}
	if d, err := c.Desk.Drift(ctx, w.sale); err == nil {
		s.Drift = d
	}
	return s
}

func (w *watch) figures(ctx context.Context) Figures {
	r, err := w.counter.read(ctx, w.console.Desk.Minutes, w.sale, w.console.Now())
	if err != nil {
		return Figures{}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.readings = append(w.readings, r)
	w.readings = w.readings[max(0, len(w.readings)-window):]
	return r.since(w.readings[0])
}

func (w *watch) point(view []byte) *point {
	type level struct {
		Level                          string
		Cap, Held, Paid, Pending, Free int
	}
	var v struct {
		Levels []level
		Total  level
	}
	if json.Unmarshal(view, &v) != nil {
		return nil
	}
	of := func(l level) seats { return seats{l.Cap, l.Held, l.Paid, l.Pending, l.Free} }
	p := &point{At: w.console.Now().UnixMilli(), Levels: map[string]seats{"": of(v.Total)}}
	for _, l := range v.Levels {
		p.Levels[l.Level] = of(l)
	}
	return p
}

func (w *watch) tell(s state) {
	body, err := json.Marshal(s)
	if err != nil {
		body = fmt.Appendf(nil, `{"fault":%q}`, err.Error())
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if s.Point != nil {
		w.points = append(w.points, *s.Point)
		w.points = w.points[max(0, len(w.points)-kept):]
	}
	for page := range w.pages {
		select {
		case page <- body:
		default: // it still has the one before
		}
	}
}
