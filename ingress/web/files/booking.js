"use strict";
// The booking page. One attempt is one Idempotency-Key: it is kept until the
// attempt has an answer that ends it, so that a reload, a lost answer or an
// impatient second click repeats the attempt instead of making another one.

(() => {
  const { sale, opens, closes, now } = document.body.dataset;
  const form = document.getElementById("form");
  const button = document.getElementById("book");
  const result = document.getElementById("result");
  const store = "holdfast:" + sale;
  holdfast.learn(Number(now));

  const load = () => { try { return JSON.parse(localStorage.getItem(store)) || {}; } catch { return {}; } };
  const save = (v) => { try { localStorage.setItem(store, JSON.stringify(v)); } catch { /* private mode: this page only */ } };
  let state = load();

  // The key belongs to what is asked for; another wish is another key.
  const keyFor = (wish) => {
    if (!state.key || state.wish !== wish) {
      state = { key: crypto.randomUUID ? crypto.randomUUID() : String(Math.random()).slice(2) + Date.now(), wish };
      save(state);
    }
    return state.key;
  };

  const digest = async (text) => {
    if (!crypto.subtle) return text.length + ":" + [...text].reduce((h, c) => (h * 31 + c.charCodeAt(0)) >>> 0, 7);
    const sum = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
    return [...new Uint8Array(sum)].slice(0, 8).map((b) => b.toString(16).padStart(2, "0")).join("");
  };

  const wait = (seconds) => new Promise((done) => setTimeout(done, seconds * 1000));

  const giveBack = (section, b) => {
    if (b.state !== "held") return;
    const back = holdfast.el("button", "Give the seat back", "quiet");
    back.type = "button";
    back.addEventListener("click", async () => {
      back.disabled = true;
      const r = await fetch("/bookings/" + encodeURIComponent(b.booking_id) + "?sale=" + sale, { method: "DELETE" }).catch(() => null);
      const doc = r ? await holdfast.json(r) : {};
      if (r && r.ok) { state = {}; save(state); holdfast.show(section, doc); } else { holdfast.problem(section, doc); }
    });
    section.append(back);
  };

  const show = (b) => {
    // What has ended makes room for a new attempt under a new key.
    if (b.state === "released" || b.state === "refunded") state = {};
    else if (b.booking_id) state.booking = b.booking_id;
    save(state);
    holdfast.show(result, b, giveBack);
  };

  // send makes the attempt, and repeats it under the same key while it is told
  // that the attempt is under way or not possible just now.
  const send = async (body, key) => {
    for (let tries = 0; tries < 6; tries++) {
      let r;
      try {
        r = await fetch("/sales/" + sale + "/bookings", { method: "POST", body: JSON.stringify(body),
          headers: { "Content-Type": "application/json", "Idempotency-Key": key } });
      } catch { await wait(1 + tries); continue; }
      const doc = await holdfast.json(r);
      if (r.ok) return show(doc);
      if (doc.code === "duplicate" && doc.booking_id) return show(doc);
      if (doc.code === "in_progress" || doc.code === "unavailable") {
        result.hidden = false;
        result.className = "result";
        result.replaceChildren(holdfast.el("p", "Please wait …"));
        await wait(Math.min(10, Number(r.headers.get("Retry-After")) || 2));
        continue;
      }
      if (doc.code === "idempotency_mismatch") { state = {}; save(state); }
      return holdfast.problem(result, doc);
    }
    holdfast.problem(result, {});
  };

  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const body = Object.fromEntries(new FormData(form));
    if (body.seats) body.seats = Number(body.seats);
    button.disabled = true;
    try {
      await send(body, keyFor(await digest(JSON.stringify([body.code, body.email, body.level, body.seats]))));
    } finally { button.disabled = false; tick(); }
  });

  const countdown = document.getElementById("countdown");
  const tick = () => {
    const left = Number(opens) - holdfast.now();
    const closed = holdfast.now() >= Number(closes);
    countdown.textContent = closed ? "The sale has closed." : left > 0 ? "Opens in " + holdfast.left(left) : "Open";
    if (result.hidden) button.disabled = closed || left > 1000;
  };
  tick();
  setInterval(tick, 1000);

  // Back on the page: what was booked here is shown as it is now.
  if (state.booking) {
    holdfast.get(state.booking, sale).then((b) => {
      if (b && !b.missing) show(b);
    });
  }
})();
