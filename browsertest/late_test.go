package browsertest

import (
	"fmt"
	"testing"
)

// TestPaidTooLate: the bank tells of a payment when its hold is over. The page
// after the payment asks until it knows what became of the money: a seat again if
// there is one, and a refund if somebody else has it.
func TestPaidTooLate(t *testing.T) {
	t.Parallel()
	again, refunded := newTab(t), newTab(t)
	again.visitSale("late")
	refunded.visitSale("late")
	first := again.payLate(30, "Early")
	refunded.payLate(31, "Late")
	insist(t, func() error {
		v, err := town.desk.View(t.Context(), "late")
		if err == nil && v.Levels[1].Free == 0 {
			err = fmt.Errorf("%+v is not free", v.Levels[1])
		}
		return err
	})
	crowd(t, "late", "Late", 32) // pays at once

	again.says("Booked: your seat is paid")
	if again.bookingID() == first {
		t.Error("a booking that had ended is paid")
	}
	refunded.says("Your payment was refunded")
	refunded.look("refunded")
	inUse(t, "late", 2)
}

// payLate books and leaves the payment page so that the bank tells of the payment
// 25 seconds after the hold's end; it returns the booking.
func (p *tab) payLate(who int, level string) string {
	p.Helper()
	p.ask(person(who), level)
	p.says(held)
	id := p.bookingID()
	p.press("Pay now")
	p.says("Sandbox gateway")
	p.fill("#after", "25") // the page asks for twice as long
	p.click("button[value=late]")
	p.says("We are asking the payment service")
	return id
}
