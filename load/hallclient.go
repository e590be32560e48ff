package load

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"time"
)

// wish is what somebody asks to hold: these seats, or the best so many.
type wish struct {
	level string
	seats []string
	best  int
	life  time.Duration
}

func (w wish) body() map[string]any {
	body := map[string]any{}
	if w.level != "" {
		body["level"] = w.level
	}
	if w.best > 0 {
		body["best"] = map[string]int{"count": w.best}
	} else if w.seats != nil {
		body["seats"] = w.seats
	}
	if w.life > 0 {
		body["seconds"] = max(1, int(w.life/time.Second))
	}
	return body
}

// hold asks for a soft hold.
func (c *client) hold(ctx context.Context, s Shot, w wish) (Reply, error) {
	body := w.body()
	body["code"], body["email"], body["website"] = s.Code, s.Email, s.Trap
	return c.ask(ctx, http.MethodPost, "/sales/"+c.sale+"/holds", s, body)
}

// change asks for other seats, or for more time.
func (c *client) change(ctx context.Context, s Shot, id string, w wish) (Reply, error) {
	s.Key = ""
	return c.ask(ctx, http.MethodPatch, c.holdPath(id), s, w.body())
}

// letGo gives a hold back.
func (c *client) letGo(ctx context.Context, s Shot, id string) (Reply, error) {
	s.Key = ""
	return c.ask(ctx, http.MethodDelete, c.holdPath(id), s, nil)
}

func (c *client) holdPath(id string) string {
	return "/holds/" + url.PathEscape(id) + "?sale=" + url.QueryEscape(c.sale)
}

// promote books what a hold holds.
func (c *client) promote(ctx context.Context, s Shot, level, id string) (Reply, error) {
	s.Key = "book-" + id
	return c.ask(ctx, http.MethodPost, "/sales/"+c.sale+"/bookings", s,
		map[string]any{"code": s.Code, "email": s.Email, "level": level, "hold_id": id, "website": ""})
}

// plan is how the public map draws the seats.
type plan []struct {
	Level    string `json:"level"`
	Sections []struct {
		Section string `json:"section"`
		Rows    []struct {
			Runs [][]string `json:"runs"`
		} `json:"rows"`
	} `json:"sections"`
}

// seatMap is the public map.
type seatMap struct {
	Held map[string]int `json:"held"`
	Sold []string       `json:"sold"`
	Plan plan           `json:"plan"`
}

// seats reads the map.
func (c *client) seats(ctx context.Context, withPlan bool) (seatMap, error) {
	path := "/sales/" + c.sale + "/seats"
	if !withPlan {
		path += "?plan=0"
	}
	var m seatMap
	return m, c.document(ctx, path, 16<<20, &m)
}

// public is what the status page says.
func (c *client) public(ctx context.Context) (Sample, error) {
	var doc struct {
		Now    time.Time `json:"now"`
		Levels []struct {
			Level string `json:"level"`
			State string `json:"state"`
		} `json:"levels"`
	}
	err := c.document(ctx, "/sales/"+c.sale+"/status.json", 1<<20, &doc)
	s := Sample{At: doc.Now, States: map[string]string{}}
	for _, l := range doc.Levels {
		s.States[l.Level] = l.State
	}
	return s, err
}

// document reads a JSON page of at most so many bytes.
func (c *client) document(ctx context.Context, path string, most int64, into any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.base+path, nil)
	if err != nil {
		return err
	}
	req.Header.Set("X-Forwarded-For", "198.19.254.1") // the observer's own address
	resp, err := c.http.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return &statusError{path, resp.StatusCode}
	}
	return json.NewDecoder(http.MaxBytesReader(nil, resp.Body, most)).Decode(into)
}
