"use strict";
// What the pages share: words, elements, the sale's clock, and asking politely.
// Nothing is put into a page as markup, only as text.

const holdfast = {
  words: {}, // by language; the words.*.js files fill it

  // lang is the first of the browser's languages that there are words for.
  get lang() {
    const wished = (navigator.languages || [navigator.language]).map((l) => l.slice(0, 2));
    return wished.find((l) => this.words[l]) || "en";
  },

  // t is a text in that language; {name} in it becomes vars.name.
  t(key, vars = {}) {
    const text = this.words[this.lang][key] || this.words.en[key] || key;
    return text.replace(/\{(\w+)\}/g, (_, name) => vars[name] ?? "");
  },

  // translate gives the page's fixed texts their language.
  translate() {
    document.documentElement.lang = this.lang;
    for (const e of document.querySelectorAll("[data-t]")) e.textContent = this.t(e.dataset.t);
  },

  // el makes an element with text.
  el(name, text, className) {
    const e = document.createElement(name);
    if (text !== undefined) e.textContent = text;
    if (className) e.className = className;
    return e;
  },

  button(text, act) {
    const b = this.el("button", text, "quiet");
    b.type = "button";
    b.addEventListener("click", act);
    return b;
  },

  // left is a span of time as h:mm:ss or mm:ss.
  left(ms) {
    const s = Math.max(0, Math.ceil(ms / 1000));
    const pad = (n) => String(n).padStart(2, "0");
    const h = Math.floor(s / 3600) % 24;
    const d = Math.floor(s / 86400);
    return (d ? this.t("days", { n: d }) + " " : "") + (h || d ? h + ":" : "") + pad(Math.floor(s / 60) % 60) + ":" + pad(s % 60);
  },

  // clockTime is an instant for people, in the zone of the sale, else in theirs.
  clockTime(ms, zone, date) {
    const form = date ? { dateStyle: "full", timeStyle: "short" } : { timeStyle: "short" };
    return new Intl.DateTimeFormat(this.lang, { ...form, timeZone: zone || undefined }).format(ms);
  },

  // money is an amount in minor units, as the language writes it.
  money({ amount_minor, currency }) {
    const form = new Intl.NumberFormat(this.lang, { style: "currency", currency });
    return form.format(amount_minor / 10 ** form.resolvedOptions().maximumFractionDigits);
  },

  // between is a random number of milliseconds: a crowd of open pages must not
  // ask in the same instant.
  between: (low, high) => (low + Math.random() * (high - low)) * 1000,

  // fetch asks, for at most 25 s, and learns the sale's time from the answer. It
  // returns null if no whole answer came: whether the other side acted is unknown.
  async fetch(path, options = {}) {
    const sent = performance.now();
    const stop = new AbortController();
    const timer = setTimeout(() => stop.abort(), 25000);
    try {
      const r = await fetch(path, { cache: "no-cache", ...options, signal: stop.signal });
      const received = performance.now();
      const text = await r.text(); // fails if the connection breaks in the middle
      let doc = {};
      try { if (r.status !== 204) doc = JSON.parse(text); } catch { if (r.ok) return null; /* else a proxy's page */ }
      if (doc.now) this.clock.learn(doc.now, sent, received, Number(r.headers.get("Age")) || 0);
      return { ok: r.ok, status: r.status, doc, after: Number(r.headers.get("Retry-After")) || 0 };
    } catch { return null; } finally { clearTimeout(timer); }
  },

  // clock is the sale's time. It is counted on by the browser's monotonic clock,
  // so it is right whatever the device believes, and is learnt anew when that
  // clock stood still: while the device slept.
  clock: {
    ahead: null, trip: Infinity, wall: 0, tick: 0,

    learn(now, sent, received, age) {
      const trip = received - sent;
      if (this.ahead !== null && !this.slept() && trip > this.trip + 200) return; // what we know is closer
      this.ahead = Date.parse(now) + age * 1000 - (sent + received) / 2;
      this.trip = trip;
      this.wall = Date.now();
      this.tick = performance.now();
    },

    get known() { return this.ahead !== null; },
    now() { return performance.now() + this.ahead; },

    // slept says that the two clocks of the device have parted.
    slept() { return Math.abs(Date.now() - this.wall - (performance.now() - this.tick)) > 1500; },
  },
};
