"use strict";
// A booking as its owner sees it, kept true until it has come to its end.
// "Held" is never called booked: only the ledger's "paid" is.

holdfast.view = (section, sale, zone, hooks = {}) => {
  const { el, t } = { el: holdfast.el, t: holdfast.t.bind(holdfast) };
  let booking = null; // the last answer
  let shown = "";     // what is drawn, so that asking again announces nothing new
  let timer = 0, pause = 0, asks = 0;

  const until = (b) => Date.parse(b.hold_until);
  const over = (b) => b.state === "held" && b.hold_until && until(b) <= holdfast.clock.now();
  const good = { held: "good", paid: "good" };

  const row = (list, name, value) => { if (value) list.append(el("dt", t(name)), el("dd", value)); };

  const draw = (b) => {
    const state = over(b) ? "over" : b.state;
    const now = [b.booking_id, state, b.payment_url, b.hold_until].join(" ");
    if (now === shown) return;
    const first = shown === "";
    shown = now;
    section.hidden = false;
    section.className = "result " + (good[state] || "bad");
    const head = el("h2", t("head_" + state));
    head.tabIndex = -1;
    const list = el("dl");
    row(list, "booking", b.booking_id);
    row(list, "level", b.level);
    row(list, "seats", (b.seats || []).join(", "));
    section.replaceChildren(head, el("p", t("say_" + state)), list);
    if (state === "held") drawHold(b, list);
    if (hooks.more) hooks.more(section, { ...b, state });
    if (first && hooks.focus !== false) head.focus({ preventScroll: false });
  };

  const drawHold = (b, list) => {
    const time = el("span", holdfast.left(until(b) - holdfast.clock.now()), "timer"), box = el("dd");
    time.setAttribute("role", "timer");
    box.append(time);
    list.append(el("dt", t("time_left")), box);
    section.append(el("p", t("say_hold_end", { time: holdfast.clockTime(until(b), zone) })));
    if (/^https?:\/\//.test(b.payment_url || "")) {
      const pay = el("a", t("pay"), "button");
      pay.href = b.payment_url;
      section.append(pay);
    }
    section.append(giveBack(b));
    const ring = () => {
      if (!time.isConnected) return;
      const left = until(b) - holdfast.clock.now();
      time.textContent = holdfast.left(left);
      if (left <= 0) { draw(b); return soon(1, 2.5); }
      if (left < 61000 && left >= 60000) hooks.say?.(t("one_minute"));
      setTimeout(ring, 1000 - (holdfast.clock.now() % 1000));
    };
    ring();
  };

  // giveBack asks once more before it gives a seat away.
  const giveBack = (b) => {
    const box = el("div");
    const ask = holdfast.button(t("give_back"), () => {
      const sure = holdfast.button(t("give_back_sure"), async () => {
        sure.disabled = true;
        const r = await holdfast.fetch(path(b.booking_id), { method: "DELETE" });
        if (r && r.ok) show(r.doc);
        else { hooks.say?.(t(r && r.doc.code === "already_paid" ? "already_paid" : "give_back_failed")); check(); sure.disabled = false; }
      });
      box.replaceChildren(el("p", t("give_back_ask")), sure, holdfast.button(t("keep"), () => { box.replaceChildren(ask); ask.focus(); }));
      sure.focus();
    });
    box.append(ask);
    return box;
  };

  const path = (id) => "/bookings/" + encodeURIComponent(id) + "?sale=" + encodeURIComponent(sale);

  // show draws a booking and plans when to ask again.
  const show = (b) => {
    const news = !booking || booking.booking_id !== b.booking_id || booking.state !== b.state;
    booking = b;
    if (news) pause = asks = 0;
    draw(b);
    if (news) hooks.changed?.(b);
    plan();
  };

  // plan: quick where an answer is near, slower with each one that was not, and
  // never in step with other pages.
  const plan = () => {
    const b = booking;
    if (b.state === "paid" || b.state === "refunded") return;
    if (b.state === "released" && ++asks > (hooks.returned ? 8 : 0)) return; // a late payment may still come
    const most = b.state === "held" && !over(b) && !hooks.returned ? 20 : 15;
    pause = Math.min(most, pause ? pause * 1.5 : hooks.returned || over(b) ? 1 : 6);
    soon(pause, pause * 1.4);
  };

  const soon = (low, high) => {
    clearTimeout(timer);
    timer = setTimeout(check, holdfast.between(low, high) * (document.hidden ? 3 : 1));
  };

  const check = async () => {
    const r = await holdfast.fetch(path(booking.booking_id));
    if (r && r.ok && r.doc.successor) { // a late payment got another seat: what is true is said there
      booking = { booking_id: r.doc.successor, state: "" };
      return check();
    }
    if (r && r.ok) return show(r.doc);
    if (r && r.status === 404 && ++asks > 5) return hooks.missing?.();
    pause = Math.max(2, r ? r.after : 0, pause);
    plan();
  };

  // Back from the payment page, or from sleep: what is true now?
  const back = () => { if (booking && !document.hidden) soon(0.1, 0.6); };
  addEventListener("pageshow", (e) => { if (e.persisted) back(); });
  addEventListener("online", back);
  document.addEventListener("visibilitychange", back);

  return {
    show,
    watch(id) { booking = { booking_id: id, state: "" }; check(); },
    forget() { clearTimeout(timer); booking = null; shown = ""; section.hidden = true; section.replaceChildren(); },
    get id() { return booking && booking.booking_id; },
  };
};
