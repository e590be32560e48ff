package browsertest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// visit opens an address and waits until all of it is there. It fails if the
// server does not send all of the page.
func (p *tab) visit(url string) {
	p.Helper()
	p.do(navigate(to(url)))
}

// to is a navigation to an address.
func to(url string) navigation {
	return func(ctx context.Context, t *chromedp.Target) (cdp.LoaderID, error) {
		r, err := cdp.Call(ctx, t, page.Navigate, page.NavigateParams{URL: url})
		if err == nil && r.ErrorText != "" {
			err = &chromedp.LoadError{ErrorText: r.ErrorText}
		}
		return r.LoaderID, err
	}
}

// reload loads the page again and waits until all of it is there.
func (p *tab) reload() { p.Helper(); p.do(navigate(anew)) }

// anew is a navigation to where the tab is.
func anew(ctx context.Context, t *chromedp.Target) (cdp.LoaderID, error) {
	committed := events(ctx, t, page.FrameNavigated)
	if _, err := cdp.Call(ctx, t, page.Reload, page.ReloadParams{}); err != nil {
		return "", err
	}
	select {
	case e := <-committed:
		return e.Frame.LoaderID, nil
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// navigation starts one and says which load it is; "" if it is the same page, at
// another fragment.
type navigation func(ctx context.Context, t *chromedp.Target) (cdp.LoaderID, error)

// superseded is what Chromium says of a navigation that gave way to another one:
// to one of the page before, say, that was still under way.
const superseded = "net::ERR_ABORTED"

// navigate starts a navigation, again if another one came in between, and waits
// for its page.
func navigate(start navigation) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		for {
			err := arrive(ctx, t, start)
			var failed *chromedp.LoadError
			if !errors.As(err, &failed) || failed.ErrorText != superseded {
				return err
			}
			if err := rest(ctx); err != nil {
				return err
			}
		}
	})
}

// arrive looks at the one request that the navigation made: what became of
// others, which the browser may still be ending, says nothing about it.
func arrive(ctx context.Context, t *chromedp.Target, start navigation) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	committed, finished, failed := events(ctx, t, page.FrameNavigated), events(ctx, t, network.LoadingFinished), events(ctx, t, network.LoadingFailed)
	moved := events(ctx, t, page.NavigatedWithinDocument)
	id, err := start(ctx, t)
	if err != nil {
		return err
	}
	if id == "" { // the same page, at another fragment: it is told, and may not be there yet
		select {
		case <-moved:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	for request, ended := network.RequestID(id), false; !ended; {
		select {
		case e := <-finished:
			ended = e.RequestID == request
		case e := <-failed:
			if e.RequestID == request {
				return &chromedp.LoadError{ErrorText: e.ErrorText}
			}
		case e := <-committed:
			if e.Frame.LoaderID != id { // then this one may have ended without a word
				return &chromedp.LoadError{ErrorText: superseded}
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	for {
		if ok, err := chromedp.Evaluate[bool]("document.readyState === 'complete'")(ctx, t); err == nil && ok {
			return nil
		}
		if err := rest(ctx); err != nil {
			return err
		}
	}
}

// events are those of a kind, from now on until ctx ends.
func events[E any](ctx context.Context, t *chromedp.Target, kind cdp.Event[E]) <-chan E {
	seen, all := make(chan E), cdp.Events(ctx, t, kind)
	go func() {
		for e, err := range all {
			if err != nil {
				return
			}
			select {
			case seen <- e:
			case <-ctx.Done():
				return
			}
		}
	}()
	return seen
}

// rest is the pause before the browser is asked again.
func rest(ctx context.Context) error {
	select {
	case <-time.After(30 * time.Millisecond):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// TestVisitsEndAtTheirPage: a navigation that the page before had under way does
// not make a visit fail, nor end early; a page that the server breaks off does.
func TestVisitsEndAtTheirPage(t *testing.T) {
	t.Parallel()
	asked := make(chan string, 1000)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- r.URL.Path
		switch r.URL.Path {
		case "/never":
			<-r.Context().Done()
		case "/half":
			w.Header().Set("Content-Length", "1000")
			_, _ = fmt.Fprint(w, "<title>half</title>") // it is to break
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}
		_, _ = fmt.Fprintf(w, "<!doctype html><title>%s</title>", r.URL.Path)
	}))
	t.Cleanup(server.Close)
	p := newTab(t)
	p.visit(server.URL + "/first")
	for i := range 30 { // a fragment is there before a reload that follows
		p.visit(fmt.Sprintf("%s/first#%d", server.URL, i))
		p.reload()
		if hash := js[string](p, "location.hash"); hash != fmt.Sprintf("#%d", i) {
			t.Errorf("the visit of fragment %d ended at %q", i, hash)
		}
	}
	for i := range 30 {
		other := []string{"/never", "/half", "/whole"}[i%3]
		js[bool](p, fmt.Sprintf("setTimeout(() => { location = %q }), true", other))
		for <-asked != other {
		}
		p.visit(fmt.Sprintf("%s/%d", server.URL, i))
		if title := js[string](p, "document.title"); title != fmt.Sprintf("/%d", i) {
			t.Errorf("the visit of /%d ended at %s", i, title)
		}
	}
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	var failed *chromedp.LoadError
	if err := chromedp.Do(ctx, navigate(to(server.URL+"/half"))); !errors.As(err, &failed) {
		t.Errorf("half a page: %v", err)
	}
}
