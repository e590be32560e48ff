"use strict";
// What all parts of the console share: elements, asking the server, and the
// dialog through which every act goes.

const desk = {
  sale: "",
  csrf: document.querySelector('meta[name="csrf"]').content,
  at: (id) => document.getElementById(id),
  path: (rest) => "/console/sales/" + encodeURIComponent(desk.sale) + "/" + rest,
  admin: (rest) => "/admin/sales/" + encodeURIComponent(desk.sale) + "/" + rest,

  el(name, text, className) {
    const e = document.createElement(name);
    if (text !== undefined && text !== null) e.textContent = text;
    if (className) e.className = className;
    return e;
  },

  button(text, name, act) {
    const b = this.el("button", text);
    b.type = "button";
    if (name) b.setAttribute("aria-label", name);
    b.addEventListener("click", act);
    return b;
  },

  // row makes a table row; a cell is text, a number, an element, or [text, class].
  row(cells, head) {
    const tr = this.el("tr");
    cells.forEach((c, i) => {
      const td = this.el(head && i === 0 ? "th" : "td");
      if (head && i === 0) td.scope = "row";
      if (c instanceof Node) td.append(c);
      else if (Array.isArray(c)) { td.textContent = c[0] ?? ""; td.className = c[1]; }
      else { td.textContent = c ?? ""; if (typeof c === "number") td.className = "n"; }
      tr.append(td);
    });
    return tr;
  },

  list(pairs) {
    const dl = this.el("dl");
    for (const [name, value] of pairs) if (value !== undefined && value !== "") dl.append(this.el("dt", name), this.el("dd", value));
    return dl;
  },

  time: (t) => (t && !t.startsWith("0001") ? new Date(t).toLocaleString(undefined, { dateStyle: "short", timeStyle: "medium" }) : ""),
  span(s) { return s < 90 ? Math.round(s) + " s" : s < 5400 ? Math.round(s / 60) + " min" : s < 172800 ? Math.round(s / 3600) + " h" : Math.round(s / 86400) + " d"; },

  say(text) { this.at("said").replaceChildren(this.el("p", text)); },

  // ask sends a request and returns its document; a refusal is thrown, with the
  // numbers that show why.
  async ask(method, path, body, raw) {
    const headers = { "X-CSRF-Token": this.csrf };
    if (body !== undefined && !raw) headers["Content-Type"] = "application/json";
    let r;
    try {
      r = await fetch(path, { method, headers, body: raw ? body : body === undefined ? undefined : JSON.stringify(body) });
    } catch { throw new Error("The connection failed. Every act is safe to repeat."); }
    if (r.status === 401) { location.href = "/console/login"; throw new Error("Log in again."); }
    let doc = {};
    try { doc = await r.json(); } catch { /* no document */ }
    if (r.ok) return doc;
    const lines = [doc.detail || doc.title || "The server answered " + r.status + "."];
    for (const f of doc.fields || []) lines.push(f.field + " " + f.reason);
    const numbers = Object.entries(doc.numbers || {}).map(([k, v]) => k + " " + v).join(", ");
    if (numbers) lines.push("(" + (doc.code || "refused") + ": " + numbers + ")");
    throw new Error(lines.join("\n"));
  },

  // confirm asks for a reason and perhaps more, then acts. A refusal is shown in
  // the dialog, which stays open for another number.
  confirm({ title, text, fields = [], label, act }) {
    const dialog = this.at("ask"), fault = this.at("ask-fault");
    this.at("ask-title").textContent = title;
    this.at("ask-text").textContent = text || "";
    this.at("ask-do").textContent = label || title;
    this.at("reason").value = "";
    fault.hidden = true;
    this.at("ask-fields").replaceChildren(...fields.flatMap((f) => {
      const input = this.el("input"), name = this.el("label", f.label);
      Object.assign(input, { id: "ask-" + f.name, name: f.name, type: f.type || "text", value: f.value ?? "", required: !f.optional });
      if (f.min !== undefined) input.min = f.min;
      if (f.step) input.step = f.step;
      name.htmlFor = input.id;
      return [name, input];
    }));
    this.at("ask-form").onsubmit = async (event) => {
      event.preventDefault();
      const values = { reason: this.at("reason").value.trim() };
      for (const f of fields) values[f.name] = this.at("ask-" + f.name).value;
      fault.hidden = true;
      this.at("ask-do").disabled = true;
      try {
        await act(values);
        dialog.close();
        this.changed();
      } catch (e) { fault.textContent = e.message; fault.hidden = false; } finally { this.at("ask-do").disabled = false; }
    };
    this.at("ask-no").onclick = () => dialog.close();
    dialog.showModal();
  },

  // report shows what an act found, and brings the eye and the reader there.
  report(id, ...parts) {
    const box = this.at(id);
    box.replaceChildren(...parts);
    box.hidden = false;
    box.focus();
  },

  changed() {}, // lists.js: an act was done
};
