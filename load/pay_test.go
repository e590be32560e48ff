package load

import (
	"errors"
	"net/http"
	"net/url"
	"testing"
	"testing/synctest"
	"time"
)

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func reply(status int) (*http.Response, error) {
	return &http.Response{StatusCode: status, Status: http.StatusText(status), Header: http.Header{}, Body: http.NoBody}, nil
}

// A page that is over before the hold's end is a gateway that took no money it
// should have taken: it must count as a press without an answer.
func TestPageThatIsOver(t *testing.T) {
	lost := errors.New("the answer was lost")
	for _, c := range []struct {
		name       string
		after      time.Duration
		answers    func(n int) (*http.Response, error)
		over, none int
	}{
		{"after the hold", 2 * time.Minute, func(int) (*http.Response, error) { return reply(http.StatusConflict) }, 1, 0},
		{"after a press whose answer was lost", time.Second, func(n int) (*http.Response, error) {
			if n == 1 {
				return nil, lost
			}
			return reply(http.StatusConflict)
		}, 1, 0},
		{"at once, within the hold", time.Second, func(n int) (*http.Response, error) {
			if n == 1 {
				return reply(http.StatusConflict)
			}
			return reply(http.StatusInternalServerError)
		}, 0, 1},
		{"no answer at all", time.Second, func(int) (*http.Response, error) { return nil, lost }, 0, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tries := 0
				r := &run{client: &client{http: &http.Client{Transport: roundTrip(func(*http.Request) (*http.Response, error) {
					tries++
					return c.answers(tries)
				})}}}
				now := time.Now()
				r.press(t.Context(), Booking{PaymentURL: "http://127.0.0.1/pay/x", Now: now, HoldUntil: now.Add(time.Minute)}, c.after, url.Values{})
				if r.result.PageOver != c.over || r.result.PressErrors != c.none || r.result.Pressed != 0 {
					t.Errorf("%d over, %d without an answer; want %d and %d", r.result.PageOver, r.result.PressErrors, c.over, c.none)
				}
			})
		})
	}
}
