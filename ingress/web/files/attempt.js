"use strict";
// One attempt to book is one Idempotency-Key. Key and wish are kept until the
// attempt has its answer, so that a lost answer, a reload, a second tab or a
// browser that was closed repeats the attempt instead of making another one.
// With the answer the wish (code and e-mail) is forgotten; the booking's id stays.

holdfast.attempts = (sale, hooks) => {
  const store = "holdfast:" + sale;
  let memory = {}; // where storage is refused: this page only
  const load = () => { try { return JSON.parse(localStorage.getItem(store)) || {}; } catch { return memory; } };
  const save = (v) => { memory = v; try { localStorage.setItem(store, JSON.stringify(v)); } catch { /* see memory */ } };

  const newKey = () => [...crypto.getRandomValues(new Uint8Array(16))].map((b) => b.toString(16).padStart(2, "0")).join("");
  const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);
  let running = false, stopped = false, wake = () => {};

  // start makes an attempt, or goes on with the one that has the same wish. To is
  // "bookings", or "holds" for seats that are to be kept while somebody decides.
  const start = (wish, to = "bookings") => {
    const { attempt, booking } = load();
    if (!attempt || attempt.to !== to || !same(attempt.wish, wish)) save({ booking, attempt: { key: newKey(), wish, to } });
    return run();
  };

  const run = async () => {
    if (running) return;
    running = true;
    stopped = false;
    hooks.running(true);
    try {
      for (let n = 0; !stopped; n++) {
        const { attempt } = load();
        if (!attempt) return; // another tab has the answer, and told us
        const r = await holdfast.fetch("/sales/" + sale + "/" + attempt.to, { method: "POST", body: JSON.stringify(attempt.wish),
          headers: { "Content-Type": "application/json", "Idempotency-Key": attempt.key } });
        if (!again(r)) return end(r, attempt.wish);
        await pause(n, r);
      }
      hooks.stopped();
    } finally { running = false; hooks.running(false); }
  };

  // again: no answer, or one that says nothing about this wish.
  const again = (r) => {
    if (!r || r.status === 429 || r.doc.code === "in_progress") return true;
    if (r.doc.code === "idempotency_mismatch") { // the key is spent: a new one for the same wish
      const { attempt, booking } = load();
      save({ booking, attempt: { ...attempt, key: newKey() } });
      return true;
    }
    if (r.doc.code === "closed") {
      const opens = Date.parse(r.doc.opens_at || "");
      return Math.abs(opens - holdfast.clock.now()) < 3000; // a moment too early
    }
    return r.status >= 500;
  };

  // pause grows with each try, at least as long as the server asks for, and is
  // never the same for two pages. It ends early when the network comes back.
  const pause = async (n, r) => {
    const least = Math.max(r ? r.after : 0, Math.min(20, 0.7 * 1.6 ** n));
    const end = performance.now() + holdfast.between(least, least * 1.5);
    for (;;) {
      const left = end - performance.now();
      if (left <= 0 || stopped) return;
      hooks.waiting(r, n + 1, Math.ceil(left / 1000));
      const woken = await new Promise((done) => {
        wake = () => done(true);
        setTimeout(done, Math.min(left, 1000));
      });
      if (woken) return;
    }
  };

  const end = (r, wish) => { // the wish as it was sent: another tab may have its answer already
    if (r.ok && r.doc.hold_id) {
      save({ booking: load().booking });
      return hooks.kept(r.doc, wish);
    }
    const own = (r.ok || r.doc.code === "duplicate") && r.doc.booking_id ? r.doc : null;
    save({ booking: own ? own.booking_id : load().booking });
    if (own) hooks.booking(own); else hooks.refused(r.doc);
  };

  addEventListener("online", () => wake());
  addEventListener("storage", (e) => {
    if (e.key !== store) return;
    const { attempt, booking } = load();
    if (attempt && !running) run();
    if (booking && !attempt) { wake(); hooks.elsewhere(booking); }
  });

  return {
    start,
    stop() { stopped = true; wake(); },
    // resume goes on where a closed page left off; it returns the booking that is known.
    resume() { const { attempt, booking } = load(); if (attempt) run(); return booking; },
    wish() { return load().attempt?.wish; },
    get running() { return running; },
    keep(id) { save({ ...load(), booking: id }); },
    forget() { save({}); },
  };
};
