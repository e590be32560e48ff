package browsertest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/holdfast/holdfast/sale/roster"
	"github.com/holdfast/holdfast/sale/roster/rostergen"
)

// console logs in and shows a sale.
func (p *tab) console(id string) { p.Helper(); p.consoleAt(town.operator, id) }

func (p *tab) consoleAt(base, id string) {
	p.Helper()
	p.do(chromedp.EmulateViewport(1280, 900))
	p.visit(base + "/console/login")
	p.fill("#name", "rina")
	p.fill("#token", token)
	p.click("button[type=submit]")
	p.await("location.pathname === '/console' && document.readyState === 'complete'")
	p.visit(base + "/console#" + id)
	p.reload()
	p.await("document.querySelector('#link').textContent === 'live' && document.querySelector('#sale').value === '" + id + "' && document.querySelector('#levels tbody tr')")
}

// reason fills the dialog's reason and acts.
func (p *tab) reason(why string) {
	p.Helper()
	p.await("document.querySelector('#ask').open")
	p.fill("#reason", why)
	p.click("#ask-do")
	p.settled()
}

// settled waits until the act in the dialog is done or refused. It repeats one
// that a busy machine's stores did not take, as the page says it may be.
func (p *tab) settled() {
	p.Helper()
	p.await(`(id => !id("ask").open || !id("ask-do").disabled && !id("ask-fault").hidden &&
		(!/Try again|safe to repeat/.test(id("ask-fault").textContent) || (id("ask-do").click(), false)))(id => document.getElementById(id))`)
}

// audits wants an audit to find nothing; it asks again if it could not be done.
func (p *tab) audits() {
	p.Helper()
	p.refresh("#audit", "/Every promise holds|Not judged|violations/.test(document.querySelector('#report').textContent)")
	p.says("Every promise holds")
}

// cell is a number in the table of seats.
func cell(level string, column int) string {
	return fmt.Sprintf("Number([...document.querySelectorAll('#levels tbody tr')].find(r => r.cells[0].textContent === %q).cells[%d].textContent)", level, column)
}

// hasTiles wants these names among the numbers of the moment, each with a value.
func (p *tab) hasTiles(names ...string) {
	p.Helper()
	shown := js[map[string]string](p, "Object.fromEntries([...document.querySelectorAll('#tiles > div')].map(d => [d.children[0].textContent, d.children[1].textContent]))")
	for _, name := range names {
		if shown[name] == "" {
			p.Errorf("no tile %q: %q", name, shown)
		}
	}
}

// charts shows a level, "" for all, in the chart, and wants its picture to be
// another one than before.
func (p *tab) charts(level string) {
	p.Helper()
	const draw = `(level => {
		const choice = document.querySelector("#chart-level"), canvas = document.querySelector("#chart canvas"), before = canvas.toDataURL();
		choice.value = level;
		choice.dispatchEvent(new Event("change"));
		return new Promise((done) => requestAnimationFrame(() => done(choice.value === level && canvas.toDataURL() !== before)));
	})`
	if !js[bool](p, fmt.Sprintf("%s(%q)", draw, level)) {
		p.Errorf("the chart does not change to level %q", level)
	}
}

// TestOffice is an operator's day: close, open, a cap that is refused and one
// that is not, a hold that is released, and all of it in the trail.
func TestOffice(t *testing.T) {
	t.Parallel()
	c := newTab(t)
	c.visitSale("office")
	c.ask(person(13), "Early")
	c.says(held)
	id := c.bookingID()

	p := newTab(t)
	p.console("office")
	p.number(cell("Early", 2), 1)
	p.number(cell("Early", 5), 4) // free
	const button = "document.querySelector(\"button[aria-label='Change the cap of Early']\")"
	js[bool](p, "(window.button = "+button+", true)")
	p.click("#close")
	p.click("#ask-do")
	if !js[bool](p, "document.querySelector('#ask').open") {
		t.Error("an act without a reason was done")
	}
	p.reason("fire drill")
	p.says("The sale is closed.")
	p.await("document.querySelector('#tiles').textContent.includes('closed')")
	p.click("#open")
	p.reason("the drill is over")
	p.says("The sale is open.")

	p.click("button[aria-label='Change the cap of Early']")
	p.fill("#ask-cap", "0")
	p.reason("too many")
	p.await("/below_used: .*(used|in_use) 1/.test(document.querySelector('#ask-fault').textContent)")
	p.fill("#ask-cap", "9")
	p.click("#ask-do")
	p.settled()
	p.says("Early: the cap is 9, 1 in use.")
	p.number(cell("Early", 1), 9)
	p.number(cell("All levels", 1), 14)

	p.fill("#find-code", strings.ToLower(string(person(13).Code)))
	p.fill("#find-email", string(person(13).Email))
	p.refresh("#find button", "document.querySelector('#found').textContent.includes('On the roster')")
	p.await(fmt.Sprintf("document.querySelector('#found').textContent.includes(%q) && document.querySelector('#found').textContent.includes('matches')", id))

	p.refresh("#holds-load", fmt.Sprintf("document.querySelector('#holds').textContent.includes(%q)", id))
	p.press("Release")
	p.reason("asked for it")
	p.says("Released: " + id)
	p.number(cell("Early", 2), 0)
	if !js[bool](p, button+" === window.button") {
		t.Error("a button was drawn anew when numbers changed: who presses it then has pressed nothing")
	}
	c.says("This hold has ended")
	p.click("#find button") // what somebody asks who had a seat: it is over, and who ended it
	p.says("No live booking.")
	p.press("Show ended bookings")
	p.await(fmt.Sprintf("(f => f.includes(%q) && f.includes('released') && f.includes('operator:rina'))(document.querySelector('#found').textContent)", "Ended: "+id))

	p.audits()
	p.refresh("#repair", "/Redis and ledger agree|What a repair would look at/.test(document.querySelector('#report').textContent)")
	for _, act := range []string{"fire drill", "too many", "asked for it"} {
		p.await(fmt.Sprintf("[...document.querySelectorAll('#trail tbody tr')].some(r => r.textContent.includes(%q) && r.textContent.includes('rina'))", act))
	}
	export := js[string](p, "fetch(document.querySelector('#export').href).then(r => r.text())")
	if !strings.Contains(export, id) || !strings.HasPrefix(export, "booking_id,") {
		t.Errorf("export: %.200s", export)
	}
}

// TestStreamComesBack cuts the stream: the page comes back by itself, with the
// chart it had and right numbers.
func TestStreamComesBack(t *testing.T) {
	t.Parallel()
	to, err := url.Parse(town.operator)
	if err != nil {
		t.Fatal(err)
	}
	through := httputil.NewSingleHostReverseProxy(to)
	through.FlushInterval = -1
	line := httptest.NewServer(through)
	t.Cleanup(line.Close)
	t.Cleanup(line.CloseClientConnections) // Close waits for the stream
	p := newTab(t)
	p.before(`{ const Real = EventSource; window.histories = []; window.EventSource = class extends Real { constructor(u) { super(u); this.addEventListener("history", (e) => histories.push(JSON.parse(e.data).length)); } }; }`)
	p.consoleAt(line.URL, "way")
	p.await("histories.length >= 1 && document.querySelector('#chart canvas')")
	before := js[int](p, "histories.length") // a busy machine may have cut it before
	line.CloseClientConnections()
	p.await(fmt.Sprintf("histories.length > %d && histories.at(-1) >= 1 && document.querySelector('#link').textContent === 'live'", before))
}

// TestMessyRoster drops a file as offices send them, looks at the dry run, and
// imports it.
func TestMessyRoster(t *testing.T) {
	t.Parallel()
	people, err := rostergen.New(rostergen.Spec{Size: 300, Seed: 3, Levels: []string{"Early", "Late"}})
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	if err := people.WriteMessy(&file); err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(file.String())
	if err != nil {
		t.Fatal(err)
	}
	p := newTab(t)
	p.console("messy")
	js[bool](p, fmt.Sprintf(`(() => { const d = new DataTransfer(); d.items.add(new File([%s], "from the office.csv"));
		for (const kind of ["dragenter", "dragover", "drop"]) document.querySelector("#drop").dispatchEvent(new DragEvent(kind, { dataTransfer: d, bubbles: true, cancelable: true })); return true; })()`, text))
	p.says("Dry run of from the office.csv: nothing is written yet")
	want := people.Expect()
	p.await(fmt.Sprintf("document.querySelectorAll('#import tbody tr').length === %d", want.Rejected()))
	for _, v := range []roster.Verdict{roster.ConflictingEmail, roster.MissingCode, roster.UnknownLevel} {
		p.says(strings.ReplaceAll(v.String(), "_", " "))
	}
	p.press("Import 300 candidates")
	p.reason("the final list")
	p.says("Imported: 300 candidates")
	insist(t, func() error {
		v, err := town.desk.View(t.Context(), "messy")
		if err == nil && v.Roster != 300 {
			t.Errorf("%d on the roster", v.Roster)
		}
		return err
	})
}

// TestConsoleIsGuarded: no token, no session; no session's own token, no act.
func TestConsoleIsGuarded(t *testing.T) {
	t.Parallel()
	p := newTab(t)
	p.visit(town.operator + "/console")
	p.await("location.pathname === '/console/login'")
	p.fill("#name", "rina")
	p.fill("#token", "a guess")
	p.click("button[type=submit]")
	p.says("This is not the operators' token.")
	for _, path := range []string{"/console/sales/office/trail", "/console/sales/office/stream", "/console/sales/office/export.csv", "/admin/sales"} {
		resp, err := http.Get(town.operator + path)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode != http.StatusUnauthorized {
			t.Errorf("%s: %s", path, resp.Status)
		}
	}
	p.console("look")
	if got := js[string](p, "document.cookie"); got != "" {
		t.Errorf("scripts can read the session: %q", got)
	}
	for _, act := range []string{
		`fetch("/admin/sales/look/close", {method: "POST"})`,
		`fetch("/admin/sales/look/close", {method: "POST", headers: {"X-CSRF-Token": "x"}})`,
		`fetch("/console/sales/look/repair", {method: "POST", body: "{}"})`,
	} {
		if status := js[int](p, act+".then(r => r.status)"); status != http.StatusUnauthorized {
			t.Errorf("%s: %d", act, status)
		}
	}
	if status := js[int](p, `fetch("/console/sales/look/repair", {method: "POST", headers: {"X-CSRF-Token": desk.csrf}, body: "{}"}).then(r => r.status)`); status != http.StatusBadRequest {
		t.Errorf("a repair without a reason: %d", status)
	}
	p.press("Log out")
	p.await("location.pathname === '/console/login'")
}
