package browsertest

import (
	"fmt"
	"testing"
	"time"

	"github.com/chromedp/chromedp/kb"
)

// TestHall chooses seats on the picture, in the list and by asking for
// neighbours, and sees what others take while it looks.
func TestHall(t *testing.T) {
	t.Parallel()
	p, other := newTab(t), newTab(t)
	p.visitSale("hall")
	other.visitSale("hall")
	p.await("document.querySelectorAll('#seatlist input').length === 12")
	p.tapSeat(0, 1) // A1, below the section's name
	p.says("Chosen: A1")
	p.click("[data-seat=A2]")
	p.says("Chosen: A1, A2 –")
	p.says("1,800.00")
	js[bool](p, "(window.box = document.querySelector('[data-seat=A3]'), true)")

	other.await("document.querySelectorAll('#seatlist input').length === 12")
	other.fill("#many", "3")
	other.press("Best together")
	other.says("Chosen: A1, A2, A3")
	other.fill("#code", string(person(20).Code))
	other.fill("#email", string(person(20).Email))
	other.click("#book")
	other.says(kept)
	other.says("A1, A2, A3")
	p.says("Somebody was faster: A1, A2 is taken now.")
	p.await("document.querySelector('[data-seat=A3]').disabled && document.querySelector('#chosen').textContent.startsWith('No seat')")
	if !js[bool](p, "document.querySelector('[data-seat=A3]') === window.box") {
		t.Error("a seat was drawn anew when it was taken: who presses one of its row then has pressed nothing")
	}
	p.fill("#many", "4")
	p.press("Best together")
	p.says("Chosen: A7, A8, A9, A10")
	p.look("seats")
	p.fill("#code", string(person(21).Code))
	p.fill("#email", string(person(21).Email))
	p.click("#book")
	p.says(kept)
	p.look("seats-kept")
	other.insist("Let them go", "Choose your seats")
	other.await("!document.querySelector('#form').hidden && document.querySelector('#choice').hidden")
	p.press("Choose other seats")
	p.says("Take these instead")
	p.await("!document.querySelector('[data-seat=A7]').disabled") // one's own are not taken
	p.click("[data-seat=A7]")
	p.click("[data-seat=A11]")
	p.says("Chosen: A8, A9, A10, A11")
	p.click("#book")
	p.leads("document.querySelector('#book')", "Changed. Kept for you: A8, A9, A10, A11.")
	other.await("!document.querySelector('[data-seat=A7]').disabled && document.querySelector('[data-seat=A11]').disabled")
	p.press("Book and pay")
	p.says(held)
	p.press("Pay now")
	p.click("button[value=pay]")
	p.says("Booked: your seat is paid")
	inUse(t, "hall", 4)
}

// tapSeat taps on the picture: column and row of the grid.
func (p *tab) tapSeat(column, row int) {
	p.Helper()
	const size = "Math.min(28, document.querySelector('#hall').clientWidth / 13)" // 13 columns with the aisle, fitted, at most twice 14 px
	p.clickAt("#hall", fmt.Sprintf("_ => %d.5 * %s", column, size), fmt.Sprintf("_ => %d.5 * %s", row+1, size))
}

// TestSeatRace: two browsers ask for the same seat in the same instant. One has
// it; the other is told which are near, and takes one of them by keyboard.
func TestSeatRace(t *testing.T) {
	t.Parallel()
	tabs := []*tab{newTab(t), newTab(t)}
	for i, p := range tabs {
		p.before(`window.EventSource = class { addEventListener() {} close() {} }`) // no warning: a race
		p.visitSale("race")
		p.await("document.querySelectorAll('#seatlist input').length === 12")
		p.fill("#code", string(person(22+i).Code))
		p.fill("#email", string(person(22+i).Email))
		js[bool](p, "document.querySelector('#row').value = 'B', document.querySelector('#row').dispatchEvent(new Event('change'))")
		p.click("[data-seat=B4]")
		p.says("Chosen: B4")
	}
	for _, p := range tabs {
		js[bool](p, "document.querySelector('#book').click(), true")
	}
	done := fmt.Sprintf("document.body.innerText.includes(%q) || document.body.innerText.includes('Somebody was faster')", kept)
	winners := 0
	for _, p := range tabs {
		p.await(done)
		if js[bool](p, fmt.Sprintf("document.body.innerText.includes(%q)", kept)) {
			winners++
			p.press("Book and pay")
			p.says(held)
			continue
		}
		p.await("document.querySelector('#chosen').textContent.startsWith('No seat')")
		js[bool](p, "document.querySelector('[data-seat=B5]').focus(), true")
		p.keys(" ")
		p.says("Chosen: B5")
		p.tabTo("#book")
		p.keys(kb.Enter)
		p.says(kept)
		p.await("document.activeElement.tagName === 'H2'")
		p.tabTo("#choice button.main")
		p.keys(kb.Enter)
		p.says(held)
	}
	if winners != 1 {
		t.Errorf("%d have seat B4", winners)
	}
	inUse(t, "race", 2)
}

// TestLargeHallIsSmooth draws 20,700 seats, as on a phone, again and again.
func TestLargeHallIsSmooth(t *testing.T) {
	p := newTab(t)
	p.before(`{
		const rows = [...Array(207).keys()].map(r => ({row: "R" + r, runs: [[...Array(100).keys()].map(s => "R" + r + "-" + s)]}));
		const doc = {sale: "hall", version: "x-1", now: new Date().toISOString(), held: {}, sold: [], free: [], plan: [{level: "Hall", sections: [{section: "All", price: {amount_minor: 100, currency: "EUR"}, rows}]}]};
		const real = window.fetch;
		window.fetch = (path, o) => String(path).endsWith("/seats") ? Promise.resolve(new Response(JSON.stringify(doc), {headers: {"Content-Type": "application/json"}})) : real(path, o);
		window.EventSource = class { addEventListener() {} close() {} };
	}`)
	p.visitSale("hall")
	p.await("document.querySelectorAll('#seatlist input').length === 100")
	frame := js[float64](p, `(async () => {
		const hall = holdfast.hall("hall", () => {});
		await hall.load("Hall");
		const map = holdfast.seatmap(document.querySelector("#hall"), hall, new Set(["R5-5"]), () => {});
		map.fit();
		const times = [];
		for (let i = 0; i < 21; i++) { const start = performance.now(); map.paint(); times.push(performance.now() - start); }
		return times.sort((a, b) => a - b)[10];
	})()`)
	t.Logf("20,700 seats: half of the frames are drawn in at most %.1f ms", frame)
	if frame > 100 {
		t.Errorf("a frame takes %.1f ms", frame)
	}
}

// TestChoiceLost: seats that are kept while somebody decides are lost at the
// deadline, and the page says so before anything is paid; what is still free
// stays chosen. Another tab hears of it, too.
func TestChoiceLost(t *testing.T) {
	t.Parallel()
	p := newTab(t)
	p.visitSale("brief")
	second := p.twin()
	second.visitSale("brief")
	for _, tab := range []*tab{p, second} { // what they learn from a slow answer is wrong by half of its way
		tab.await("Math.abs(holdfast.clock.now() - Date.now()) < 500")
	}
	js[bool](second, "(now => { holdfast.clock.now = () => now() - 1000; return true })(holdfast.clock.now.bind(holdfast.clock))") // no two clocks agree
	p.chooseSeats(24, "A1", "A2")
	p.says(kept)
	second.says(kept)
	until, err := time.Parse(time.RFC3339, js[string](p, "JSON.parse(localStorage['holdfast:brief:choice']).hold_until"))
	if err != nil {
		t.Fatal(err)
	}
	for _, tab := range []*tab{p, second} {
		tab.says("The time to decide is over: others can take A1, A2 now. Nothing was paid.")
		if js[bool](tab, "document.body.innerText.includes('Book and pay')") {
			t.Error("the page still offers to book them")
		}
	}
	if js[bool](p, "!!localStorage['holdfast:brief:choice']") {
		t.Error("code and e-mail stay in the browser")
	}
	await(t, "the deadline, by the sale's clock", func() bool { return time.Now().After(until) })
	p.await("!document.querySelector('[data-seat=A1]').disabled")
	p.says("Chosen: A1, A2")
	p.click("#book")
	p.says(kept)
	p.press("Book and pay")
	p.says(held)
	second.says(held)
}

// TestChoiceComesBack: a reload and a lost answer lead to the same seats, once;
// more time is asked for and given.
func TestChoiceComesBack(t *testing.T) {
	t.Parallel()
	town.proxy.of("choice", func(f *faults) { f.loseReplies["hold"] = many })
	p := newTab(t)
	p.visitSale("choice")
	p.chooseSeats(25, "B1", "B2")
	p.says("Nothing of yours is lost")
	town.proxy.of("choice", func(f *faults) { f.loseReplies["hold"] = 1 })
	p.reload()
	p.says(kept)
	town.proxy.of("choice", func(f *faults) {
		if len(f.keys) != 1 {
			t.Errorf("%d keys for one attempt", len(f.keys))
		}
	})
	before := js[string](p, "JSON.parse(localStorage['holdfast:choice:choice']).hold_until")
	p.insist("More time", "They are kept until")
	if after := js[string](p, "JSON.parse(localStorage['holdfast:choice:choice']).hold_until"); after <= before {
		t.Errorf("kept until %s, before until %s", after, before)
	}
	p.reload()
	p.says(kept)
	town.proxy.of("choice", func(f *faults) { f.loseReplies["book"] = 1 })
	p.press("Book and pay")
	p.says(held)
	if js[bool](p, "!!localStorage['holdfast:choice:choice']") {
		t.Error("code and e-mail stay in the browser")
	}
	inUse(t, "choice", 2)
}

// chooseSeats fills the form for a candidate, takes seats of the first row that
// has them, and asks to keep them.
func (p *tab) chooseSeats(who int, seats ...string) {
	p.Helper()
	p.await("document.querySelectorAll('#seatlist input').length === 12")
	p.fill("#code", string(person(who).Code))
	p.fill("#email", string(person(who).Email))
	js[bool](p, fmt.Sprintf("document.querySelector('#row').value = %q, document.querySelector('#row').dispatchEvent(new Event('change'))", seats[0][:1]))
	for _, s := range seats {
		p.click("[data-seat=" + s + "]")
	}
	p.click("#book")
}
