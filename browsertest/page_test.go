package browsertest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/holdfast/holdfast/sale"
)

var browser context.Context

// startBrowser starts one Chromium for all tests. It talks to nobody but us.
func startBrowser(ctx context.Context) (func(), error) {
	path, err := chromium()
	if err != nil {
		return nil, err
	}
	profile, err := os.MkdirTemp("", "holdfast-chromium-")
	if err != nil {
		return nil, err
	}
	allocator, stop := chromedp.NewExecAllocator(ctx, append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.UserDataDir(profile),
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true), chromedp.Flag("lang", "en"))...)
	tab, cancel := chromedp.NewContext(allocator)
	browser = tab
	if err := chromedp.Do(tab); err != nil {
		cancel()
		stop()
		return nil, fmt.Errorf("start %s: %w", path, err)
	}
	return func() {
		_ = chromedp.Cancel(tab) // it is gone either way
		cancel()
		stop()
		_ = os.RemoveAll(profile)
	}, nil
}

func chromium() (string, error) {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", errors.New("there is no Chromium: run browsertest/install-chromium.sh")
}

// tab is a page in a browser of its own: nothing is shared but with its twins.
type tab struct {
	testing.TB
	ctx context.Context
}

// newTab opens a phone (360 px) with storage and cookies of its own.
func newTab(t testing.TB) *tab {
	t.Helper()
	return openTab(t, browser, chromedp.WithNewBrowserContext())
}

// twin is a second tab of the same browser.
func (p *tab) twin() *tab { p.Helper(); return openTab(p.TB, p.ctx) }

func openTab(t testing.TB, parent context.Context, opts ...chromedp.ContextOption) *tab {
	t.Helper()
	ctx, cancel := chromedp.NewContext(parent, opts...)
	t.Cleanup(cancel)
	if err := chromedp.Do(ctx); err != nil { // the tab lives as long as the context that opens it
		t.Fatal(err)
	}
	p := &tab{t, ctx}
	p.do(chromedp.EmulateViewport(360, 740))
	return p
}

// patience is how long anything may take on a machine that is busy with much
// else. Nothing waits for it to pass.
const patience = 60 * time.Second

func (p *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	p.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		p.Fatalf("%v\n%s", err, p.all())
	}
}

func (p *tab) visit(url string) { p.Helper(); p.do(chromedp.Navigate(url)) }

// before runs a script before those of every page that is opened from now on.
func (p *tab) before(script string) {
	p.Helper()
	p.do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := chromedp.Call(ctx, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: script})
		return err
	}))
}

// js evaluates an expression.
func js[T any](p *tab, expression string) T {
	p.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		p.Fatalf("%s: %v", expression, err)
	}
	return v
}

// await waits until an expression is true; the page may change under it.
func (p *tab) await(expression string) {
	p.Helper()
	deadline := time.After(patience)
	for {
		ctx, cancel := context.WithTimeout(p.ctx, patience)
		ok, err := chromedp.Run(ctx, chromedp.Evaluate[bool]("!!("+expression+")"))
		cancel()
		if err == nil && ok {
			return
		}
		select {
		case <-time.After(30 * time.Millisecond):
		case <-deadline:
			p.Fatalf("never true: %s (%v)\n%s", expression, err, p.all())
		}
	}
}

// says waits until a text is visible on the page.
func (p *tab) says(text string) {
	p.Helper()
	p.await(fmt.Sprintf("document.body && document.body.innerText.includes(%q)", text))
}

func (p *tab) all() string {
	ctx, cancel := context.WithTimeout(p.ctx, 2*time.Second)
	defer cancel()
	text, err := chromedp.Run(ctx, chromedp.Evaluate[string]("location.href + '\\n' + document.body.innerText"))
	if err != nil {
		return err.Error()
	}
	return text
}

// click clicks what a page has when all of it is there: what still loads moves
// things away from under the mouse.
func (p *tab) click(css string) {
	p.Helper()
	p.await(fmt.Sprintf("document.readyState === 'complete' && document.querySelector(%q)", css))
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	err := chromedp.Do(ctx, chromedp.Click(chromedp.CSS(css)))
	for err != nil && ctx.Err() == nil && strings.Contains(err.Error(), "Could not find node") {
		// The page drew the element anew (news of the seats) after it was found, so
		// nothing was clicked: find it again.
		err = chromedp.Do(ctx, chromedp.Click(chromedp.CSS(css)))
	}
	if err != nil {
		p.Fatalf("%v\n%s", err, p.all())
	}
}

// press clicks the visible button or link with a text.
func (p *tab) press(text string) {
	p.Helper()
	find := fmt.Sprintf("[...document.querySelectorAll('button, a')].find(e => e.textContent.trim().startsWith(%q) && e.checkVisibility() && !e.disabled)", text)
	p.await(find)
	js[bool](p, find+".click(), true")
}

func (p *tab) fill(css, text string) {
	p.Helper()
	js[bool](p, fmt.Sprintf("(e => { e.focus(); e.value = ''; return true })(document.querySelector(%q))", css))
	p.do(chromedp.KeyEvent(text))
}

// visitSale opens a sale's page and waits until its form is open.
func (p *tab) visitSale(id string) {
	p.Helper()
	p.visit(town.public + "/sales/" + id)
	p.await("document.body.dataset.phase === 'open'")
}

func person(i int) sale.Row { return town.people.Row(i) }

// ask fills the form for a candidate and sends it.
func (p *tab) ask(who sale.Row, level string) {
	p.Helper()
	p.fill("#code", string(who.Code))
	p.fill("#email", string(who.Email))
	js[bool](p, fmt.Sprintf("document.querySelector('#level').value = %q, true", level))
	p.click("#book")
}

// bookingID is the one that the page shows.
func (p *tab) bookingID() string {
	p.Helper()
	return js[string](p, "document.querySelector('#result dd').textContent")
}

// number waits for an expression to be n.
func (p *tab) number(expression string, n int) {
	p.Helper()
	p.await(fmt.Sprintf("(%s) === %d", expression, n))
}

const (
	held = "Held for you, not booked yet"
	kept = "Kept for you, not booked yet" // named seats, while somebody decides
)
