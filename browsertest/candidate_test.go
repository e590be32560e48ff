package browsertest

import (
	"fmt"
	"testing"
	"time"

	"github.com/holdfast/holdfast/lifecycle"
)

// TestWay is the whole way: countdown, opening by itself, hold, payment, paid.
func TestWay(t *testing.T) {
	t.Parallel()
	opensAt := func(opens time.Time) time.Time {
		t.Helper()
		opens = opens.Truncate(time.Millisecond)
		insist(t, func() error { return town.desk.SetTimes(t.Context(), "way", opens, time.Time{}, me) })
		return opens
	}
	opensAt(time.Now().Add(30 * time.Minute))
	p := newTab(t)
	p.visit(town.public + "/sales/way")
	p.await("document.body.dataset.phase === 'before' && /^(2[5-9]:[0-9]{2}|30:00)$/.test(document.querySelector('#countdown').textContent)")
	if !js[bool](p, "document.querySelector('#book').disabled") {
		t.Error("the form is open before the sale")
	}
	js[bool](p, "window.sameDocument = true")
	// The operator moves the opening; who comes back to the tab sees it.
	opens := opensAt(time.Now().Add(4 * time.Second))
	p.await("document.dispatchEvent(new Event('visibilitychange')) && !/^(2[0-9]|30):/.test(document.querySelector('#countdown').textContent)")
	p.await("document.body.dataset.phase === 'open'")
	if early := time.Until(opens); early > 100*time.Millisecond {
		t.Errorf("it opened %v early", early)
	}
	p.ask(person(0), "Early")
	p.says(held)
	if !js[bool](p, "window.sameDocument && !document.body.innerText.includes('Booked')") {
		t.Error("the page was loaded again, or called a held seat booked")
	}
	p.await("/^0?[5-9]:[0-9]{2}$|^10:00$/.test(document.querySelector('.timer').textContent)")
	p.press("Pay now")
	p.says("Sandbox gateway")
	p.click("button[value=pay]")
	p.says("Booked: your seat is paid")
	p.press("To the booking page")
	p.says("Booked: your seat is paid")
}

// TestRepliesLost loses the answers of each step; every step was done, and the
// page finds out.
func TestRepliesLost(t *testing.T) {
	t.Parallel()
	town.proxy.of("lost", func(f *faults) {
		f.loseReplies["status"], f.loseReplies["book"], f.loseReplies["booking"], f.loseReplies["return"] = 1, many, 2, 1
	})
	p := newTab(t)
	p.visitSale("lost")
	p.ask(person(1), "Early")
	p.says("Nothing of yours is lost")
	lost := 0
	await(t, "a second request", func() bool {
		town.proxy.of("lost", func(f *faults) {
			if lost = many - f.loseReplies["book"]; lost >= 2 {
				f.loseReplies["book"] = 0
			}
		})
		return lost >= 2
	})
	p.says(held)
	town.proxy.of("lost", func(f *faults) {
		if f.seen["book"] != lost+1 || len(f.keys) != 1 {
			t.Errorf("%d requests with %d keys, want %d with 1", f.seen["book"], len(f.keys), lost+1)
		}
	})
	p.press("Pay now")
	p.click("button[value=pay]")
	// The page after the payment breaks off in the middle. The payment is made, and
	// the sale's page says so.
	p.await(fmt.Sprintf("location.origin === %q || location.protocol === 'chrome-error:'", town.public))
	town.proxy.of("lost", func(f *faults) {
		if f.seen["return"] == 0 || f.loseReplies["return"] != 0 {
			t.Error("the page after the payment did not break off")
		}
	})
	p.visit(town.public + "/sales/lost")
	p.says("Booked: your seat is paid")
	inUse(t, "lost", 1)
}

// TestReloadWhileReplyIsLost closes the page before any answer came: the next
// page goes on with the same attempt.
func TestReloadWhileReplyIsLost(t *testing.T) {
	t.Parallel()
	town.proxy.of("storm", func(f *faults) { f.busy["book"] = many })
	p := newTab(t)
	p.visitSale("storm")
	start := time.Now()
	p.ask(person(2), "Late")
	p.says("We are very busy")
	p.reload()
	p.says("We are very busy")
	if got := js[string](p, "document.querySelector('#code').value"); got != string(person(2).Code) {
		t.Errorf("the form forgot the code: %q", got)
	}
	town.proxy.of("storm", func(f *faults) { f.busy["book"] = 0 })
	p.says(held)
	var requests int
	town.proxy.of("storm", func(f *faults) {
		requests = f.seen["book"]
		if len(f.keys) != 1 {
			t.Errorf("%d keys for one attempt", len(f.keys))
		}
	})
	// Each of two pages begins with one, and Retry-After says a second.
	if took := time.Since(start); requests > 2+int(took/time.Second) {
		t.Errorf("%d requests in %v: that is hammering", requests, took)
	}
	inUse(t, "storm", 1)
	if js[string](p, "localStorage['holdfast:storm']") != fmt.Sprintf(`{"booking":%q}`, p.bookingID()) {
		t.Error("code and e-mail stay in the browser after the answer")
	}
}

// TestTwoTabs: a second tab, and the browser opened again, show the same hold.
func TestTwoTabs(t *testing.T) {
	t.Parallel()
	p := newTab(t)
	p.visitSale("tabs")
	second := p.twin()
	second.visitSale("tabs")
	p.ask(person(3), "Early")
	p.says(held)
	second.says(held)
	third := p.twin()
	third.visit(town.public + "/sales/tabs")
	third.says(held)
	if a, b, c := p.bookingID(), second.bookingID(), third.bookingID(); a != b || b != c {
		t.Errorf("three tabs, bookings %s %s %s", a, b, c)
	}
	other := newTab(t) // another device: the code and the e-mail lead to the same hold
	other.visitSale("tabs")
	other.ask(person(3), "Early")
	other.says(held)
	if other.bookingID() != p.bookingID() {
		t.Error("the other device has another booking")
	}
	inUse(t, "tabs", 1)
}

// TestBackButton: back from the payment page is the hold, and after the payment
// the truth.
func TestBackButton(t *testing.T) {
	t.Parallel()
	p := newTab(t)
	p.visitSale("back")
	p.ask(person(4), "Early")
	p.says(held)
	p.press("Pay now")
	p.says("Sandbox gateway")
	js[bool](p, "history.back(), true")
	p.says(held)
	p.press("Pay now")
	p.click("button[value=pay]")
	p.says("Booked: your seat is paid")
	p.visit(town.public + "/sales/back")
	p.says("Booked: your seat is paid")
}

// TestDeviceClockOff: a device that is ten minutes fast or slow counts down by
// the sale's clock.
func TestDeviceClockOff(t *testing.T) {
	t.Parallel()
	opens := time.Now().Add(30 * time.Minute).Truncate(time.Millisecond)
	insist(t, func() error { return town.desk.SetTimes(t.Context(), "skew", opens, time.Time{}, me) })
	for _, off := range []int{-600_000, 600_000} {
		p := newTab(t)
		p.before(fmt.Sprintf(`{ const real = Date.now.bind(Date); Date.now = () => real() + (%d); }`, off))
		p.visit(town.public + "/sales/skew")
		p.await("/^(2[5-9]:[0-9]{2}|30:00)$/.test(document.querySelector('#countdown').textContent)")
		p.visitSale("clock")
		p.ask(person(26+off/600_000), "Early") // 25 and 27
		p.says(held)
		p.await("/^(0?[5-9]:[0-9]{2}|10:00)$/.test(document.querySelector('.timer').textContent)")
	}
}

// TestWakesUpRight: while a device sleeps its clocks part; the page asks again.
func TestWakesUpRight(t *testing.T) {
	t.Parallel()
	p := newTab(t)
	// No answer may be under way while the clock is set: it would have been asked for
	// before the sleep and come after it, in less than no time.
	p.before(`{
		const real = performance.now.bind(performance), ask = window.fetch, read = Response.prototype.text;
		window.slept = window.asking = 0;
		performance.now = () => real() - window.slept;
		const counted = (done) => { window.asking++; return done.finally(() => window.asking--); };
		window.fetch = (...of) => counted(ask(...of));
		Response.prototype.text = function () { return counted(read.call(this)); };
	}`)
	p.visitSale("words")
	var before int
	town.proxy.of("words", func(f *faults) { before = f.seen["status"] })
	p.await("!window.asking && (window.slept = 300000)")
	p.await("Math.abs(holdfast.clock.now() - Date.now()) < 2000")
	town.proxy.of("words", func(f *faults) {
		if f.seen["status"] <= before {
			t.Error("it did not ask")
		}
	})
}

// TestEveryAnswerHasItsWords goes through the refusals.
func TestEveryAnswerHasItsWords(t *testing.T) {
	t.Parallel()
	first := newTab(t)
	first.visitSale("words")
	first.ask(person(5), "Early")
	first.says(held)

	p := newTab(t)
	p.visitSale("words")
	stranger := person(6)
	stranger.Code = "QTZZ999999"
	p.ask(stranger, "Early")
	p.says("This code can't book here")
	p.await("document.activeElement.id === 'code' && document.activeElement.getAttribute('aria-invalid') === 'true'")
	wrong := person(6)
	wrong.Email = "somebody@example.org"
	p.ask(wrong, "Early")
	p.says("This e-mail does not belong to the code")
	p.ask(person(size-1), "Early")
	p.says("This code can't book this level")
	p.ask(person(6), "Early")
	p.says("Every seat in Early is sold or held right now. Some may come back by")
	p.press("Choose Late")
	p.click("#book")
	p.says(held)

	thief := newTab(t)
	thief.visitSale("words")
	mine := person(6)
	mine.Email = "somebody@example.org"
	thief.ask(mine, "Late")
	thief.await("/does not belong|booking for this code already/.test(document.body.innerText)")
	if js[bool](thief, "document.body.innerText.includes('Pay now')") {
		t.Error("a stranger sees the payment link")
	}
}

// TestSoldOutAndSeatsReturn: who waits on the page sees the seat come back.
func TestSoldOutAndSeatsReturn(t *testing.T) {
	t.Parallel()
	a, b := newTab(t), newTab(t)
	a.visitSale("full")
	a.ask(person(7), "Early")
	a.says(held)
	b.visitSale("full")
	b.ask(person(8), "Late")
	b.says(held)
	c := newTab(t)
	c.visitSale("full")
	c.ask(person(9), "Early")
	c.await("/Some are held and not paid: they may come back by|Every seat in Early is sold or held right now, and none is free in another level/.test(document.querySelector('#notice').innerText)")
	b.press("Give the seat back")
	b.insist("Yes, give it back", "This hold has ended")
	c.says("Seats have come back: Late")
	c.press("Choose Late")
	c.click("#book")
	c.says(held)
	for _, p := range []*tab{a, c} {
		p.press("Pay now")
		p.click("button[value=pay]")
		p.says("Booked: your seat is paid")
	}
	last := newTab(t)
	last.visitSale("full")
	last.says("Sold out: every seat is paid.") // not: some may come back
	last.says("Early – sold out – ")
}

// TestHoldLost: at the deadline the page says so, and then what became of it.
func TestHoldLost(t *testing.T) {
	t.Parallel()
	p := newTab(t)
	p.visitSale("short")
	p.records("#result")
	p.ask(person(10), "Early")
	p.says("This hold has ended")
	const over = "The time to pay is over"
	for _, text := range []string{held, over} {
		if !js[bool](p, showed("#result", text)+".length > 0") {
			t.Errorf("the page never said: %s", text)
		}
	}
	if js[bool](p, showed("#result", over)+".some(s => s.includes('Pay now'))") {
		t.Error("the page still offers to pay")
	}
	id := p.bookingID()
	inUse(t, "short", 0)
	p.await("document.querySelector('#form').checkVisibility()")
	p.click("#book")
	p.await(showed("#result", held) + fmt.Sprintf(".some(s => !s.includes(%q))", id)) // a new attempt, another booking
	insist(t, func() error {
		out, err := town.desk.ReleaseHold(t.Context(), p.bookingID(), me)
		if err == nil && out != lifecycle.Released && out != lifecycle.AlreadyReleased {
			err = fmt.Errorf("%v", out)
		}
		return err
	})
}

// TestGerman: the browser's language decides.
func TestGerman(t *testing.T) {
	t.Parallel()
	p := newTab(t)
	p.before(`Object.defineProperty(navigator, "languages", { get: () => ["fr-FR", "de-AT", "en"] })`)
	p.visitSale("german")
	p.says("Platz reservieren")
	p.ask(person(11), "Late")
	p.says("Für Sie reserviert, noch nicht gebucht")
	if lang := js[string](p, "document.documentElement.lang"); lang != "de" {
		t.Errorf("lang %q", lang)
	}
}

// inUse waits for the number of seats that Redis counts in use.
func inUse(t *testing.T, id string, want int) {
	t.Helper()
	insist(t, func() error {
		v, err := town.desk.View(t.Context(), id)
		if err == nil && v.Total.Held+v.Total.Paid != want {
			err = fmt.Errorf("sale %s: %+v, want %d in use", id, v.Total, want)
		}
		return err
	})
}
