"use strict";
// After the payment page. What its address says proves nothing: the page asks
// for the truth until it is final, each time a little later.

(() => {
  const result = document.getElementById("result"), { booking, sale } = document.body.dataset;
  holdfast.translate();
  const nothing = (key) => {
    const head = holdfast.el("h2", holdfast.t(key));
    result.replaceChildren(head, holdfast.el("p", holdfast.t("back_to_sale")));
  };
  if (!booking) return nothing("no_booking");
  const view = holdfast.view(result, sale, "", {
    returned: true,
    focus: false,
    say(text) { document.getElementById("notice").textContent = text; },
    more(section, b) { if (b.state === "held" || b.state === "over") section.append(holdfast.el("p", holdfast.t("still_asking"), "asking")); },
    missing() { nothing("no_booking"); },
  });
  view.watch(booking);
})();
