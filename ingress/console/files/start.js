"use strict";
// Which sale is shown stands in the address, so that a reload shows it again.

(async () => {
  const { at } = desk, choice = at("sale");
  at("zone").textContent = "Times are those of this device (" + Intl.DateTimeFormat().resolvedOptions().timeZone + ").";
  const show = (id) => {
    desk.sale = id;
    choice.value = id;
    at("export").href = desk.path("export.csv");
    at("paper").href = desk.path("report.html");
    at("paper-file").href = desk.path("report.html?download");
    for (const box of ["report", "found", "import", "holds", "inbox"]) at(box).hidden = true;
    desk.live.follow();
    desk.changed();
  };
  try {
    const { sales } = await desk.ask("GET", "/admin/sales");
    choice.replaceChildren(...sales.map((id) => new Option(id, id)));
    const wished = decodeURIComponent(location.hash.slice(1));
    if (sales.length) show(sales.includes(wished) ? wished : sales[0]);
    else desk.say("There is no sale yet: apply a sale file with holdfast sale apply.");
  } catch (e) { desk.say(e.message); }
  choice.addEventListener("change", () => { history.replaceState(null, "", "#" + choice.value); show(choice.value); });
})();
