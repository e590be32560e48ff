package browsertest

import (
	"testing"
	"time"
)

// TestCandidatePagesLookRight checks every page that a candidate sees.
func TestCandidatePagesLookRight(t *testing.T) {
	t.Parallel()
	soon := time.Now().Add(26 * time.Hour).Truncate(time.Second)
	insist(t, func() error { return town.desk.SetTimes(t.Context(), "wait", soon, time.Time{}, me) })
	p := newTab(t)
	p.visit(town.public + "/sales/wait")
	p.await("document.body.dataset.phase === 'before'")
	p.look("countdown")

	p.visitSale("look")
	p.look("open")
	wrong := person(14)
	wrong.Email = "somebody@example.org"
	p.ask(wrong, "Early")
	p.says("This e-mail does not belong to the code")
	p.look("refused")
	town.proxy.of("look", func(f *faults) { f.busy["book"] = many })
	p.fill("#email", string(person(14).Email))
	p.click("#book")
	p.says("We are very busy")
	p.look("busy")
	town.proxy.of("look", func(f *faults) { f.busy["book"] = 0 })
	p.says(held)
	p.look("held")
	p.press("Give the seat back")
	p.says("Give this seat back?")
	p.look("give-back")
	p.press("Keep it")
	p.press("Pay now")
	p.says("Sandbox gateway")
	p.look("pay")
	p.click("button[value=pay]")
	p.says("Booked: your seat is paid")
	p.look("paid")
	p.visit(town.public + "/payments/page/return")
	p.says("No booking is known here")
	p.look("unknown")
}

// TestFullLooksRight is the page when nothing is free.
func TestFullLooksRight(t *testing.T) {
	t.Parallel()
	a, p := newTab(t), newTab(t)
	a.visitSale("tiny")
	a.ask(person(15), "Early")
	a.says(held)
	b := newTab(t)
	b.visitSale("tiny")
	b.ask(person(16), "Late")
	b.says(held)
	p.visitSale("tiny")
	p.says("No seat is free at the moment")
	p.look("sold-out")
	a.press("Give the seat back")
	a.insist("Yes, give it back", "This hold has ended")
	a.look("released")
}

// TestConsoleLooksRight checks what an operator sees.
func TestConsoleLooksRight(t *testing.T) {
	t.Parallel()
	p := newTab(t)
	p.visit(town.operator + "/console/login")
	p.look("console-login")
	p.console("desk")
	p.records("#outcomes")
	c := newTab(t)
	c.visitSale("desk")
	c.ask(person(17), "Early")
	c.says(held)
	crowd(t, "desk", "Early", 20, 21, 22, 23, 24, 25, 26, 27)
	p.number(cell("Early", 3), 4)
	crowd(t, "desk", "Late", 0, 1, 2)
	p.number(cell("Late", 3), 2)
	p.await("document.querySelector('#chart canvas') && document.querySelectorAll('#trail tbody tr').length > 2")
	p.number(cell("All levels", 4), 0) // pending
	p.refresh("#holds-load", "document.querySelectorAll('#holds tbody tr').length >= 6")
	p.await(showed("#outcomes", "created") + ".length") // of the ingress, by way of the ledger; for as long as the rate is of the last readings
	p.hasTiles("Sale", "Requests / s", "Answers 503 / s", "Admission p99", "Queue", "Oldest message", "Oldest pending", "Oldest hold", "Holds over", "Redis", "Replica lag", "Last sweep", "Last comparison", "Drift")
	p.charts("Late")
	p.charts("")
	p.refresh("#inbox-load", "document.querySelector('#inbox-note').textContent === 'Nothing is parked.'")
	p.fill("#find-code", string(person(17).Code))
	p.refresh("#find button", "document.querySelector('#found').textContent.includes('On the roster')")
	p.audits()
	p.look("console")
	p.reportOnDesk("desk")
	p.click("#close")
	p.await("document.querySelector('#ask').open")
	p.violations("the dialog")
}
