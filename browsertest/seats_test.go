package browsertest

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
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

	other.await("document.querySelectorAll('#seatlist input').length === 12")
	other.fill("#many", "3")
	other.press("Best together")
	other.says("Chosen: A1, A2, A3")
	other.fill("#code", string(person(20).Code))
	other.fill("#email", string(person(20).Email))
	other.click("#book")
	other.says(held)
	other.says("A1, A2, A3")
	p.says("Somebody was faster: A1, A2 is taken now.")
	p.await("document.querySelector('[data-seat=A3]').disabled && document.querySelector('#chosen').textContent.startsWith('No seat')")
	p.fill("#many", "4")
	p.press("Best together")
	p.says("Chosen: A7, A8, A9, A10")
	p.look("seats")
	p.fill("#code", string(person(21).Code))
	p.fill("#email", string(person(21).Email))
	p.click("#book")
	p.says(held)
	other.press("Give the seat back")
	other.press("Yes, give it back")
	other.says("This hold has ended")
}

// tapSeat taps on the picture: column and row of the grid.
func (p *tab) tapSeat(column, row int) {
	p.Helper()
	box := js[[]float64](p, "(r => [r.left, r.top, r.width])((document.querySelector('#hall').scrollIntoView({block: 'center'}), document.querySelector('#hall').getBoundingClientRect()))")
	size := min(28, box[2]/13) // 13 columns with the aisle, fitted, at most twice 14 px
	p.do(chromedp.MouseClickXY(box[0]+(float64(column)+.5)*size, box[1]+(float64(row)+1.5)*size))
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
	done := fmt.Sprintf("document.body.innerText.includes(%q) || document.body.innerText.includes('Somebody was faster')", held)
	winners := 0
	for _, p := range tabs {
		p.await(done)
		if js[bool](p, fmt.Sprintf("document.body.innerText.includes(%q)", held)) {
			winners++
			continue
		}
		p.await("document.querySelector('#chosen').textContent.startsWith('No seat')")
		js[bool](p, "document.querySelector('[data-seat=B5]').focus(), true")
		p.keys(" ")
		p.says("Chosen: B5")
		p.tabTo("#book")
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
