package browsertest

import (
	"context"
	"fmt"

	"github.com/chromedp/chromedp"
)

// aim says where an element is, if all of the page is there and nothing is over
// that place, and sets a guard: until it is let go, the mouse reaches this element
// alone, and window.hit says whether it was clicked. Else it is null.
const aim = `((css, x, y) => {
	const e = document.querySelector(css);
	if (document.readyState !== "complete" || !e || e.matches(":disabled") || !e.checkVisibility()) return null;
	e.scrollIntoView({block: "center", behavior: "instant"});
	const box = e.getBoundingClientRect(), spot = [box.left + x(box.width), box.top + y(box.height)];
	if (!e.contains(document.elementFromPoint(...spot))) return null;
	window.guard?.abort();
	window.guard = new AbortController();
	window.hit = false;
	for (const kind of ["pointerdown", "mousedown", "pointerup", "mouseup", "click"])
		addEventListener(kind, (event) => {
			if (event.target.closest?.(css)) window.hit ||= kind === "click";
			else { event.preventDefault(); event.stopImmediatePropagation(); }
		}, {capture: true, signal: guard.signal});
	return spot;
})`

// landed says whether the click reached the element, once everything that the
// mouse did has been heard of, and lets the guard go.
const landed = `new Promise((done) => setTimeout(() => { window.guard?.abort(); done(window.hit); }, hit ? 0 : 50))`

// click clicks the middle of an element as a mouse does. A page may be drawn anew
// or move under the mouse, and Chromium drops what comes before a page's first
// picture: then it clicks again. It fails if the element never can be clicked.
func (p *tab) click(css string) { p.Helper(); p.clickAt(css, "w => w / 2", "h => h / 2") }

// clickAt clicks a place in an element: x by its width, y by its height, both from
// its upper left corner.
func (p *tab) clickAt(css, x, y string) {
	p.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	for {
		spot, err := chromedp.Run(ctx, chromedp.Evaluate[[]float64](fmt.Sprintf("%s(%q, %s, %s)", aim, css, x, y)))
		if err == nil && spot != nil {
			if err = chromedp.Do(ctx, chromedp.MouseClickXY(spot[0], spot[1])); err != nil {
				p.Fatalf("click %s: %v\n%s", css, err, p.all())
			}
			hit, err := chromedp.Run(ctx, chromedp.Evaluate[bool](landed, chromedp.EvalAwaitPromise))
			if ctx.Err() == nil && (hit || err != nil) { // an error: the click led to another page
				return
			}
		}
		if rest(ctx) != nil {
			p.Fatalf("%s can't be clicked: %v\n%s", css, err, p.all())
		}
	}
}

// pressed finds the visible button or link with a text.
func pressed(text string) string {
	return fmt.Sprintf("[...document.querySelectorAll('button, a')].find(e => e.textContent.trim().startsWith(%q) && e.checkVisibility() && !e.disabled)", text)
}

// press clicks the visible button or link with a text.
func (p *tab) press(text string) {
	p.Helper()
	p.await(fmt.Sprintf("(e => e && (e.click(), true))(%s)", pressed(text))) // in one step: it may be drawn anew
}

// insist presses a button and waits for what it leads to.
func (p *tab) insist(text, leadsTo string) {
	p.Helper()
	p.press(text)
	p.leads(pressed(text), leadsTo)
}

// leads waits until a button that was pressed leads to a text. A busy machine's
// server may say that it did not work just now; then it does what the page asks
// for: it tries again.
func (p *tab) leads(button, to string) {
	p.Helper()
	p.await(fmt.Sprintf(`((button, notice) => document.body.innerText.includes(%q) ||
		button && notice.innerText.includes("That did not work just now") && (notice.replaceChildren(), button.click(), false))(%s, document.querySelector("#notice"))`, to, button))
}

// refresh clicks a button that reads something once, and again every few seconds
// until what it read is so.
func (p *tab) refresh(css, expression string) { p.Helper(); p.click(css); p.rereads(css, expression) }

// rereads is the rest of refresh, for a button that was pressed already.
func (p *tab) rereads(css, expression string) {
	p.Helper()
	js[bool](p, "(window.reread = performance.now(), true)")
	p.await(fmt.Sprintf(`(%s) || (performance.now() - window.reread > 3000 && (window.reread = performance.now(), document.querySelector(%q).click()), false)`, expression, css))
}
