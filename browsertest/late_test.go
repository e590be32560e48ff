package browsertest

import "testing"

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
	inUse(t, "late", 0)
	crowd(t, "late", "Late", 32) // pays at once
	inUse(t, "late", 1)

	again.says("Booked: your seat is paid")
	if again.bookingID() == first {
		t.Error("a booking that had ended is paid")
	}
	refunded.says("Your payment was refunded")
	refunded.look("refunded")
	inUse(t, "late", 2)
}

// payLate books and leaves the payment page so that the bank tells of the payment
// 20 seconds after the hold's end; it returns the booking.
func (p *tab) payLate(who int, level string) string {
	p.Helper()
	p.ask(person(who), level)
	p.says(held)
	id := p.bookingID()
	p.press("Pay now")
	p.says("Sandbox gateway")
	p.fill("#after", "20")
	p.click("button[value=late]")
	p.says("We are asking the payment service")
	return id
}
