"use strict";
// Named seats that are kept for somebody who decides: a soft hold. Its deadline is
// counted by the sale's clock; when it has passed, the page says so before any
// payment. The hold's id is a secret and, with code and e-mail, kept in this
// browser only for as long as the hold lives.

holdfast.choice = (section, sale, zone, hooks) => {
  const { el } = holdfast, t = holdfast.t.bind(holdfast), store = "holdfast:" + sale + ":choice";
  const span = 300; // seconds: what is asked for at once; there may be more time
  const near = 2000; // ms: so well do the clocks of two tabs and the server agree
  let hold = null, memory = null, timer = 0, warned = "";

  const load = () => { try { return JSON.parse(localStorage.getItem(store)); } catch { return memory; } };
  const save = (v) => { memory = v; try { if (v) localStorage.setItem(store, JSON.stringify(v)); else localStorage.removeItem(store); } catch { /* see memory */ } };
  const until = () => Date.parse(hold.hold_until);
  const left = () => until() - holdfast.clock.now();
  const path = () => "/holds/" + encodeURIComponent(hold.hold_id) + "?sale=" + encodeURIComponent(sale);
  const list = (seats) => seats.join(", ");

  const draw = (focus) => {
    section.hidden = false;
    const head = el("h2", t("head_choice")), dl = el("dl"), time = el("span", holdfast.left(left()), "timer");
    head.tabIndex = -1;
    time.setAttribute("role", "timer");
    const box = el("dd");
    box.append(time);
    dl.append(el("dt", t("seats")), el("dd", list(hold.seats)), el("dt", t("price")), el("dd", holdfast.money(hold.price)), el("dt", t("time_choice")), box);
    const book = holdfast.button(t("book_choice"), () => hooks.book({ code: hold.code, email: hold.email, hold_id: hold.hold_id }));
    book.className = "main";
    const pair = el("div", undefined, "pair even");
    pair.append(holdfast.button(t("other_seats"), () => hooks.change(hold)), holdfast.button(t("let_go"), letGo));
    section.replaceChildren(head, el("p", t("say_choice", { time: holdfast.clockTime(until(), zone) })), dl, book, pair);
    if (Date.parse(hold.max_until) - until() > 15000) section.append(holdfast.button(t("more_time"), more));
    if (focus) head.focus();
    clearTimeout(timer);
    const ring = () => {
      if (!hold || !time.isConnected) return;
      time.textContent = holdfast.left(left());
      if (left() <= 0) return over();
      if (left() < 61000 && warned !== hold.hold_until) { warned = hold.hold_until; hooks.say(t("one_minute_choice")); }
      timer = setTimeout(ring, 1000 - (holdfast.clock.now() % 1000));
    };
    ring();
  };

  const show = (doc, focus) => {
    hold = { ...hold, ...doc };
    save(hold);
    hooks.kept(hold);
    draw(focus);
  };
  const clear = () => {
    clearTimeout(timer);
    hold = null;
    save(null);
    section.hidden = true;
    section.replaceChildren();
  };

  // over: the deadline has passed, or the seats were chosen anew elsewhere.
  const over = () => {
    const text = t(left() < near ? "choice_gone" : "choice_elsewhere", { seats: list(hold.seats) }), seats = hold.seats;
    clear();
    hooks.gone(seats, text);
  };
  const gone = (r) => r && (r.doc.code === "hold_gone" || r.status === 404);
  const failed = () => hooks.say(t("give_back_failed"));

  const patch = (body) => holdfast.fetch(path(), { method: "PATCH", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
  const more = async () => {
    const r = await patch({ seconds: Math.max(1, Math.min(span, Math.floor((Date.parse(hold.max_until) - holdfast.clock.now()) / 1000))) });
    if (!hold) return;
    if (r && r.ok) { show(r.doc, true); hooks.say(t("time_more", { time: holdfast.clockTime(until(), zone) })); } else if (gone(r)) over(); else failed();
  };
  const letGo = async () => {
    const r = await holdfast.fetch(path(), { method: "DELETE" });
    if (!hold) return;
    if (r && (r.ok || r.status === 404)) { const seats = hold.seats; clear(); hooks.gone(seats, ""); } else failed();
  };

  // check asks whether a hold that this browser remembers still lives.
  const check = async (focus) => {
    const asked = hold.hold_id, r = await holdfast.fetch(path());
    if (!hold || hold.hold_id !== asked) return;
    if (r && r.ok) return show(r.doc, focus);
    if (gone(r) && !hooks.busy()) return over();
    if (section.hidden) setTimeout(() => hold && check(focus), holdfast.between(1, 3)); // no answer: nothing can be shown yet
  };

  addEventListener("storage", (e) => {
    if (e.key !== store) return;
    const other = load();
    if (other && (!hold || other.hold_id !== hold.hold_id || other.hold_until !== hold.hold_until)) { hold = other; check(false); }
    if (!other && hold) { if (left() < near) over(); else { clear(); hooks.left(); } }
  });
  const back = () => { if (hold && !document.hidden) check(false); };
  addEventListener("pageshow", (e) => { if (e.persisted) back(); });
  document.addEventListener("visibilitychange", back);

  return {
    // wish is what asks for a hold.
    wish: (who, level, seats, most) => ({ ...who, level, seats, seconds: Math.max(1, Math.min(span, Math.floor(most / 1000))) }),
    start(doc, who) { hold = { code: who.code, email: who.email }; show(doc, true); },
    resume() { hold = load(); if (hold) check(true); return !!hold; },
    // change takes other seats in one step: those in common are never let go.
    async change(seats) {
      const r = await patch({ seats });
      if (!hold) return;
      if (r && r.ok) { show(r.doc, true); hooks.say(t("changed", { seats: list(hold.seats) })); } else if (gone(r)) over(); else if (r && r.doc.code === "seat_taken") hooks.taken(r.doc, t("choice_kept", { seats: list(hold.seats) })); else failed();
    },
    back() { draw(true); },
    hide() { section.hidden = true; },
    // end: it is a booking now, or refused as one.
    end() { if (hold) { clear(); } },
    lost() { if (hold) over(); },
    get id() { return hold && hold.hold_id; },
  };
};
