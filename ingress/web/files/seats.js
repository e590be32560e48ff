"use strict";
// Choosing named seats: on the picture, in the list, or by asking for neighbours.

holdfast.seats = (sale, most, say) => {
  const t = holdfast.t.bind(holdfast), { el } = holdfast, at = (id) => document.getElementById(id);
  const box = at("seatbox"), chosen = new Set();
  let level = "", frozen = false, own = new Set(); // own: kept for this candidate, so not taken by others

  // taken: somebody was faster under one's finger.
  const hall = holdfast.hall(sale, (hit) => {
    const lost = frozen ? [] : hit.filter((s) => s.state !== "free" && !own.has(s.name) && chosen.delete(s.name)).map((s) => s.name);
    if (lost.length) { say(t("seat_lost", { seats: lost.join(", ") })); summary(); }
    map.draw();
    if (hit.some((s) => s.section === at("section").value && s.row === at("row").value)) list();
  });
  const choose = (name) => {
    const seat = hall.seat(name);
    if (chosen.has(name)) chosen.delete(name);
    else if (seat.state !== "free" && !own.has(name)) return say(t("seat_taken_one", { seats: name }));
    else if (chosen.size === most) return say(t("seats_most", { n: most }));
    else chosen.add(name);
    summary();
    list();
    map.draw();
  };
  const map = holdfast.seatmap(at("hall"), hall, chosen, choose);

  const amount = (list) => holdfast.money({ amount_minor: list.reduce((sum, s) => sum + s.price.amount_minor, 0), currency: list[0].price.currency });
  const summary = () => {
    const list = [...chosen].map((name) => hall.seat(name));
    at("chosen").textContent = list.length ? t("chosen", { seats: list.map((s) => s.name).join(", "), price: amount(list) }) : t("chosen_none");
  };

  const options = (select, values) => {
    const was = select.value;
    select.replaceChildren(...values.map((v) => new Option(v, v)));
    if (values.includes(was)) select.value = was;
  };
  const rowsOf = () => hall.sections.find((s) => s.section === at("section").value);
  const list = () => {
    const rows = rowsOf();
    options(at("row"), rows.rows.map((r) => r.row));
    const names = rows.rows.find((r) => r.row === at("row").value).runs.flat(), shown = () => [...at("seatlist").querySelectorAll("input")];
    // The boxes of a row stay while its seats change: one that is drawn anew is lost
    // under the finger that presses it.
    if (names.join() !== shown().map((check) => check.dataset.seat).join()) at("seatlist").replaceChildren(...names.map(seatBox));
    for (const check of shown()) {
      const name = check.dataset.seat, seat = hall.seat(name);
      check.checked = chosen.has(name);
      check.disabled = seat.state !== "free" && !own.has(name) && !check.checked;
      check.nextSibling.textContent = name + (seat.accessible ? " ♿" : "") + (check.disabled ? " – " + t("taken") : "");
    }
  };
  const seatBox = (name) => {
    const label = el("label", undefined, "seat"), check = el("input");
    check.type = "checkbox";
    check.dataset.seat = name;
    check.addEventListener("change", () => { choose(name); check.checked = chosen.has(name); });
    label.append(check, el("span"));
    return label;
  };
  for (const id of ["section", "row"]) at(id).addEventListener("change", list);
  at("bigger").addEventListener("click", () => map.bigger());
  at("smaller").addEventListener("click", () => map.smaller());
  at("together").addEventListener("click", () => {
    const n = Math.max(1, Math.min(most, Number(at("many").value) || 1)), found = hall.together(n);
    if (!found) return say(t("none_together", { n }));
    chosen.clear();
    found.forEach((name) => chosen.add(name));
    at("section").value = hall.seat(found[0]).section;
    options(at("row"), rowsOf().rows.map((r) => r.row));
    at("row").value = hall.seat(found[0]).row;
    say("");
    summary();
    list();
    map.draw();
  });

  return {
    map, hall, // for who measures
    async show(name) {
      level = name;
      chosen.clear();
      for (const seat of own) chosen.add(seat);
      box.hidden = !name;
      if (!name) return hall.stop();
      if (!(await hall.load(name))) { setTimeout(() => { if (level === name) this.show(name); }, holdfast.between(1, 3)); return; }
      options(at("section"), hall.sections.map((s) => s.section));
      list();
      summary();
      map.fit();
    },
    // keep says which seats are kept for this candidate; they are the choice.
    keep(list) { own = new Set(list); if (list.length) { chosen.clear(); list.forEach((s) => chosen.add(s)); } },
    redraw() { if (level && hall.sections) { summary(); list(); map.fit(); } },
    // freeze: while these seats are asked for, they become one's own.
    freeze(on) { frozen = on; },
    // lost says kindly what is gone and what is near it.
    lost(taken, nearby, more = "") {
      for (const name of taken) if (!own.has(name)) chosen.delete(name);
      summary();
      list();
      map.draw();
      const near = (nearby || []).filter((n) => hall.seat(n)).slice(0, 6);
      say(t("seat_lost", { seats: taken.join(", ") }) + (more && " " + more) + (near.length ? " " + t("nearby") : ""), ...near.map((n) => holdfast.button(n, () => choose(n))));
    },
    get chosen() { return [...chosen]; },
    get active() { return level !== ""; },
  };
};
