package browsertest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
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
const patience = 2 * time.Minute

func (p *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	p.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		p.Fatalf("%v\n%s", err, p.all())
	}
}

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

// fill types a text into a field, in place of what was there. Chromium drops keys
// as it drops clicks, and a page may take the focus away: what stands there then
// is not the text, and is typed anew.
func (p *tab) fill(css, text string) {
	p.Helper()
	field := fmt.Sprintf("document.querySelector(%q)", css)
	for end := time.Now().Add(patience); ; {
		p.await(fmt.Sprintf("(e => !e.matches(':disabled') && (e.focus(), e.value = '', document.activeElement === e))(%s)", field))
		p.keys(text)
		got := js[string](p, field+".value")
		if got == text {
			return
		}
		if time.Now().After(end) {
			p.Fatalf("%s has %q, not %q", css, got, text)
		}
	}
}

// records keeps everything that an element shows from now on: some of it passes
// faster than a test on a busy machine can look.
func (p *tab) records(css string) {
	p.Helper()
	js[bool](p, fmt.Sprintf(`((css, e) => {
		const all = (window.recorded ??= {})[css] = [e.innerText];
		new MutationObserver(() => all.push(e.innerText)).observe(e, {childList: true, subtree: true, characterData: true});
		return true;
	})(%q, document.querySelector(%[1]q))`, css))
}

// showed are the texts that were recorded and contain a text: an expression.
func showed(css, text string) string {
	return fmt.Sprintf("window.recorded[%q].filter(s => s.includes(%q))", css, text)
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
