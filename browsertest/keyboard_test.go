package browsertest

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// tabTo presses Tab until an element has the focus, which must be visible there.
func (p *tab) tabTo(css string) {
	p.Helper()
	for range 60 {
		p.do(chromedp.KeyEvent(kb.Tab))
		if js[bool](p, fmt.Sprintf("!!document.activeElement?.matches(%q)", css)) {
			if !js[bool](p, "(s => s.outlineStyle !== 'none' && parseFloat(s.outlineWidth) >= 2)(getComputedStyle(document.activeElement))") {
				p.Errorf("the focus on %s can't be seen", css)
			}
			return
		}
	}
	p.Fatalf("Tab never comes to %s", css)
}

func (p *tab) keys(text string) { p.Helper(); p.do(chromedp.KeyEvent(text)) }

// TestKeyboardOnly goes the whole way, and through an act of an operator,
// without a mouse.
func TestKeyboardOnly(t *testing.T) {
	t.Parallel()
	p := newTab(t)
	p.visitSale("keys")
	who := person(12)
	p.tabTo("#code")
	p.keys(string(who.Code))
	p.tabTo("#email")
	p.keys(string(who.Email))
	p.tabTo("#level")
	p.keys("L")
	p.await("document.querySelector('#level').value === 'Late'")
	p.tabTo("#book")
	p.keys(kb.Enter)
	p.says(held)
	p.await("document.activeElement.tagName === 'H2'")
	p.tabTo("#result a.button")
	p.keys(kb.Enter)
	p.says("Sandbox gateway")
	p.tabTo("button[value=pay]")
	p.keys(kb.Enter)
	p.says("Booked: your seat is paid")

	o := newTab(t)
	o.visit(town.operator + "/console/login")
	o.tabTo("#name")
	o.keys("rina")
	o.tabTo("#token")
	o.keys(token)
	o.keys(kb.Enter)
	o.await("location.pathname === '/console' && document.querySelector('#link').textContent === 'live'")
	o.tabTo("#sale")
	o.keys("k") // no other sale begins so
	o.await("document.querySelector('#sale').value === 'keys' && document.querySelector('#levels tbody tr')")
	o.raisesAndReleases()
	o.tabTo("#close")
	o.keys(kb.Enter)
	o.await("document.querySelector('#ask').open")
	o.keys("lunch")
	o.keys(kb.Enter)
	o.settled()
	o.says("The sale is closed.")
	o.await("document.activeElement.id === 'close'")
	p.twin().visit(town.public + "/sales/keys")
}

// raisesAndReleases is a cap that is raised and a hold that is released, by keyboard.
func (p *tab) raisesAndReleases() {
	p.Helper()
	p.tabTo("button[aria-label='Change the cap of Early']")
	p.keys(kb.Enter)
	p.await("document.activeElement.id === 'ask-cap'")
	p.keys(kb.End + kb.Backspace + "9")
	p.tabTo("#reason")
	p.keys("a bigger hall" + kb.Enter)
	p.settled()
	p.says("Early: the cap is 9, ")
	crowd(p, "keys", "Early", 33, 34) // the second does not pay
	p.number(cell("Early", 3), 1)
	p.tabTo("#holds-load")
	p.keys(kb.Enter)
	p.rereads("#holds-load", "document.querySelectorAll('#holds tbody tr').length === 1")
	p.tabTo("#holds button")
	p.keys(kb.Enter)
	p.await("document.activeElement.id === 'reason'")
	p.keys("asked for it" + kb.Enter)
	p.settled()
	p.says("Released: ")
	p.says("Nobody holds a seat.")
}

// TestFingersAlone goes the whole way to a paid seat of one's own choice without
// a mouse: the list has all that the picture has.
func TestFingersAlone(t *testing.T) {
	t.Parallel()
	p := newTab(t)
	p.visitSale("fingers")
	p.await("document.querySelectorAll('#seatlist input').length === 12")
	p.tabTo("#code")
	p.keys(string(person(29).Code))
	p.tabTo("#email")
	p.keys(string(person(29).Email))
	p.tabTo("#section")
	p.keys("G")
	p.await("document.querySelector('#row').value === 'C' && document.querySelectorAll('#seatlist input').length === 8")
	p.tabTo("[data-seat=C3]")
	p.keys(" ")
	p.says("Chosen: C3")
	p.await("document.activeElement.dataset.seat === 'C3'")
	p.tabTo("#book")
	p.keys(kb.Enter)
	p.says(kept)
	p.await("document.activeElement.tagName === 'H2'")
	p.tabTo("#choice .pair button")
	p.keys(kb.Enter)
	p.await("document.activeElement.id === 'section'")
	p.tabTo("[data-seat=C4]")
	p.keys(" ")
	p.says("Chosen: C3, C4")
	p.tabTo("#book")
	p.keys(kb.Enter)
	p.leads("document.querySelector('#book')", "Changed. Kept for you: C3, C4.")
	p.tabTo("#choice button.main")
	p.keys(kb.Enter)
	p.says(held)
	p.await("document.activeElement.tagName === 'H2'")
	p.tabTo("#result a.button")
	p.keys(kb.Enter)
	p.says("Sandbox gateway")
	p.tabTo("button[value=pay]")
	p.keys(kb.Enter)
	p.says("Booked: your seat is paid")
	inUse(t, "fingers", 2)
}
