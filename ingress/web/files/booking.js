"use strict";
// The booking page: the countdown, the form, and what becomes of an attempt.

(() => {
  const t = holdfast.t.bind(holdfast), { el } = holdfast;
  const { sale, zone, hold } = document.body.dataset;
  const at = (id) => document.getElementById(id);
  const form = at("form"), book = at("book"), notice = at("notice"), level = at("level");
  const times = { opens: Number(document.body.dataset.opens), closes: Number(document.body.dataset.closes) };
  let status = null, fails = 0, timer = 0, busy = false, full = "", changing = false;
  holdfast.translate();

  // say speaks to people and to screen readers; quietly is for a screen only.
  const say = (text, ...more) => { notice.hidden = !text; notice.replaceChildren(el("p", text), ...more); };

  const phase = () => {
    const now = holdfast.clock.now();
    if (!holdfast.clock.known) return "loading";
    if (now >= times.closes) return "closed";
    if (now < times.opens) return "before";
    // What was read before the opening can't tell whether the sale is switched on.
    return status && Date.parse(status.now) >= times.opens && !status.open ? "paused" : "open";
  };

  // A holder whom this device forgot finds the booking by trying, so that a full
  // sale does not close the form.
  const tick = () => {
    const p = phase();
    document.body.dataset.phase = p;
    at("countdown").textContent = p === "before" ? holdfast.left(times.opens - holdfast.clock.now()) : t("phase_" + p);
    at("until").textContent = p === "before" ? t("opens_in") : "";
    at("hint").textContent = p === "before" ? t("phase_before") : "";
    book.disabled = busy || p !== "open";
    if (p !== at("phase").dataset.said) {
      if (at("phase").dataset.said) at("phase").textContent = t("phase_" + p);
      at("phase").dataset.said = p;
    }
    if (holdfast.clock.known && holdfast.clock.slept() && !document.hidden && !asking) poll();
  };

  const showTimes = () => {
    at("opens").textContent = t("opens", { time: holdfast.clockTime(times.opens, zone, true) });
    at("closes").textContent = t("closes", { time: holdfast.clockTime(times.closes, zone, true) });
    at("zone").textContent = t("zone", { zone });
  };

  let asking = false;
  const poll = async () => {
    clearTimeout(timer);
    asking = true;
    const r = await holdfast.fetch("/sales/" + sale + "/status.json");
    asking = false;
    fails = r && r.ok ? 0 : fails + 1;
    if (r && r.ok) learn(r.doc);
    tick();
    timer = setTimeout(poll, next() * (document.hidden ? 4 : 1));
  };

  // next says when to ask again. Just after the opening everybody wants to know
  // whether the sale is open: the pages spread that over three seconds, and need
  // no answer to open the form.
  const next = () => {
    const left = times.opens - holdfast.clock.now();
    if (fails) return holdfast.between(1, 2) * Math.min(16, 2 ** (fails - 1));
    if (phase() === "before") return left < 20000 ? left + holdfast.between(0, 3) : Math.min(left / 2, holdfast.between(30, 60));
    return phase() === "closed" || view.id ? holdfast.between(40, 80) : holdfast.between(4, 8);
  };

  const price = ({ amount, currency }) => holdfast.money({ amount_minor: Number(amount), currency });
  const learn = (doc) => {
    status = doc;
    times.opens = Date.parse(doc.opens_at);
    times.closes = Date.parse(doc.closes_at);
    showTimes();
    for (const l of doc.levels) {
      const option = [...level.options].find((o) => o.value === l.level);
      if (!option) continue;
      option.textContent = option.value + (l.state === "available" ? "" : " – " + t("state_" + l.state)) + (option.dataset.seated ? "" : " – " + price(option.dataset));
    }
    const none = doc.levels.length > 0 && doc.levels.every((l) => l.state !== "available");
    if (full && !none) say(t("seats_back", { levels: free().join(", ") }), ...choices());
    if (none && !busy && !view.id && !choice?.id && phase() === "open" && full !== fullness()) sayFull("sold_out");
    full = none ? fullness() : "";
  };
  // fullness: sold_out is final but for refunds; held says that seats may return.
  const fullness = () => (status && status.levels.length && status.levels.every((l) => l.state === "sold_out") ? "sold_out" : "held");

  const free = () => (status ? status.levels.filter((l) => l.state === "available" && [...level.options].some((o) => o.value === l.level)).map((l) => l.level) : []);
  const choices = () => free().map((name) => holdfast.button(t("choose", { level: name }), () => { level.value = name; showLevel(); say(""); book.focus(); }));

  // sayFull: unpaid holds come back, and the last of those that exist now does
  // so within one hold.
  const sayFull = (code) => {
    const by = holdfast.clockTime(holdfast.clock.now() + Number(hold), zone);
    const state = status?.levels.find((l) => l.level === level.value)?.state;
    if (code === "level_full" && free().length) return say(t(state === "sold_out" ? "level_sold_out" : "level_full", { level: level.value, by }), ...choices());
    full = fullness();
    say(t(full === "sold_out" ? "sold_out" : code === "level_full" ? "level_full_only" : "all_held", { by, level: level.value }));
  };

  const wrong = { invalid_code: "code", email_mismatch: "email", level_not_allowed: "level", seats: "seats" };
  const clear = () => {
    for (const name of ["code", "email", "level", "seats"]) {
      const field = at(name);
      if (!field) continue;
      field.removeAttribute("aria-invalid");
      at(name + "-error").textContent = "";
    }
  };
  const blame = (name, text) => {
    at(name).setAttribute("aria-invalid", "true");
    at(name + "-error").textContent = text;
    at(name).focus();
  };

  // A level with named seats has its chooser in place of a number.
  const seats = at("seatbox") && holdfast.seats(sale, Number(document.body.dataset.most), say);
  const showLevel = () => {
    if (!seats) return;
    const seated = level.selectedOptions[0]?.dataset.seated === "true";
    if (at("counted")) at("counted").hidden = seated;
    seats.show(seated ? level.value : "");
    label();
  };
  const label = () => { book.textContent = t(changing ? "change_seats" : seats?.active ? "hold_seats" : "book"); };
  level.addEventListener("change", showLevel);

  const refused = (p) => {
    say("");
    if (p.code === "seat_taken" && seats) return p.taken || p.seat ? seats.lost(p.taken || [p.seat], p.nearby) : say(t("none_together", { n: p.numbers?.wanted || 1 }));
    if (p.code === "hold_gone" && choice) return choice.lost();
    if (wrong[p.code]) return blame(wrong[p.code], t(p.code));
    if (p.code === "level_full" || p.code === "sold_out") { sayFull(p.code); return poll(); }
    if (p.code === "closed") { say(t(p.opens_at && Date.parse(p.opens_at) > holdfast.clock.now() ? "closed_yet" : "closed")); return poll(); }
    if (p.code === "duplicate") return say(t("duplicate"));
    for (const f of p.fields || []) if (at(f.field + "-error")) return blame(f.field, t("field_" + f.field));
    say(t("refused", { code: p.code || "?" }));
  };

  const view = holdfast.view(at("result"), sale, zone, {
    say,
    changed(b) {
      if (choice?.id) { choice.end(); seats.keep([]); }
      if (changing) change(false);
      form.hidden = b.state === "held" || b.state === "paid" || b.state === "refund_due";
      if (b.state === "held" || b.state === "paid") say("");
      if (b.state === "released" || b.state === "refunded") attempts.forget(); else attempts.keep(b.booking_id);
    },
    missing() { attempts.forget(); view.forget(); form.hidden = false; },
  });

  // change shows the map for other seats than those that are kept.
  const change = (on) => {
    changing = on;
    form.hidden = on ? false : !!choice?.id;
    at("who").hidden = on;
    if (at("back")) at("back").hidden = !on;
    if (seats) label();
  };
  const choice = seats && holdfast.choice(at("choice"), sale, zone, {
    say,
    busy: () => busy,
    book(wish) { attempts.start(wish); },
    kept(hold) { seats.keep(hold.seats); if (level.value !== hold.level) { level.value = hold.level; showLevel(); } change(false); say(""); },
    change() { choice.hide(); change(true); seats.redraw(); at("section").focus(); },
    taken(p, more) { seats.lost(p.taken || [], p.nearby, more); },
    gone(_, text) { seats.keep([]); change(false); seats.redraw(); say(text); at("section").focus(); },
    left() { seats.keep([]); change(false); seats.redraw(); },
  });
  at("back")?.addEventListener("click", () => { change(false); say(""); choice.back(); });

  const attempts = holdfast.attempts(sale, {
    running(on) { busy = on; seats?.freeze(on); form.classList.toggle("busy", on); if (on) say(t("sending")); tick(); },
    waiting(r, n, seconds) {
      const why = !r ? "why_network" : r.doc.code === "in_progress" ? "why_progress" : r.status === 429 ? "why_limited" : "why_busy";
      if (notice.dataset.try !== why + n) {
        notice.dataset.try = why + n;
        const wait = el("p", "", "wait");
        wait.setAttribute("aria-live", "off");
        say(t(why) + " " + t("not_lost"), wait, holdfast.button(t("stop"), () => attempts.stop()));
      }
      notice.querySelector(".wait").textContent = t("next_try", { n: n + 1, seconds });
    },
    stopped() { say(t("stopped")); },
    kept(doc, who) { say(""); choice.start(doc, who); },
    booking(b) { say(""); if (b.state === "choosing") return say(t("duplicate_choice")); if (b.payment_url || b.state !== "held") view.show(b); else view.watch(b.booking_id); },
    refused,
    elsewhere(id) { if (view.id !== id) { say(""); view.watch(id); } },
  });

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (book.disabled) return;
    clear();
    const wish = Object.fromEntries(new FormData(form));
    if (wish.seats) wish.seats = Number(wish.seats);
    if (!seats || !seats.active) return attempts.start(wish);
    const names = seats.chosen;
    if (!names.length) return say(t("chosen_none"));
    if (changing) return choice.change(names);
    attempts.start(choice.wish({ code: wish.code, email: wish.email, website: wish.website }, level.value, names, Number(document.body.dataset.soft)), "holds");
  });
  document.addEventListener("visibilitychange", () => { if (!document.hidden) poll(); });
  addEventListener("pageshow", (e) => { if (e.persisted) poll(); });

  showTimes();
  showLevel();
  tick();
  setInterval(tick, 250);
  poll();
  const known = attempts.resume();
  choice?.resume();
  for (const [name, value] of Object.entries(attempts.wish() || {})) if (form.elements[name] && name !== "website" && !Array.isArray(value)) form.elements[name].value = value;
  if (known) view.watch(known);
})();
