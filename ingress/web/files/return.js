"use strict";
// After the payment page: ask for the truth until it is final. Each answer
// comes a little later than the one before, with jitter, so that a crowd of
// open pages is no load.

(() => {
  const result = document.getElementById("result");
  let { booking, sale } = document.body.dataset;
  if (!booking) {
    result.replaceChildren(holdfast.el("p", "Go back to the booking page: it shows your booking as it is now."));
    return;
  }
  let pause = 1000;
  const ask = async () => {
    const b = await holdfast.get(booking, sale);
    if (b && b.successor) { booking = b.successor; return ask(); }
    if (b && !b.missing) holdfast.show(result, b);
    if (b && b.missing && pause > 8000) {
      result.replaceChildren(holdfast.el("p", "There is no such booking."));
      return;
    }
    if (b && (b.state === "paid" || b.state === "refunded")) return;
    setTimeout(ask, pause + Math.random() * 500);
    pause = Math.min(pause * 1.3, 15000);
  };
  ask();
})();
