"use strict";
// What both pages share. Nothing is put into the page as markup, only as text.

const holdfast = {
  // el makes an element with text.
  el(name, text, className) {
    const e = document.createElement(name);
    if (text !== undefined) e.textContent = text;
    if (className) e.className = className;
    return e;
  },

  // clock is the sale's time, kept by the difference to an answer's "now".
  ahead: 0,
  learn(now) { if (now) this.ahead = (typeof now === "number" ? now : Date.parse(now)) - Date.now(); },
  now() { return Date.now() + this.ahead; },

  left(ms) {
    const s = Math.max(0, Math.ceil(ms / 1000));
    const pad = (n) => String(n).padStart(2, "0");
    const h = Math.floor(s / 3600);
    return (h ? h + ":" : "") + pad(Math.floor(s / 60) % 60) + ":" + pad(s % 60);
  },

  async json(response) {
    try { return await response.json(); } catch { return {}; }
  },

  words: {
    held: "Your seat is held. Pay before the time is over.",
    over: "The time to pay is over. If you have just paid, wait here: we are asking the payment service.",
    paid: "Paid. Your seat is yours.",
    released: "This booking has ended and its seat was given back.",
    refund_due: "Your payment came when the seat was gone. It is being refunded.",
    refunded: "Your payment was refunded.",
  },

  // show draws a booking; act gets the section for more buttons.
  show(section, b, act) {
    this.learn(b.now);
    section.replaceChildren();
    section.hidden = false;
    const over = b.state === "held" && b.hold_until && Date.parse(b.hold_until) <= this.now();
    section.className = "result " + (b.state === "held" || b.state === "paid" ? "good" : "bad");
    section.append(this.el("p", this.words[over ? "over" : b.state] || b.state));
    const list = this.el("dl");
    const row = (name, value) => { if (value) list.append(this.el("dt", name), this.el("dd", value)); };
    row("Booking", b.booking_id);
    row("Level", b.level);
    row("Seats", (b.seats || []).join(", "));
    if (b.state === "held" && b.hold_until) {
      const time = this.el("dd");
      list.append(this.el("dt", "Time left"), time);
      const tick = () => {
        if (!time.isConnected) return;
        time.textContent = this.left(Date.parse(b.hold_until) - this.now());
        setTimeout(tick, 1000);
      };
      section.append(list);
      tick();
    }
    section.append(list);
    if (b.state === "held" && !over && b.payment_url && /^https?:\/\//.test(b.payment_url)) {
      const pay = this.el("a", "Pay now", "button");
      pay.href = b.payment_url;
      pay.rel = "noreferrer";
      section.append(pay);
    }
    if (act) act(section, b);
  },

  problem(section, p) {
    section.replaceChildren();
    section.hidden = false;
    section.className = "result bad";
    section.append(this.el("p", p.title || "The connection failed."), this.el("p", p.detail || "Try again: nothing is booked twice."));
    for (const f of p.fields || []) section.append(this.el("p", f.field + " " + f.reason));
  },

  // get reads a booking; null if it can't be read now.
  async get(id, sale) {
    try {
      const r = await fetch("/bookings/" + encodeURIComponent(id) + "?sale=" + encodeURIComponent(sale || ""));
      return r.ok ? await this.json(r) : r.status === 404 ? { missing: true } : null;
    } catch { return null; }
  },
};
